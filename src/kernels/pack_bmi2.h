/* Eight bytes of containers at a time by pext and pdep. Included by the files for AVX2 and AVX-512, which define INLINE. */
/* The low `bits` of every container in eight bytes. */
INLINE uint64_t every(uint64_t low, const unsigned size)
{
    return size == 1 ? low * 0x0101010101010101u : size == 2 ? low * 0x0001000100010001u : size == 4 ? low * 0x0000000100000001u : low;
}

INLINE void pack(unsigned char *memory, unsigned at, const unsigned char *elems, size_t n, unsigned bits, const unsigned size)
{
    const uint64_t mask = every(td_low_bits(bits), size);
    const unsigned group = 8 / size;
    bit_writer w = bits_begin(memory, at);
    size_t i = 0;
    for (; i + group <= n; i += group) {
        uint64_t value = 0;
        memcpy(&value, elems + i * size, 8);
        bits_push(&w, _pext_u64(value, mask), group * bits);
    }
    for (; i < n; i++)
        bits_push(&w, td_get_elem(elems + i * size, size) & td_low_bits(bits), bits);
    bits_end(&w);
}

INLINE void unpack(unsigned char *elems, const unsigned char *memory, unsigned at, size_t n, unsigned bits, bool sign, const unsigned size)
{
    const uint64_t mask = every(td_low_bits(bits), size);
    const unsigned group = 8 / size;
    const size_t safe = bits_safe(at, n, bits);
    const bool extends = sign && bits < 8 * size;
    const uint64_t top = extends ? every((uint64_t)1 << (bits - 1), size) : 0, high = extends ? every((uint64_t)1 << (8 * size - 1), size) : 0;
    uint64_t bit = at;
    size_t i = 0;
    for (; i + group <= safe; i += group, bit += group * bits) {
        uint64_t value = _pdep_u64(bits_peek(memory, bit, group * bits), mask);
        value = (((value ^ top) | high) - top) ^ high; /* no borrow passes the bit that `high` set */
        memcpy(elems + i * size, &value, 8);
    }
    for (; i < n; i++, bit += bits)
        td_put_elem(elems + i * size, size, bits_extend(td_get_bits(memory, (int64_t)bit, bits), bits, sign));
}
