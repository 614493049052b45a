/* The kernels of 2:4 in plain C: the rule that the other versions follow. */
#include "kernels/pairs.h"

#define TARGET
#include "kernels/pairs.inc"

void td_pairs_table_make(td_pairs_table *table)
{
    for (unsigned set = 0; set < 16; set++)
        table->kept[set] = (unsigned char)(1U << (table->code[set] & 3) | 1U << (table->code[set] >> 2 & 3));
    for (unsigned sets = 0; sets < 256; sets++) {
        const unsigned set[2] = {sets & 15, sets >> 4};
        table->codes[sets] = (unsigned char)(table->code[set[0]] | table->code[set[1]] << 4);
        for (unsigned i = 0; i < 4; i++) {
            const unsigned group = i / 2, at = table->code[set[group]] >> (i % 2 * 2) & 3;
            const bool is_kept = set[group] >> at & 1;
            table->shuffle[sets][2 * i] = (unsigned char)(is_kept ? 8 * group + 2 * at : 0x80);
            table->shuffle[sets][2 * i + 1] = (unsigned char)(is_kept ? 8 * group + 2 * at + 1 : 0x80);
        }
    }
}

static void flags_c(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    flags_rows(bits, src, n, bytes, own);
}

static void largest_c(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    largest_rows(bits, src, n, bytes, own);
}

static void close_c(void *dst, unsigned char *codes, const void *src, const unsigned char *bits,
                    const td_pairs_table *table, size_t n, unsigned bytes)
{
    close_rows(dst, codes, src, bits, table, n, bytes);
}

static bool open_c(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes)
{
    return open_rows(dst, src, codes, n, bytes);
}

void td_pairs_init(td_pairs_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    *kernels = (td_pairs_kernels){flags_c, largest_c, crowded_rows, close_c, open_c};
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_pairs_init_##isa(kernels);
    TD_PAIRS_ISAS(X)
#undef X
}
