/* Naive loops of layouts whose work is in the lanes of a word: bits, blocks, images. See loops.h. */
#include "loops.h"

#include <string.h>

#define N (1 << 20)

/* Elements of `bits` side by side in words of one integer. */
#define PACK(name, elem, word, bits, lanes, extend)                                                                    \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        word *restrict to = (void *)m[0];                                                                              \
        for (int w = 0; w < N / 4; w++) {                                                                              \
            word x = 0;                                                                                                \
            for (int l = 0; l < lanes; l++)                                                                            \
                x |= (word)(from[w * lanes + l] & ((1u << bits) - 1)) << (bits * l);                                   \
            to[w] = x;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const word *restrict from = (const void *)m[0];                                                                \
        for (int w = 0; w < N / 4; w++)                                                                                \
            for (int l = 0; l < lanes; l++)                                                                            \
                to[w * lanes + l] = extend(from[w] >> (bits * l) & ((1u << bits) - 1));                                \
    }
#define AS_IT_IS(x) (x)
#define FROM_5(x) (int8_t)(((x) ^ 16) - 16)
#define FROM_6(x) (int8_t)(((x) ^ 32) - 32)
#define FROM_4(x) (int8_t)(((x) ^ 8) - 8)
PACK(u3x4, uint8_t, uint16_t, 3, 4, AS_IT_IS)
PACK(u3x5, uint8_t, uint16_t, 3, 5, AS_IT_IS)
PACK(i5x8, uint8_t, uint64_t, 5, 8, FROM_5)
PACK(i6x5, uint8_t, uint32_t, 6, 5, FROM_6)
PACK(u12x4, uint16_t, uint64_t, 12, 4, AS_IT_IS)
PACK(u1x8, uint8_t, uint8_t, 1, 8, AS_IT_IS)

void ggml_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    uint8_t *restrict to = m[0];
    for (int b = 0; b < 4 * N / 32; b++)
        for (int p = 0; p < 16; p++)
            to[b * 16 + p] = (from[b * 32 + p] & 15) | from[b * 32 + 16 + p] << 4;
}

void ggml_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    const uint8_t *restrict from = m[0];
    for (int b = 0; b < 4 * N / 32; b++)
        for (int p = 0; p < 16; p++) {
            to[b * 32 + p] = FROM_4(from[b * 16 + p] & 15);
            to[b * 32 + 16 + p] = FROM_4(from[b * 16 + p] >> 4);
        }
}

/* Rows of 2040: the last block of each has 24 elements. */
void ggml_ragged_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    uint8_t *restrict to = m[0];
    for (int r = 0; r < 2048; r++)
        for (int b = 0; b < 64; b++)
            for (int p = 0; p < 16; p++) {
                const int low = b * 32 + p, high = b * 32 + 16 + p;
                const unsigned x = low < 2040 ? from[r * 2040 + low] & 15 : 0;
                const unsigned y = high < 2040 ? from[r * 2040 + high] & 15 : 0;
                to[(r * 64 + b) * 16 + p] = x | y << 4;
            }
}

void ggml_ragged_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    const uint8_t *restrict from = m[0];
    for (int r = 0; r < 2048; r++)
        for (int b = 0; b < 64; b++)
            for (int p = 0; p < 16; p++) {
                const int low = b * 32 + p, high = b * 32 + 16 + p;
                if (low < 2040)
                    to[r * 2040 + low] = FROM_4(from[(r * 64 + b) * 16 + p] & 15);
                if (high < 2040)
                    to[r * 2040 + high] = FROM_4(from[(r * 64 + b) * 16 + p] >> 4);
            }
}

void onnx_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    uint8_t *restrict to = m[0];
    for (int b = 0; b < 2 * N; b++)
        to[b] = (from[2 * b] & 15) | from[2 * b + 1] << 4;
}

void onnx_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    const uint8_t *restrict from = m[0];
    for (int b = 0; b < 2 * N; b++) {
        to[2 * b] = FROM_4(from[b] & 15);
        to[2 * b + 1] = FROM_4(from[b] >> 4);
    }
}

/* -- images of a few channels into blocks of more -- */

#define IMAGE(name, elem, channels, block, pixels, at)                                                                 \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        elem *restrict to = (void *)m[0];                                                                              \
        for (int p = 0; p < pixels; p++) {                                                                             \
            for (int c = 0; c < channels; c++)                                                                         \
                to[p * block + c] = from[at(p, c, pixels, channels)];                                                  \
            for (int c = channels; c < block; c++)                                                                     \
                to[p * block + c] = 0;                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const elem *restrict from = (const void *)m[0];                                                                \
        for (int p = 0; p < pixels; p++)                                                                               \
            for (int c = 0; c < channels; c++)                                                                         \
                to[at(p, c, pixels, channels)] = from[p * block + c];                                                  \
    }
