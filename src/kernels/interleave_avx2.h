/* Interleaving for AVX2: few rows into one straight run, and back. Included by move_avx2.c. As for AVX-512 (interleave_avx512.h),
 * with two lanes: units of 16 / rows bytes go to the lanes in turn before the network, or after it on the way back. What
 * does not fill a vector, and three rows, go element by element. */

/* Even units of a lane below, odd ones above; and back. */
static const uint8_t split_x32[16] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
static const uint8_t split_x16[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
static const uint8_t split_x8[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
static const uint8_t merge_x32[16] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
static const uint8_t merge_x16[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
static const uint8_t merge_x8[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};

INLINE vec shuffle(vec z, const uint8_t *list)
{
    return _mm256_shuffle_epi8(z, _mm256_broadcastsi128_si256(load16(list)));
}

INLINE vec deal(vec z, const int units)
{
    if (units > 2)
        z = shuffle(z, units == 4 ? split_x32 : units == 8 ? split_x16 : split_x8);
    return _mm256_permute4x64_epi64(z, 0xd8);
}

INLINE vec gather(vec z, const int units)
{
    z = _mm256_permute4x64_epi64(z, 0xd8);
    return units > 2 ? shuffle(z, units == 4 ? merge_x32 : units == 8 ? merge_x16 : merge_x8) : z;
}

INLINE void put(unsigned char *dst, vec z, bool stream)
{
    if (stream)
        stream_store(dst, z);
    else
        store(dst, z);
}

INLINE size_t weave(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t bytes, const int rows, const int size,
                    bool stream)
{
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32) {
        vec z[16];
        _Pragma("GCC unroll 16") for (int k = 0; k < rows; k++) z[k] =
            deal(_mm256_loadu_si256((const __m256i *)(const void *)(src + k * src_stride + at)), rows);
        turn(z, rows, ROUNDS(rows), size);
        _Pragma("GCC unroll 16") for (int k = 0; k < rows; k++) put(dst + at * (size_t)rows + (size_t)k * 32, z[k], stream);
    }
    return at;
}

INLINE size_t unweave(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, size_t bytes, const int cols, const int size,
                      bool stream)
{
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32) {
        vec z[16];
        _Pragma("GCC unroll 16") for (int k = 0; k < cols; k++) z[k] =
            _mm256_loadu_si256((const __m256i *)(const void *)(src + at * (size_t)cols + (size_t)k * 32));
        turn(z, cols, ROUNDS(16 / size), size);
        _Pragma("GCC unroll 16") for (int k = 0; k < cols; k++) put(dst + k * dst_stride + at, gather(z[k], cols), stream);
    }
    return at;
}

#define WEAVE(n, size)                                                                                                  \
    if (rows == (n) && (n) * (size) <= 16)                                                                              \
        done = weave(dst, src, src_stride, cols * (size), n, size, stream);

#define UNWEAVE(n, size)                                                                                                \
    if (cols == (n) && (n) * (size) <= 16)                                                                              \
        done = unweave(dst, dst_stride, src, rows * (size), n, size, stream);

#define INTERLEAVE(bits, size)                                                                                          \
    static KERNEL void interleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,  \
                                          size_t rows, size_t cols, bool stream)                                        \
    {                                                                                                                   \
        size_t done = 0;                                                                                                \
        if (rows * (size) >= 32) {                                                                                      \
            transpose_x##bits(dst, dst_stride, src, src_stride, rows, cols, stream && rows * (size) == 32);               \
            return;                                                                                                     \
        }                                                                                                               \
        WEAVE(2, size)                                                                                                  \
        WEAVE(4, size)                                                                                                  \
        WEAVE(8, size)                                                                                                  \
        WEAVE(16, size)                                                                                                 \
        for (size_t c = done / (size); c < cols; c++)                                                                   \
            for (size_t r = 0; r < rows; r++)                                                                           \
                memcpy(dst + (c * rows + r) * (size), src + (ptrdiff_t)r * src_stride + c * (size), size);              \
    }                                                                                                                   \
    static KERNEL void deinterleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,          \
                                            ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                \
    {                                                                                                                   \
        size_t done = 0;                                                                                                \
        if (cols * (size) >= 16) {                                                                                      \
            transpose_x##bits(dst, dst_stride, src, src_stride, rows, cols, false);                                     \
            return;                                                                                                     \
        }                                                                                                               \
        UNWEAVE(2, size)                                                                                                \
        UNWEAVE(4, size)                                                                                                \
        UNWEAVE(8, size)                                                                                                \
        for (size_t r = done / (size); r < rows; r++)                                                                   \
            for (size_t c = 0; c < cols; c++)                                                                           \
                memcpy(dst + (ptrdiff_t)c * dst_stride + r * (size), src + (r * cols + c) * (size), size);              \
    }

INTERLEAVE(8, 1)
INTERLEAVE(16, 2)
INTERLEAVE(32, 4)
INTERLEAVE(64, 8)
