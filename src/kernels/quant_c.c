/* The kernels between f32 and codes in plain C: the rule that the other versions follow. */
#include "kernels/quant.h"

#define TARGET
#include "kernels/quant.inc"

static void floats_c(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block, const td_quant *q,
                     bool bounded)
{
    (void)bounded;
    BY_SIZE(floats_of, dst, row, by)
}

static void ints_c(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks, size_t block,
                   const td_quant *q, bool bounded)
{
    (void)bounded;
    BY_SIZE(ints_of, dst, row, by, zero)
}

static void values_c(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks, size_t block,
                     const td_quant *q)
{
    BY_SIZE(values_of, dst, codes, by, zero)
}

/* Two steps do the same, and no slower. */
static bool has_both_c(size_t block, const td_quant_rule *rule, const td_quant *q)
{
    (void)block, (void)rule, (void)q;
    return false;
}

static size_t both_c(uint8_t *dst, /* NOLINT(readability-non-const-parameter): as the type of the kernel says */
                     void *scales, const float *row, size_t blocks, size_t block, const td_quant_rule *rule,
                     const td_quant *q)
{
    (void)dst, (void)scales, (void)row, (void)blocks, (void)block, (void)rule, (void)q;
    return 0;
}

void td_quant_init(td_quant_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    *kernels = (td_quant_kernels){floats_c, ints_c, values_c, has_both_c, both_c};
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_quant_init_##isa(kernels);
    TD_QUANT_ISAS(X)
#undef X
}
