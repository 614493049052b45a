/* Naive loops of conversions, a million elements each, as their users write them. See loops.h. */
#include "loops.h"

#include <math.h>
#include <string.h>

#define N (1 << 20)
#define SCALE 0.05f

float naive_column_scale[NAIVE_COLUMNS], naive_row_scale[NAIVE_ROWS];

#define CLIP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

#define INTEGERS(name, elem, word, load_low, load_high, dump_low, dump_high)                                           \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const elem *restrict from = t;                                                                                 \
        word *restrict to = (void *)m[0];                                                                              \
        for (int i = 0; i < N; i++)                                                                                    \
            to[i] = CLIP(from[i], load_low, load_high);                                                                \
    }                                                                                                                  \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        elem *restrict to = t;                                                                                         \
        const word *restrict from = (const void *)m[0];                                                                \
        for (int i = 0; i < N; i++)                                                                                    \
            to[i] = CLIP(from[i], dump_low, dump_high);                                                                \
    }
INTEGERS(i8_i32, int8_t, int32_t, -128, 127, -128, 127)
INTEGERS(u8_u16, uint8_t, uint16_t, 0, 255, 0, 255)
INTEGERS(i16_i32, int16_t, int32_t, -32768, 32767, -32768, 32767)
INTEGERS(i32_i8, int32_t, int8_t, -128, 127, -128, 127)

void i32_bf16_load(unsigned char *const *m, const void *t)
{
    const int32_t *restrict from = t;
    uint16_t *restrict to = (void *)m[0];
    for (int i = 0; i < N; i++) {
        const float x = (float)from[i];
        uint32_t bits;
        memcpy(&bits, &x, 4);
        to[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
}

void i32_bf16_dump(void *t, unsigned char *const *m)
{
    int32_t *restrict to = t;
    const uint16_t *restrict from = (const void *)m[0];
    for (int i = 0; i < N; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        float x;
        memcpy(&x, &bits, 4);
        to[i] = x >= 2147483648.f ? INT32_MAX : x < -2147483648.f ? INT32_MIN : x == x ? (int32_t)rintf(x) : 0;
    }
}

void f64_f32_load(unsigned char *const *m, const void *t)
{
    const double *restrict from = t;
    float *restrict to = (void *)m[0];
    for (int i = 0; i < N; i++)
        to[i] = (float)from[i];
}

void f64_f32_dump(void *t, unsigned char *const *m)
{
    double *restrict to = t;
    const float *restrict from = (const void *)m[0];
    for (int i = 0; i < N; i++)
        to[i] = from[i];
}

void i8_f32_load(unsigned char *const *m, const void *t)
{
    const int8_t *restrict from = t;
    float *restrict to = (void *)m[0];
    for (int i = 0; i < N; i++)
        to[i] = (float)from[i] / SCALE;
}

void i8_f32_dump(void *t, unsigned char *const *m)
{
    int8_t *restrict to = t;
    const float *restrict from = (const void *)m[0];
    for (int i = 0; i < N; i++) {
        const float x = rintf(from[i] * SCALE);
        to[i] = CLIP(x, -128, 127);
    }
}

/* -- floats to integers -- */

#define SCALED(name, word, scale)                                                                                      \
    void name##_dump(void *t, unsigned char *const *m)                                                                 \
    {                                                                                                                  \
        float *restrict to = t;                                                                                        \
        const word *restrict from = (const void *)m[0];                                                                \
        for (int r = 0; r < 1024; r++)                                                                                 \
            for (int c = 0; c < 1024; c++)                                                                             \
                to[r * 1024 + c] = (scale) * (float)from[r * 1024 + c];                                                \
    }

#define QUANTISE(name, round, scale)                                                                                   \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const float *restrict from = t;                                                                                \
        int8_t *restrict to = (void *)m[0];                                                                            \
        for (int r = 0; r < 1024; r++)                                                                                 \
            for (int c = 0; c < 1024; c++) {                                                                           \
                const float x = round(from[r * 1024 + c] / (scale));                                                   \
                to[r * 1024 + c] = CLIP(x, -128, 127);                                                                 \
            }                                                                                                          \
    }                                                                                                                  \
    SCALED(name, int8_t, scale)
QUANTISE(f32_i8_sat, rintf, SCALE)
QUANTISE(f32_i8_zero, truncf, SCALE)
QUANTISE(f32_i8_floor, floorf, SCALE)
QUANTISE(f32_i8_away, roundf, SCALE)
QUANTISE(f32_i8_columns, rintf, naive_column_scale[c])
QUANTISE(f32_i8_rows, rintf, naive_row_scale[r])

void f32_i8_wrap_load(unsigned char *const *m, const void *t)
{
    const float *restrict from = t;
    int8_t *restrict to = (void *)m[0];
    for (int i = 0; i < N; i++)
        to[i] = (int8_t)(int32_t)rintf(from[i] / SCALE);
}
SCALED(f32_i8_wrap, int8_t, SCALE)

/* The first element that does not fit ends it. */
#define REFUSING(name, word, low, high)                                                                                \
    void name##_load(unsigned char *const *m, const void *t)                                                           \
    {                                                                                                                  \
        const float *restrict from = t;                                                                                \
        word *restrict to = (void *)m[0];                                                                              \
        for (int i = 0; i < N; i++) {                                                                                  \
            const float x = rintf(from[i] / SCALE);                                                                    \
            if (!(x >= low && x <= high))                                                                              \
                return;                                                                                                \
            to[i] = (word)x;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    SCALED(name, word, SCALE)
REFUSING(f32_i8_error, int8_t, -128, 127)
REFUSING(f32_i16_error, int16_t, -32768, 32767)
