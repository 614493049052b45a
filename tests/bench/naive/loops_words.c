/* Naive loops of layouts whose work is in which word: aliases, copies, windows, computed addresses. See loops.h. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#define N (1 << 20)
#define FROM_4(x) (int8_t)(((x) ^ 8) - 8)

/* -- block scales: the last of a block stays -- */

#define SCALES(name, cols, block, blocks)                                                                              \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const uint8_t *restrict from = t;                                                                              \
        uint8_t *restrict to = m[0];                                                                                   \
        for (int r = 0; r < 2048; r++)                                                                                 \
            for (int b = 0; b < blocks; b++) {                                                                         \
                const int last = b * block + block - 1;                                                                \
                to[r * blocks + b] = from[r * cols + (last < cols ? last : cols - 1)];                                 \
            }                                                                                                          \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        uint8_t *restrict to = t;                                                                                      \
        const uint8_t *restrict from = m[0];                                                                           \
        for (int r = 0; r < 2048; r++)                                                                                 \
            for (int c = 0; c < cols; c++)                                                                             \
                to[r * cols + c] = from[r * blocks + c / block];                                                       \
    }
SCALES(mx_scale, 2048, 32, 64)
SCALES(mx_scale_k4, 2048, 32, 64) /* four blocks in a word are the same bytes */
SCALES(mx_scale_ragged, 2040, 32, 64)
SCALES(nvfp4_scale, 2048, 16, 128)

/* -- copies: a dump reads the first after it has seen that the others agree -- */

#define REPEAT(name, elem, rows, cols, copies, at)                                                                     \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        elem *restrict to = (void *)m[0];                                                                              \
        for (int r = 0; r < rows; r++)                                                                                 \
            for (int k = 0; k < copies; k++)                                                                           \
                for (int c = 0; c < cols; c++)                                                                         \
                    to[at(r, c, k, rows, cols, copies)] = from[r * cols + c];                                          \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const elem *restrict from = (const void *)m[0];                                                                \
        elem differ = 0;                                                                                               \
        for (int r = 0; r < rows; r++)                                                                                 \
            for (int k = 1; k < copies; k++)                                                                           \
                for (int c = 0; c < cols; c++)                                                                         \
                    differ |= from[at(r, c, k, rows, cols, copies)] ^ from[at(r, c, 0, rows, cols, copies)];           \
        if (differ)                                                                                                    \
            return;                                                                                                    \
        for (int r = 0; r < rows; r++)                                                                                 \
            for (int c = 0; c < cols; c++)                                                                             \
                to[r * cols + c] = from[at(r, c, 0, rows, cols, copies)];                                              \
    }
#define INNER_WORD(r, c, k, rows, cols, copies) (((r) * (copies) + (k)) * (cols) + (c))
#define OUTER_WORD(r, c, k, rows, cols, copies) (((k) * (rows) + (r)) * (cols) + (c))
#define LANE(r, c, k, rows, cols, copies) (((r) * (cols) + (c)) * (copies) + (k))
REPEAT(repeat_inner_word, uint8_t, 1024, 1024, 4, INNER_WORD)
REPEAT(repeat_outer_word, uint8_t, 1024, 1024, 4, OUTER_WORD)
REPEAT(repeat_lane, uint8_t, 1024, 1024, 4, LANE)
REPEAT(repeat_f32, uint32_t, 512, 512, 4, INNER_WORD)

/* -- windows: into a copy, then every window against it, then into the tensor -- */

