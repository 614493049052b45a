/* In-register transposes, written once for every vector of LANES times 16 bytes. The including file defines
 *
 *   vec, LANES, INLINE            the vector type, its 16-byte lanes, how functions are inlined
 *   load_lanes(p, stride)         lane j from p + j * stride
 *   load_lanes_upto(p, stride, rows, bytes)  the same; lanes from `rows` on and bytes from `bytes` on are not read
 *   unpack_low, unpack_high       (a, b, size): in each lane, elements of the lower or upper halves in turn
 *   store, store_upto, stream_store
 *   stream_run(dst, src, bytes)   a run whose whole lines are streamed
 *
 * The network. Take `regs` vectors as rows of elements in each lane. One round of unpacks puts the halves of the list of
 * vectors in turn; it turns the number of an element (vector bits, then bits in the lane) left by one bit. As many rounds
 * as a lane has bits of position is the transpose. */
#define VEC_BYTES (16 * LANES)

INLINE void turn(vec *z, const int regs, const int rounds, const int size)
{
    _Pragma("GCC unroll 4") for (int s = 0; s < rounds; s++)
    {
        vec t[16];
        _Pragma("GCC unroll 8") for (int i = 0; i < regs / 2; i++)
        {
            t[2 * i] = unpack_low(z[i], z[i + regs / 2], size);
            t[2 * i + 1] = unpack_high(z[i], z[i + regs / 2], size);
        }
        _Pragma("GCC unroll 16") for (int i = 0; i < regs; i++) z[i] = t[i];
    }
}

#define ROUNDS(wide) ((wide) == 16 ? 4 : (wide) == 8 ? 3 : (wide) == 4 ? 2 : (wide) == 2 ? 1 : 0)

/* VEC_BYTES of each of 16 / size output rows, from 16 bytes of each of VEC_BYTES / size input rows. */
INLINE void tile(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, const int size, bool stream)
{
    const int wide = 16 / size;
    vec z[16];
    _Pragma("GCC unroll 16") for (int k = 0; k < wide; k++) z[k] = load_lanes(src + k * src_stride, wide * src_stride);
    turn(z, wide, ROUNDS(wide), size);
    _Pragma("GCC unroll 16") for (int k = 0; k < wide; k++, dst += dst_stride)
    {
        if (stream)
            stream_store(dst, z[k]);
        else
            store(dst, z[k]);
    }
}

/* The same at the edges: `rows` and `cols` elements are there. */
INLINE void tile_upto(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t cols,
                      const int size)
{
    const int wide = 16 / size;
    vec z[16];
    _Pragma("GCC unroll 16") for (int k = 0; k < wide; k++)
    {
        const size_t left = rows > (size_t)k ? (rows - (size_t)k + (size_t)wide - 1) / (size_t)wide : 0;
        z[k] = load_lanes_upto(src + k * src_stride, wide * src_stride, left, cols * (size_t)size);
    }
    turn(z, wide, ROUNDS(wide), size);
    for (size_t k = 0; k < cols; k++, dst += dst_stride)
        store_upto(dst, z[k], rows * (size_t)size);
}

/* All rows of a column of tiles before the next column, so that an output row gets all its bytes at once. */
INLINE void transpose_columns(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                              size_t cols, const int size, bool stream)
{
    const size_t wide = 16 / (size_t)size, high = VEC_BYTES / (size_t)size, whole = rows - rows % high;
    for (size_t c = 0; c < cols; c += wide) {
        if (cols - c < wide) {
            if (cols < wide) {
                for (size_t r = 0; r < rows; r += high)
                    tile_upto(dst + r * (size_t)size, dst_stride, src + (ptrdiff_t)r * src_stride, src_stride,
                              rows - r < high ? rows - r : high, cols, size);
                return;
            }
            c = cols - wide; /* the last tile again covers part of the one before */
        }
        unsigned char *out = dst + (ptrdiff_t)c * dst_stride;
        const unsigned char *in = src + c * (size_t)size;
        for (size_t r = 0; r < whole; r += high)
            tile(out + r * (size_t)size, dst_stride, in + (ptrdiff_t)r * src_stride, src_stride, size, stream);
        if (whole < rows)
            tile_upto(out + whole * (size_t)size, dst_stride, in + (ptrdiff_t)whole * src_stride, src_stride, rows - whole, wide, size);
    }
}

