/* Every version of every conversion kernel against its plain C twin, from one call site: lengths up to two blocks and
 * one more, a few rows, every misalignment, guard bytes on both sides, all ways to divide, streamed or not. The table
 * of kernels/convert.h makes the list. With --bench the same table is timed instead, as ratios to memcpy of (bytes read
 * + bytes written) / 2 in the same run. */
#include "kernels/convert.h"
#include "check/check.h"
#include "check/versions.h"

#include <math.h>
#include <sys/mman.h>

#define MAX_ELEMS 129
#define GUARD 64
#define MAX_ROWS 3
#define MAX_PITCH (MAX_ELEMS * 4 + GUARD) /* a multiple of 4 */

static const struct line {
    const char *name;
    size_t src_bytes, dst_bytes, offset;
} table[] = {
#define X(name, src_bytes, dst_bytes) {#name, src_bytes, dst_bytes, offsetof(td_convert_kernels, name)},
    TD_CONVERT_KERNELS(X)
#undef X
};

#define LINES (sizeof table / sizeof table[0])

static td_convert_fn kernel_of(const struct line *line, unsigned flags)
{
    td_convert_kernels kernels;
    td_convert_fn fn;
    td_convert_init(&kernels, flags);
    memcpy(&fn, (const char *)&kernels + line->offset, sizeof fn);
    return fn;
}

static float codes[256], own_scales[MAX_ELEMS];

static td_convert_params random_params(random_state *r, const char *name)
{
    static const float scales[] = {1, 0.5F, 8, -0.25F, 0.05F, 3.7F, -0.013F, 1e-5F, 1e20F, 1e-30F, 0x1.fffffep-3F};
    const bool wide = strstr(name, "16") != NULL, either = strstr(name, "wrap") != NULL;
    const bool sign = strstr(name, "_s") != NULL || name[0] == 's' || (either && random_chance(r, 50));
    const unsigned full = wide ? 16 : 8;
    const unsigned bits = random_chance(r, 50) ? full : (wide ? 9 : 1) + (unsigned)random_below(r, wide ? 8 : 8);
    td_convert_params p;
    memset(&p, 0, sizeof p);
    /* The first are powers of two, and those from integers to bf16 have no others. */
    p.scale = scales[random_below(r, strstr(name, "32_bf16") ? 4 : sizeof scales / sizeof scales[0])];
    const double inverse = 1 / (double)p.scale;
    p.inverse = (float)inverse;
    p.inverse_low = (float)(inverse - (double)p.inverse);
    int exponent = 0;
    p.divide = p.scale == 1                                ? TD_DIVIDE_NONE
               : fabsf(frexpf(p.scale, &exponent)) == 0.5F ? TD_DIVIDE_MUL
               : p.scale > 1e-8F && p.scale < 1e8F         ? TD_DIVIDE_INVERSE
                                                           : TD_DIVIDE_DIV;
    p.high = sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    p.low = sign ? -(1 << (bits - 1)) : 0;
    p.zero = p.low + (int32_t)random_below(r, (uint64_t)(p.high - p.low) + 1);
    p.quotient = random_chance(r, 50);
    p.own_shift = 32 - bits;
    p.own_mask = (1U << bits) - 1;
    if (name[0] != 'f' && strncmp(name + 1, "32_", 3) == 0) { /* integers of up to 32 bits */
        const unsigned own = random_chance(r, 50) ? 32 : 1 + (unsigned)random_below(r, 32);
        p.own_shift = 32 - own;
        p.own_mask = UINT32_MAX >> p.own_shift;
    }
    p.table = codes;
    if (random_chance(r, 15))
        p.scales = own_scales;
    if (random_chance(r, 50)) { /* e4m3, saturating */
        p.shift = 20, p.rebias = 120 << 3, p.normal_bits = 121 << 23, p.magic = 0x1p14F;
        p.limit = 0x7e, p.nan_code = 0x7f, p.sign_bit = p.nan_sign = 0x80;
    } else { /* e5m2, to infinity */
        p.shift = 21, p.rebias = 112 << 2, p.normal_bits = 113 << 23, p.magic = 0x1p7F;
        p.limit = 0x7c, p.nan_code = 0x7e, p.nan_payload = 3, p.sign_bit = p.nan_sign = 0x80;
    }
    return p;
}

/* Floats near the interesting places: ties of the quotient, ends of ranges, specials; or any bits. */
static void random_source(random_state *r, unsigned char *src, size_t n, size_t bytes, float scale)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_next(r);
        if (bytes == 4 && random_chance(r, 80)) {
            float x = ((float)(int64_t)random_below(r, 1400) - 700) * 0.5F * scale;
            if (random_chance(r, 10))
                x = (float)ldexp(1, (int)random_below(r, 300) - 150);
            uint32_t u = 0;
            memcpy(&u, &x, sizeof u);
            bits = u + random_below(r, 3) - 1;
        }
        memcpy(src + i * bytes, &bits, bytes);
    }
}

