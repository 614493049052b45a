/* Interleaving for AVX-512: few rows into one straight run, and back. Included by move_avx512.c.
 *
 * Two, four, eight or sixteen rows that fill at most a lane of the output together: units of 16 / rows bytes are dealt out to
 * the lanes first, so that after the network (transpose_tile.h) every vector is a straight piece of the run. Rows that fill two
 * lanes are dealt out in the same way, two rows to a vector. Three rows go by permutations with a mask. */

/* Unit u of a vector to lane u % 4; what stands there is which unit comes to that place. */
static const uint64_t deal_x2[8] = {
    0, 4, 1, 5, 2, 6, 3, 7};
static const uint32_t deal_x4[16] = {
    0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
static const uint16_t deal_x8[32] = {
    0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23,
    27, 31};
/* Bytes: within a lane by columns of four, then dwords as above. */
static const uint8_t columns_x8[16] = {
    0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
/* And back: the unit that lies in lane u % 4 at place u / 4. */
static const uint64_t gather_x2[8] = {
    0, 2, 4, 6, 1, 3, 5, 7};
static const uint32_t gather_x4[16] = {
    0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
static const uint16_t gather_x8[32] = {
    0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15,
    23, 31};

/* Even elements of a lane below, odd ones above. */
static const uint8_t halves_x8[16] = {
    0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
static const uint8_t halves_x16[16] = {
    0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
static const uint8_t halves_x32[16] = {
    0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
static const uint64_t deal_halves[8] = {
    0, 2, 4, 6, 1, 3, 5, 7};

/* Three rows: element p of the run is column p / 3 of row p % 3; back, column c of row r is element 3 * c + r. */
static const uint8_t weave3_index_x8[192] = {
    0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11,
    11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20,
    20, 21, 21, 21, 22, 22, 22, 23, 23, 23, 24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27, 27, 28, 28, 28, 29, 29,
    29, 30, 30, 30, 31, 31, 31, 32, 32, 32, 33, 33, 33, 34, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38,
    38, 39, 39, 39, 40, 40, 40, 41, 41, 41, 42, 42, 42, 43, 43, 43, 44, 44, 44, 45, 45, 45, 46, 46, 46, 47, 47,
    47, 48, 48, 48, 49, 49, 49, 50, 50, 50, 51, 51, 51, 52, 52, 52, 53, 53, 53, 54, 54, 54, 55, 55, 55, 56, 56,
    56, 57, 57, 57, 58, 58, 58, 59, 59, 59, 60, 60, 60, 61, 61, 61, 62, 62, 62, 63, 63, 63};
static const uint8_t unweave3_index_x8[192] = {
    0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 2, 5, 8, 11, 14, 17, 20,
    23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 59, 62, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40,
    43, 46, 49, 52, 55, 58, 61, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 49, 52, 55, 58, 61,
    0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 2, 5, 8, 11, 14, 17, 20,
    23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 59, 62, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41,
    44, 47, 50, 53, 56, 59, 62, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 49, 52, 55, 58, 61,
    0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63};
static const uint16_t weave3_index_x16[96] = {
    0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11,
    11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19, 20, 20,
    20, 21, 21, 21, 22, 22, 22, 23, 23, 23, 24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27, 27, 28, 28, 28, 29, 29,
    29, 30, 30, 30, 31, 31, 31};
static const uint16_t unweave3_index_x16[96] = {
    0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 2, 5, 8, 11, 14, 17, 20, 23,
    26, 29, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 3, 6, 9, 12, 15, 18,
    21, 24, 27, 30, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 1, 4, 7, 10, 13,
    16, 19, 22, 25, 28, 31};
static const uint32_t weave3_index_x32[48] = {
    0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11,
    11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15};
static const uint32_t unweave3_index_x32[48] = {
    0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14,
    2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15};
static const uint64_t weave3_index_x64[24] = {
    0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7};
static const uint64_t unweave3_index_x64[24] = {
    0, 3, 6, 1, 4, 7, 2, 5, 1, 4, 7, 2, 5, 0, 3, 6, 2, 5, 0, 3, 6, 1, 4, 7};

INLINE vec load_upto(const unsigned char *p, size_t bytes)
{
    return bytes >= 64 ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(((__mmask64)1 << bytes) - 1, p);
}

/* One of a row of output vectors, of which `bytes` in all are wanted. */
INLINE void put(unsigned char *dst, vec z, size_t at, size_t bytes, bool stream)
{
    if (bytes >= at + 64) {
        if (stream)
            stream_store(dst + at, z);
        else
            store(dst + at, z);
    } else if (bytes > at)
        store_upto(dst + at, z, bytes - at);
}

INLINE vec deal(vec z, const int units)
{
    switch (units) {
    case 2:
        return _mm512_permutexvar_epi64(_mm512_loadu_si512(deal_x2), z);
    case 4:
        return _mm512_permutexvar_epi32(_mm512_loadu_si512(deal_x4), z);
    case 8:
        return _mm512_permutexvar_epi16(_mm512_loadu_si512(deal_x8), z);
    default:
        z = _mm512_shuffle_epi8(z, _mm512_broadcast_i32x4(load16(columns_x8)));
        return _mm512_permutexvar_epi32(_mm512_loadu_si512(deal_x4), z);
    }
}

INLINE vec gather(vec z, const int units)
{
    switch (units) {
    case 2:
        return _mm512_permutexvar_epi64(_mm512_loadu_si512(gather_x2), z);
    case 4:
        return _mm512_permutexvar_epi32(_mm512_loadu_si512(gather_x4), z);
    case 8:
        return _mm512_permutexvar_epi16(_mm512_loadu_si512(gather_x8), z);
    default:
        z = _mm512_permutexvar_epi32(_mm512_loadu_si512(gather_x4), z);
        return _mm512_shuffle_epi8(z, _mm512_broadcast_i32x4(load16(columns_x8)));
    }
}

/* 64 bytes of each row. */
INLINE void weave(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t bytes, const int rows, const int size,
                  bool stream)
{
    vec z[16];
    _Pragma("GCC unroll 16") for (int k = 0; k < rows; k++) z[k] = deal(load_upto(src + k * src_stride, bytes), rows);
    turn(z, rows, ROUNDS(rows), size);
    _Pragma("GCC unroll 16") for (int k = 0; k < rows; k++) put(dst, z[k], (size_t)k * 64, bytes * (size_t)rows, stream);
}

INLINE void unweave(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, size_t bytes, const int cols, const int size,
                    bool stream)
{
    vec z[16];
    const size_t all = bytes * (size_t)cols;
    _Pragma("GCC unroll 16") for (int k = 0; k < cols; k++)
    {
        const size_t at = (size_t)k * 64;
        z[k] = all > at ? load_upto(src + at, all - at) : _mm512_setzero_si512();
    }
    turn(z, cols, ROUNDS(16 / size), size);
    _Pragma("GCC unroll 16") for (int k = 0; k < cols; k++) put(dst + k * dst_stride, gather(z[k], cols), 0, bytes, stream);
}

/* Two lanes: 32 bytes of each of 32 / size rows. */
INLINE void weave_lanes(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t bytes, const int size, bool stream)
{
    const int wide = 16 / size;
    const __mmask32 part = bytes >= 32 ? ~(__mmask32)0 : ((__mmask32)1 << bytes) - 1;
    const vec halves = _mm512_broadcast_i32x4(load16(size == 1 ? halves_x8 : size == 2 ? halves_x16 : halves_x32));
    vec z[16];
    _Pragma("GCC unroll 16") for (int k = 0; k < wide; k++)
    {
        const __m256i low = _mm256_maskz_loadu_epi8(part, src + k * src_stride);
        const __m256i high = _mm256_maskz_loadu_epi8(part, src + (k + wide) * src_stride);
        z[k] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        if (size < 8)
            z[k] = _mm512_shuffle_epi8(z[k], halves);
        z[k] = _mm512_permutexvar_epi64(_mm512_loadu_si512(deal_halves), z[k]);
    }
    turn(z, wide, ROUNDS(wide), size);
    _Pragma("GCC unroll 16") for (int k = 0; k < wide; k++) put(dst, z[k], (size_t)k * 64, bytes / (size_t)size * 32, stream);
}

/* The places of one row in a vector of the run that begins at element `first`. */
#define EVERY_THIRD 0x9249249249249249u
#define THIRD(first, row) (EVERY_THIRD << (((row) + 2 * (first)) % 3))

/* The columns of `row` that lie in elements [first, first + count) of the run. */
INLINE uint64_t columns_in(unsigned first, unsigned count, unsigned row)
{
    const unsigned from = first > row ? (first - row + 2) / 3 : 0, to = (first + count - row + 2) / 3;
    return (to >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << to) - 1) & ~(((uint64_t)1 << from) - 1);
}

#define THREE(bits, suffix, mask_t, target)                                                                             \
    static target void weave3_x##bits(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t bytes, bool stream) \
    {                                                                                                                   \
        const unsigned count = 512 / bits;                                                                              \
        const vec a = load_upto(src, bytes), b = load_upto(src + src_stride, bytes), c = load_upto(src + 2 * src_stride, bytes);     \
        _Pragma("GCC unroll 3") for (unsigned k = 0; k < 3; k++)                                                        \
        {                                                                                                               \
            const vec index = _mm512_loadu_si512(weave3_index_x##bits + k * count);                                     \
            vec z = _mm512_maskz_permutexvar_##suffix((mask_t)THIRD(k * count, 0), index, a);                           \
            z = _mm512_mask_permutexvar_##suffix(z, (mask_t)THIRD(k * count, 1), index, b);                             \
            z = _mm512_mask_permutexvar_##suffix(z, (mask_t)THIRD(k * count, 2), index, c);                             \
            put(dst, z, (size_t)k * 64, 3 * bytes, stream);                                                             \
        }                                                                                                               \
    }                                                                                                                   \
    static target void unweave3_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, size_t bytes, bool stream) \
    {                                                                                                                   \
        const unsigned count = 512 / bits;                                                                              \
        vec in[3];                                                                                                      \
        _Pragma("GCC unroll 3") for (size_t k = 0; k < 3; k++) in[k] =                                                  \
            3 * bytes > 64 * k ? load_upto(src + 64 * k, 3 * bytes - 64 * k) : _mm512_setzero_si512();                  \
        _Pragma("GCC unroll 3") for (unsigned k = 0; k < 3; k++)                                                        \
        {                                                                                                               \
            const vec index = _mm512_loadu_si512(unweave3_index_x##bits + k * count);                                   \
            vec z = _mm512_maskz_permutexvar_##suffix((mask_t)columns_in(0, count, k), index, in[0]);                   \
            z = _mm512_mask_permutexvar_##suffix(z, (mask_t)columns_in(count, count, k), index, in[1]);                 \
            z = _mm512_mask_permutexvar_##suffix(z, (mask_t)columns_in(2 * count, count, k), index, in[2]);             \
            put(dst + k * dst_stride, z, 0, bytes, stream);                                                             \
        }                                                                                                               \
    }

THREE(8, epi8, __mmask64, VBMI)
THREE(16, epi16, __mmask32, KERNEL)
THREE(32, epi32, __mmask16, KERNEL)
THREE(64, epi64, __mmask8, KERNEL)

#define WEAVE(n, size)                                                                                                  \
    if (rows == (n) && (n) * (size) <= 16) {                                                                            \
        for (size_t at = 0; at < cols * (size); at += 64)                                                               \
            weave(dst + at * (n), src + at, src_stride, cols * (size) - at < 64 ? cols * (size) - at : 64, n, size, stream);         \
        return;                                                                                                         \
    }

#define UNWEAVE(n, size)                                                                                                \
    if (cols == (n) && (n) * (size) <= 16) {                                                                            \
        for (size_t at = 0; at < rows * (size); at += 64)                                                               \
            unweave(dst + at, dst_stride, src + at * (n), rows * (size) - at < 64 ? rows * (size) - at : 64, n, size, stream);       \
        return;                                                                                                         \
    }

/* Anything else has a transpose of its own to go to. */
#define INTERLEAVE(bits, size, target)                                                                                  \
    static target void interleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,  \
                                          size_t rows, size_t cols, bool stream)                                        \
    {                                                                                                                   \
        WEAVE(2, size)                                                                                                  \
        WEAVE(4, size)                                                                                                  \
        WEAVE(8, size)                                                                                                  \
        WEAVE(16, size)                                                                                                 \
        if (rows * (size) == 32) {                                                                                      \
            for (size_t at = 0; at < cols * (size); at += 32)                                                           \
                weave_lanes(dst + at * (32 / (size)), src + at, src_stride, cols * (size) - at < 32 ? cols * (size) - at : 32, size,  \
                            stream);                                                                                    \
        } else if (rows == 3) {                                                                                         \
            for (size_t at = 0; at < cols * (size); at += 64)                                                           \
                weave3_x##bits(dst + at * 3, src + at, src_stride, cols * (size) - at < 64 ? cols * (size) - at : 64, stream);       \
        } else                                                                                                          \
            transpose_x##bits(dst, dst_stride, src, src_stride, rows, cols, false);                                     \
    }                                                                                                                   \
    static target void deinterleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,          \
                                            ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                \
    {                                                                                                                   \
        UNWEAVE(2, size)                                                                                                \
        UNWEAVE(4, size)                                                                                                \
        UNWEAVE(8, size)                                                                                                \
        if (cols == 3) {                                                                                                \
            for (size_t at = 0; at < rows * (size); at += 64)                                                           \
                unweave3_x##bits(dst + at, dst_stride, src + at * 3, rows * (size) - at < 64 ? rows * (size) - at : 64, stream);     \
        } else                                                                                                          \
            transpose_x##bits(dst, dst_stride, src, src_stride, rows, cols, false);                                     \
    }

INTERLEAVE(8, 1, VBMI)
INTERLEAVE(16, 2, KERNEL)
INTERLEAVE(32, 4, KERNEL)
INTERLEAVE(64, 8, KERNEL)