/* Rows whose distance is a multiple of what the first cache maps to one set push each other out before their line is used
 * up: such rows are laid side by side first, a line of each at a time. */
#define STAGE_ROWS 256
#define SET_BYTES 1024

/* What is streamed has to be whole lines: a line that is not goes out at once and comes back. Where a vector is less than a
 * line, or the output rows do not begin on one, rows are put together in a buffer first, and what fills no line is stored. */
#define STREAM_BYTES 512

INLINE void transpose_staged(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                             size_t cols, const int size)
{
    _Alignas(64) unsigned char out[64 / (size_t)size * STREAM_BYTES];
    const size_t bytes = rows * (size_t)size;
    transpose_columns(out, STREAM_BYTES, src, src_stride, rows, cols, size, false);
    for (size_t c = 0; c < cols; c++)
        stream_run(dst + (ptrdiff_t)c * dst_stride, out + c * STREAM_BYTES, bytes);
}

INLINE void transpose_lines(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                            size_t cols, const int size, bool stream)
{
    const size_t bytes = rows * (size_t)size, line = size < 64 ? 64 / (size_t)size : 1;
    const bool straight = dst_stride == VEC_BYTES && bytes == VEC_BYTES; /* one long run after all */
    const bool whole = (uintptr_t)dst % VEC_BYTES == 0 && dst_stride % VEC_BYTES == 0 && bytes % VEC_BYTES == 0;
    if (stream && !(whole && (LANES == 4 || straight))) {
        if (bytes <= STREAM_BYTES && bytes >= 128) {
            for (size_t c = 0; c < cols; c += line)
                transpose_staged(dst + (ptrdiff_t)c * dst_stride, dst_stride, src + c * (size_t)size, src_stride, rows,
                                 cols - c < line ? cols - c : line, size);
            return;
        }
        stream = false;
    }
    transpose_columns(dst, dst_stride, src, src_stride, rows, cols, size, stream);
}

INLINE void transpose_block(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                            size_t cols, const int size, bool stream)
{
    if (src_stride % SET_BYTES || rows < 16 || rows > STAGE_ROWS || cols * (size_t)size < 64) {
        transpose_lines(dst, dst_stride, src, src_stride, rows, cols, size, stream);
        return;
    }
    _Alignas(64) unsigned char stage[STAGE_ROWS * 64];
    const size_t line = 64 / (size_t)size;
    for (size_t c = 0; c + line <= cols; c += line) {
        const unsigned char *in = src + c * (size_t)size;
        for (size_t r = 0; r < rows; r++, in += src_stride)
            copy_line(stage + r * 64, in);
        transpose_lines(dst + (ptrdiff_t)c * dst_stride, dst_stride, stage, 64, rows, line, size, stream);
    }
    const size_t done = cols - cols % line;
    if (done < cols)
        transpose_lines(dst + (ptrdiff_t)done * dst_stride, dst_stride, src + done * (size_t)size, src_stride, rows, cols - done, size,
                          stream);
}

#define TRANSPOSE(bits)                                                                                                 \
    static KERNEL void transpose_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,   \
                                         size_t rows, size_t cols, bool stream)                                         \
    {                                                                                                                   \
        if (stream)                                                                                                     \
            transpose_block(dst, dst_stride, src, src_stride, rows, cols, bits / 8, true);                              \
        else                                                                                                            \
            transpose_block(dst, dst_stride, src, src_stride, rows, cols, bits / 8, false);                             \
    }
