/* The naive loops, one pair per row of rows.c: plain C, the sizes as constants, compiled at -O3 for this processor. */
#ifndef TD_BENCH_LOOPS_H
#define TD_BENCH_LOOPS_H

#include "naive.h"

#define LOOP(name)                                                                                                     \
    void name##_load(unsigned char *const *m, const void *t);                                                          \
    void name##_dump(void *t, unsigned char *const *m);

#define LOOPS(X)                                                                                                       \
    X(mx_scale)                                                                                                        \
    X(mx_scale_k4)                                                                                                     \
    X(mx_scale_ragged)                                                                                                 \
    X(nvfp4_scale)                                                                                                     \
    X(repeat_inner_word)                                                                                               \
    X(repeat_outer_word)                                                                                               \
    X(repeat_lane)                                                                                                     \
    X(repeat_f32)                                                                                                      \
    X(u3x4)                                                                                                            \
    X(u3x5)                                                                                                            \
    X(i5x8)                                                                                                            \
    X(i6x5)                                                                                                            \
    X(u12x4)                                                                                                           \
    X(u1x8)                                                                                                            \
    X(ggml)                                                                                                            \
    X(ggml_ragged)                                                                                                     \
    X(onnx)                                                                                                            \
    X(nhwc3_16)                                                                                                        \
    X(nchw3_16)                                                                                                        \
    X(nhwc3_4)                                                                                                         \
    X(nhwc3_16_i16)                                                                                                    \
    X(nchw5_16)                                                                                                        \
    X(blocks2)                                                                                                         \
    X(blocks2_i16)                                                                                                     \
    X(blocks4)                                                                                                         \
    X(msb16)                                                                                                           \
    X(msb8_i16)                                                                                                        \
    X(chw3)                                                                                                            \
    X(hwc3)                                                                                                            \
    X(im2col16)                                                                                                        \
    X(im2col3)                                                                                                         \
    X(slot9)                                                                                                           \
    X(slot12)                                                                                                          \
    X(xor_i4)                                                                                                          \
    X(xor_u32)                                                                                                         \
    X(xor_i8)                                                                                                          \
    X(modulo8)                                                                                                         \
    X(bitrev)                                                                                                          \
    X(i8_i32)                                                                                                          \
    X(u8_u16)                                                                                                          \
    X(i16_i32)                                                                                                         \
    X(i32_i8)                                                                                                          \
    X(i32_bf16)                                                                                                        \
    X(f64_f32)                                                                                                         \
    X(f32_i8_error)                                                                                                    \
    X(f32_i16_error)                                                                                                   \
    X(f32_i8_sat)                                                                                                      \
    X(f32_i8_wrap)                                                                                                     \
    X(f32_i8_zero)                                                                                                     \
    X(f32_i8_floor)                                                                                                    \
    X(f32_i8_away)                                                                                                     \
    X(f32_i8_columns)                                                                                                  \
    X(f32_i8_rows)                                                                                                     \
    X(i8_f32)

LOOPS(LOOP)
#undef LOOP

#endif