static void every_version_gives_the_bits_of_c(void **state)
{
    (void)state;
    random_state r = {8, 0};
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t bits = i * 0x01010000U;
        memcpy(&codes[i], &bits, sizeof bits);
    }
    for (size_t i = 0; i < MAX_ELEMS; i++)
        own_scales[i] = (float)((double)(int64_t)random_below(&r, 2001) - 1000) / 7;
    for (size_t k = 0; k < LINES; k++) {
        const td_convert_fn plain = kernel_of(&table[k], TD_CPU_C);
        td_convert_fn fn = plain;
        for (const version *v = all_versions() + 1; v->isa; v++) {
            const td_convert_fn before = fn;
            fn = kernel_of(&table[k], v->flags);
            if (fn == before)
                continue;
            for (size_t n = 0; n <= MAX_ELEMS; n++) {
                for (int round = 0; round < 8; round++) {
                    static unsigned char src[MAX_ROWS * MAX_PITCH + GUARD];
                    static _Alignas(64) unsigned char expected[MAX_ROWS * MAX_PITCH + 2 * GUARD],
                        found[sizeof expected];
                    td_convert_params p = random_params(&r, table[k].name);
                    const size_t rows = 1 + random_below(&r, MAX_ROWS);
                    size_t src_at = random_below(&r, GUARD), dst_at = GUARD / 2 + random_below(&r, GUARD);
                    size_t src_pitch = n * table[k].src_bytes + random_below(&r, GUARD);
                    size_t dst_pitch = n * table[k].dst_bytes + random_below(&r, GUARD);
                    p.stream = random_chance(&r, 25);
                    if (p.stream) {
                        dst_at = GUARD;
                        dst_pitch = dst_pitch / 64 * 64;
                        dst_pitch += dst_pitch < n * table[k].dst_bytes ? 64 : 0;
                    }
                    for (size_t row = 0; row < rows; row++)
                        random_source(&r, src + src_at + row * src_pitch, n, table[k].src_bytes, p.scale);
                    memset(expected, 0xa5, sizeof expected);
                    memset(found, 0xa5, sizeof found);
                    plain(expected + dst_at, (ptrdiff_t)dst_pitch, src + src_at, (ptrdiff_t)src_pitch, rows, n, &p);
                    fn(found + dst_at, (ptrdiff_t)dst_pitch, src + src_at, (ptrdiff_t)src_pitch, rows, n, &p);
                    for (size_t i = 0; i < sizeof found; i++)
                        if (found[i] != expected[i])
                            fail_msg("TD_TEST_SEED=%llu: %s_%s, %zu x %zu, scale %a, divide %d, zero %d: byte %zd is "
                                     "0x%02x, plain C 0x%02x",
                                     (unsigned long long)td_check_seed, table[k].name, v->isa, rows, n, (double)p.scale,
                                     p.divide, p.zero, (ssize_t)i - (ssize_t)dst_at, found[i], expected[i]);
                }
            }
        }
    }
}

/* The quotient that is made of multiplications, on every scale and at every tie of an 8-bit integer. */
static void quotients_at_ties(void **state)
{
    (void)state;
    const version *const versions = all_versions();
    random_state r = {12, 0};
    int proofs[8] = {0}, small_proofs[8] = {0};
    unsigned char codes_in[256];
    for (int i = 0; i < 256; i++)
        codes_in[i] = (unsigned char)i;
    for (int round = 0; round < 2000; round++) {
        td_convert_params p = {.low = -128, .high = 127, .divide = TD_DIVIDE_INVERSE};
        const uint32_t scale_bits =
            (uint32_t)(0x32000000 + random_below(&r, 0x1a000000)) | (round % 7 == 0 ? 0x7fffff : 0);
        memcpy(&p.scale, &scale_bits, sizeof p.scale);
        const double inverse = 1 / (double)p.scale;
        p.inverse = (float)inverse;
        p.inverse_low = (float)(inverse - (double)p.inverse);
        float src[512 * 5];
        signed char expected[512 * 5], found[512 * 5];
        for (int tie = -256; tie < 256; tie++)
            for (int near = 0; near < 5; near++) {
                uint32_t u = 0;
                float x = (float)((tie + 0.5) * (double)p.scale);
                memcpy(&u, &x, sizeof u);
                u += (uint32_t)near - 2;
                memcpy(&src[(tie + 256) * 5 + near], &u, sizeof u);
            }
        float quotient[512 * 5], exact[512 * 5];
        td_convert_div_f32_c(exact, 0, src, 0, 1, 512 * 5, &p);
        td_convert_f32_s8_c(expected, 0, src, 0, 1, 512 * 5, &p);
        for (size_t v = 1; versions[v].isa; v++) {
            td_convert_kernels kernels;
            td_convert_init(&kernels, versions[v].flags);
            kernels.f32_s8(found, 0, src, 0, 1, 512 * 5, &p);
            assert_memory_equal(found, expected, sizeof found);
            kernels.div_f32(quotient, 0, src, 0, 1, 512 * 5, &p);
            assert_memory_equal(quotient, exact, sizeof exact);
            if (kernels.proves && kernels.proves(&p)) {
                td_convert_params proven = p;
                proven.divide = TD_DIVIDE_PROVEN;
                kernels.f32_s8(found, 0, src, 0, 1, 512 * 5, &proven);
                assert_memory_equal(found, expected, sizeof found);
                proofs[v]++;
            }
            if (kernels.proves_small && kernels.proves_small(&p)) {
                float by_proof[256], by_division[256];
                td_convert_params proven = p;
                proven.divide = TD_DIVIDE_PROVEN;
                proven.quotient = true;
                proven.own_shift = 24;
                kernels.s8_f32(by_proof, 0, codes_in, 0, 1, 256, &proven);
                td_convert_s8_f32_c(by_division, 0, codes_in, 0, 1, 256, &proven);
                assert_memory_equal(by_proof, by_division, sizeof by_proof);
                small_proofs[v]++;
            }
        }
    }
    for (size_t v = 1; versions[v].isa; v++) /* NEON divides, so that it has nothing to prove */
        if (versions[v].flags != TD_CPU_NEON) {
            assert_in_range(proofs[v], 1900, 2000);
            assert_in_range(small_proofs[v], 1900, 2000);
        }
}

