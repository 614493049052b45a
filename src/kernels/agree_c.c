/* The kernels of kernels/agree.h in plain C: the rule that the other versions follow, and the ends of their rows. */
#include "kernels/agree.h"

#include <string.h>

#define KERNEL(name) TD_AGREE_KERNEL(name, c)

static inline uint64_t load(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* 64 bits from a bit of the first byte on; bytes are little-endian here, as words of a memory are. */
static inline uint64_t load_bits(const unsigned char *p, unsigned shift)
{
    return load(p) >> shift | load(p + 1) << (8 - shift);
}

/* Of the last byte: the next one is read only where the mask reaches into it. */
static inline unsigned byte_at(const unsigned char *p, unsigned shift, unsigned mask)
{
    unsigned x = p[0];
    if (mask << shift > 0xff)
        x |= (unsigned)p[1] << 8;
    return x >> shift;
}

static inline __attribute__((always_inline)) bool rest(const td_agree_rows *t, const unsigned char *a,
                                                       const unsigned char *b, size_t i, const bool shifts)
{
    uint64_t differ = 0;
    const size_t past = shifts ? 1 : 0; /* eight bits more are read of a shifted word: never past the last byte */
    for (; i + 8 + past <= t->bytes; i += 8)
        differ |= ((shifts ? load_bits(a + i, t->a_shift) : load(a + i)) ^
                   (shifts ? load_bits(b + i, t->b_shift) : load(b + i))) &
                  load(t->mask + i);
    for (; i < t->bytes; i++) {
        const unsigned mask = t->mask[i];
        differ |=
            ((shifts ? byte_at(a + i, t->a_shift, mask) : a[i]) ^ (shifts ? byte_at(b + i, t->b_shift, mask) : b[i])) &
            mask;
    }
    return differ == 0;
}

bool td_agree_rest(const td_agree_rows *t, const unsigned char *a, const unsigned char *b, size_t at, bool shifts)
{
    return shifts ? rest(t, a, b, at, true) : rest(t, a, b, at, false);
}

#define ROWS(shifts)                                                                                                   \
    for (size_t r = 0; r < t->rows; r++)                                                                               \
        if (!rest(t, t->a + (ptrdiff_t)r * t->stride, t->b + (ptrdiff_t)r * t->stride, 0, shifts))                     \
            return false;                                                                                              \
    return true

KERNEL(bytes)
{
    ROWS(false);
}

KERNEL(bits)
{
    ROWS(true);
}

void td_agree_init(td_agree_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, shifts) kernels->name = td_agree_##name##_c;
    TD_AGREE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_agree_init_##isa(kernels);
    TD_AGREE_ISAS(X)
#undef X
}