#define IM2COL(name, channels, height, width, row)                                                                     \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const uint8_t *restrict from = t;                                                                              \
        for (int h = 0; h < height - 2; h++)                                                                           \
            for (int w = 0; w < width - 2; w++) {                                                                      \
                uint8_t *restrict to = m[0] + (h * (width - 2) + w) * row;                                             \
                for (int c = 0; c < channels; c++)                                                                     \
                    for (int i = 0; i < 3; i++)                                                                        \
                        for (int k = 0; k < 3; k++)                                                                    \
                            to[(c * 3 + i) * 3 + k] = from[(c * height + h + i) * width + w + k];                      \
                for (int p = 9 * channels; p < row; p++)                                                               \
                    to[p] = 0;                                                                                         \
            }                                                                                                          \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        static uint8_t seen[channels * height * width];                                                                \
        uint8_t differ = 0;                                                                                            \
        for (int h = 0; h < height - 2; h++)                                                                           \
            for (int w = 0; w < width - 2; w++) {                                                                      \
                const uint8_t *restrict from = m[0] + (h * (width - 2) + w) * row;                                     \
                for (int c = 0; c < channels; c++)                                                                     \
                    for (int i = 0; i < 3; i++)                                                                        \
                        for (int k = 0; k < 3; k++)                                                                    \
                            seen[(c * height + h + i) * width + w + k] = from[(c * 3 + i) * 3 + k];                    \
            }                                                                                                          \
        for (int h = 0; h < height - 2; h++)                                                                           \
            for (int w = 0; w < width - 2; w++) {                                                                      \
                const uint8_t *restrict from = m[0] + (h * (width - 2) + w) * row;                                     \
                for (int c = 0; c < channels; c++)                                                                     \
                    for (int i = 0; i < 3; i++)                                                                        \
                        for (int k = 0; k < 3; k++)                                                                    \
                            differ |= seen[(c * height + h + i) * width + w + k] ^ from[(c * 3 + i) * 3 + k];          \
            }                                                                                                          \
        if (!differ)                                                                                                   \
            memcpy(t, seen, sizeof seen);                                                                              \
    }
IM2COL(im2col16, 16, 168, 168, 144)
IM2COL(im2col3, 3, 386, 386, 28)

/* -- addresses that are computed -- */

#define SWIZZLED(w) ((w) ^ ((w) >> 4 & 7))

void xor_i4_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    uint64_t *restrict to = (void *)m[0];
    for (int w = 0; w < N / 4; w++) {
        uint64_t x = 0;
        for (int l = 0; l < 16; l++)
            x |= (uint64_t)(from[w * 16 + l] & 15) << (4 * l);
        to[SWIZZLED(w)] = x;
    }
}

void xor_i4_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    const uint64_t *restrict from = (const void *)m[0];
    for (int w = 0; w < N / 4; w++)
        for (int l = 0; l < 16; l++)
            to[w * 16 + l] = FROM_4(from[SWIZZLED(w)] >> (4 * l) & 15);
}

void xor_u32_load(unsigned char *const *m, const void *t)
{
    const uint32_t *restrict from = t;
    uint32_t *restrict to = (void *)m[0];
    for (int w = 0; w < 65536; w++)
        to[SWIZZLED(w)] = from[w];
}

void xor_u32_dump(void *t, unsigned char *const *m)
{
    uint32_t *restrict to = t;
    const uint32_t *restrict from = (const void *)m[0];
    for (int w = 0; w < 65536; w++)
        to[w] = from[SWIZZLED(w)];
}

void xor_i8_load(unsigned char *const *m, const void *t)
{
    for (int w = 0; w < N / 4; w++)
        memcpy(m[0] + 16 * SWIZZLED(w), (const uint8_t *)t + 16 * w, 16);
}

void xor_i8_dump(void *t, unsigned char *const *m)
{
    for (int w = 0; w < N / 4; w++)
        memcpy((uint8_t *)t + 16 * w, m[0] + 16 * SWIZZLED(w), 16);
}

void modulo8_load(unsigned char *const *m, const void *t)
{
    const uint32_t *restrict from = t;
    for (int w = 0; w < N; w++)
        ((uint32_t *)(void *)m[w % 8])[w / 8] = from[w];
}

void modulo8_dump(void *t, unsigned char *const *m)
{
    uint32_t *restrict to = t;
    for (int w = 0; w < N; w++)
        to[w] = ((const uint32_t *)(const void *)m[w % 8])[w / 8];
}

static unsigned reversed(unsigned x)
{
    unsigned y = 0;
    for (int i = 0; i < 16; i++)
        y |= (x >> i & 1) << (15 - i);
    return y;
}

void bitrev_load(unsigned char *const *m, const void *t)
{
    const uint32_t *restrict from = t;
    uint32_t *restrict to = (void *)m[0];
    for (unsigned w = 0; w < 65536; w++)
        to[reversed(w)] = from[w];
}

void bitrev_dump(void *t, unsigned char *const *m)
{
    uint32_t *restrict to = t;
    const uint32_t *restrict from = (const void *)m[0];
    for (unsigned w = 0; w < 65536; w++)
        to[w] = from[reversed(w)];
}