#define LAST(p, c, pixels, channels) ((p) * (channels) + (c))
#define FIRST(p, c, pixels, channels) ((c) * (pixels) + (p))
IMAGE(nhwc3_16, uint8_t, 3, 16, 262144, LAST)
IMAGE(nchw3_16, uint8_t, 3, 16, 262144, FIRST)
IMAGE(nhwc3_4, uint8_t, 3, 4, 1048576, LAST)
IMAGE(nhwc3_16_i16, uint16_t, 3, 16, 131072, LAST)
IMAGE(nchw5_16, uint8_t, 5, 16, 262144, FIRST)
IMAGE(hwc3, uint8_t, 3, 4, 1048576, LAST) /* words of 24 bits lie in 4 bytes */

void chw3_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    uint32_t *restrict to = (void *)m[0];
    for (int p = 0; p < N; p++)
        to[p] = from[p] | from[N + p] << 8 | from[2 * N + p] << 16;
}

void chw3_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    const uint32_t *restrict from = (const void *)m[0];
    for (int p = 0; p < N; p++) {
        to[p] = from[p];
        to[N + p] = from[p] >> 8;
        to[2 * N + p] = from[p] >> 16;
    }
}

/* -- blocks, and lanes from the other end -- */

#define BLOCKS(name, elem, edge, rows, cols)                                                                           \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        elem *restrict to = (void *)m[0];                                                                              \
        for (int r = 0; r < rows / edge; r++)                                                                          \
            for (int c = 0; c < cols / edge; c++)                                                                      \
                for (int i = 0; i < edge; i++)                                                                         \
                    for (int k = 0; k < edge; k++)                                                                     \
                        to[((r * (cols / edge) + c) * edge + i) * edge + k] =                                          \
                            from[(r * edge + i) * cols + c * edge + k];                                                \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const elem *restrict from = (const void *)m[0];                                                                \
        for (int r = 0; r < rows / edge; r++)                                                                          \
            for (int c = 0; c < cols / edge; c++)                                                                      \
                for (int i = 0; i < edge; i++)                                                                         \
                    for (int k = 0; k < edge; k++)                                                                     \
                        to[(r * edge + i) * cols + c * edge + k] =                                                     \
                            from[((r * (cols / edge) + c) * edge + i) * edge + k];                                     \
    }
BLOCKS(blocks2, uint8_t, 2, 2048, 2048)
BLOCKS(blocks2_i16, uint16_t, 2, 2048, 1024)
BLOCKS(blocks4, uint8_t, 4, 2048, 2048)

#define MSB(name, elem, lanes)                                                                                         \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        elem *restrict to = (void *)m[0];                                                                              \
        for (int w = 0; w < N / 4; w++)                                                                                \
            for (int l = 0; l < lanes; l++)                                                                            \
                to[w * lanes + lanes - 1 - l] = from[w * lanes + l];                                                   \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const elem *restrict from = (const void *)m[0];                                                                \
        for (int w = 0; w < N / 4; w++)                                                                                \
            for (int l = 0; l < lanes; l++)                                                                            \
                to[w * lanes + l] = from[w * lanes + lanes - 1 - l];                                                   \
    }
MSB(msb16, uint8_t, 16)
MSB(msb8_i16, uint16_t, 8)

/* -- slots wider than their elements -- */

/* Sixteen lanes 9 bits apart: words of 144 bits, which lie in 20 bytes. */
void slot9_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    for (int w = 0; w < N / 4; w++) {
        uint8_t *restrict to = m[0] + w * 20;
        memset(to, 0, 20);
        for (int l = 0; l < 16; l++) {
            const unsigned x = (unsigned)from[w * 16 + l] << (9 * l & 7);
            to[9 * l >> 3] |= x;
            to[(9 * l >> 3) + 1] |= x >> 8;
        }
    }
}

void slot9_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    for (int w = 0; w < N / 4; w++) {
        const uint8_t *restrict from = m[0] + w * 20;
        for (int l = 0; l < 16; l++)
            to[w * 16 + l] = (from[9 * l >> 3] | from[(9 * l >> 3) + 1] << 8) >> (9 * l & 7);
    }
}

/* Eight lanes 12 bits apart: words of 96 bits. */
void slot12_load(unsigned char *const *m, const void *t)
{
    const uint8_t *restrict from = t;
    for (int w = 0; w < N / 2; w++) {
        uint8_t *restrict to = m[0] + w * 12;
        for (int l = 0; l < 4; l++) {
            to[3 * l] = from[w * 8 + 2 * l];
            to[3 * l + 1] = from[w * 8 + 2 * l + 1] << 4;
            to[3 * l + 2] = from[w * 8 + 2 * l + 1] >> 4;
        }
    }
}

void slot12_dump(void *t, unsigned char *const *m)
{
    uint8_t *restrict to = t;
    for (int w = 0; w < N / 2; w++) {
        const uint8_t *restrict from = m[0] + w * 12;
        for (int l = 0; l < 4; l++) {
            to[w * 8 + 2 * l] = from[3 * l];
            to[w * 8 + 2 * l + 1] = from[3 * l + 1] >> 4 | from[3 * l + 2] << 4;
        }
    }
}