/* -- Bench */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, by_value);
    return times[count / 2];
}

static void bench_line(const struct line *line, size_t n, unsigned char *dst, unsigned char *src, unsigned char *copy)
{
    enum { ROUNDS = 15 };
    const version *const versions = all_versions();
    size_t count = 0;
    const size_t copy_bytes = n * (line->src_bytes + line->dst_bytes) / 2;
    const size_t repeats = 1 + 400000 / n;
    double times[8][ROUNDS];
    td_convert_params p = {.scale = 0.05F,
                           .inverse = 20,
                           .divide = TD_DIVIDE_INVERSE,
                           .low = -128,
                           .high = 127,
                           .own_shift = 24,
                           .own_mask = 255,
                           .shift = 20,
                           .rebias = 960,
                           .normal_bits = 121 << 23,
                           .magic = 0x1p14F,
                           .limit = 0x7e,
                           .nan_code = 0x7f,
                           .sign_bit = 0x80,
                           .table = codes};
    p.inverse = (float)(1 / 0.05F);
    p.inverse_low = (float)(1 / (double)0.05F - (double)p.inverse);
    if (strstr(line->name, "f16") || strstr(line->name, "x8"))
        p.divide = TD_DIVIDE_NONE;
    td_convert_kernels kernels;
    td_convert_init(&kernels, td_cpu_flags());
    while (versions[count].isa)
        count++;
    if (strstr(line->name, "8") && p.divide == TD_DIVIDE_INVERSE && kernels.proves && kernels.proves(&p))
        p.divide = TD_DIVIDE_PROVEN;
    p.stream = n * (line->src_bytes + line->dst_bytes) > (size_t)5 << 19;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t v = 0; v <= count; v++) {
            const td_convert_fn fn = v < count ? kernel_of(line, versions[v].flags) : NULL;
            const uint64_t start = td_now_ns();
            for (size_t k = 0; k < repeats; k++) {
                if (fn)
                    fn(dst, 0, src, 0, 1, n, &p);
                else
                    memcpy(copy, src, copy_bytes);
                __asm__ volatile("" ::: "memory");
            }
            times[v][round] = 1e-9 * (double)(td_now_ns() - start) / (double)repeats;
        }
    }
    const double memcpy_time = median(times[count], ROUNDS);
    printf("%-10s %8zu", line->name, n);
    for (size_t v = 0; v < count; v++) {
        const double time = median(times[v], ROUNDS);
        printf("   %s %.2f (%.0f ns)", versions[v].isa, memcpy_time / time, time * 1e9);
    }
    printf("\n");
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    static const size_t sizes[] = {16, 100, 1000, 4096, 10000, 100000, 512 * 512, 1024 * 1024, 2048 * 2048};
    const size_t bytes = (size_t)2048 * 2048 * 4;
    unsigned char *dst = aligned_alloc((size_t)1 << 21, bytes), *src = aligned_alloc((size_t)1 << 21, bytes),
                  *copy = aligned_alloc((size_t)1 << 21, bytes);
    if (!dst || !src || !copy)
        return 1;
    /* Pages of 4 KiB cost more than any choice of kernel. */
    madvise(dst, bytes, MADV_HUGEPAGE);
    madvise(src, bytes, MADV_HUGEPAGE);
    madvise(copy, bytes, MADV_HUGEPAGE);
    random_state r = {1, 0};
    for (size_t i = 0; i < bytes / 4; i++) {
        const float x = (float)((double)(int64_t)random_below(&r, 20001) / 1000 - 10);
        memcpy(src + 4 * i, &x, sizeof x);
    }
    memset(dst, 1, bytes);
    memset(copy, 1, bytes);
    printf("kernel, elements, memcpy time / kernel time\n");
    for (size_t k = 0; k < LINES; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            bench_line(&table[k], sizes[i], dst, src, copy);
    free(dst);
    free(src);
    free(copy);
    return 0;
}

static const td_check checks[] = {
    TD_CHECK(every_version_gives_the_bits_of_c),
    TD_CHECK(quotients_at_ties),
};

TD_CHECK_FAMILY(convert, checks, NULL, NULL, bench);
