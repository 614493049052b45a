/* The kernel of kernels/chain.h, every version of this machine, against the kernels of kernels/arith.h in plain C, one
 * step after another: rows of no element to a few blocks, one row to many, strides and bases off their alignment,
 * operands for all and for each with rows of their own, bounds, infinities, NaN with payloads and zeros of both signs,
 * stores past the caches, and bytes around the result that stay. */
#include "kernels/chain.h"
#include "check/check.h"
#include "check/versions.h"
#include "kernels/arith.h"

#include <math.h>

typedef struct kernel {
    const char *name, *isa;
    int unused;
    td_chain_fn fn;
} kernel;

enum { MOST_ROWS = 17, MOST = 150, STEPS = 6, PITCH = MOST + 26, GUARD = 0x5a };

static random_state random_bits = {1, 0};

static uint64_t next(void)
{
    return random_next(&random_bits);
}

static float draw(void)
{
    static const uint32_t odd[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001,
                                   0xffc12345, 1,          0x80000001, 0x7f7fffff, 0xff7fffff, 0x00800000};
    const uint32_t bits = next() % 5 ? 0x3e000000 + (uint32_t)(next() % 0x3000000) + ((uint32_t)next() & 0x80000000)
                                     : odd[next() % (sizeof odd / sizeof *odd)];
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float source[MOST_ROWS * PITCH + 4], operand[STEPS][MOST_ROWS * PITCH + 4];
static _Alignas(64) unsigned char got[MOST_ROWS * PITCH * 4 + 64], expected[MOST_ROWS * PITCH * 4 + 64];

static td_chain_step draw_step(size_t number, td_arith *p, ptrdiff_t *pitch)
{
    td_chain_step s = {.kind = (td_chain_kind)(next() % 3)};
    const float a = draw(), b = draw();
    s.bounded = s.kind == TD_CHAIN_KEEP || next() % 3 == 0;
    s.low = s.bounded && a == a ? a : -INFINITY;
    s.high = s.bounded && b == b ? b : INFINITY;
    if (s.low > s.high) {
        const float low = s.high;
        s.high = s.low;
        s.low = low;
    }
    s.bounded = s.low != -INFINITY || s.high != INFINITY || next() % 2;
    s.one = next() % 3 == 0;
    s.b = operand[number] + next() % 4;
    *pitch = next() % 2 ? PITCH : 0;
    s.b_stride = *pitch * (ptrdiff_t)sizeof(float);
    *p = (td_arith){.from = s.low, .to = s.high, .limit = (double)INFINITY};
    return s;
}

/* Every step on whole rows by the kernels of single steps, which the other test holds against the rule. */
static void run_steps(const td_chain_step *step, const td_arith *p, size_t steps, const float *src, size_t rows,
                      size_t n, unsigned char *dst, ptrdiff_t dst_stride)
{
    td_arith_kernels k;
    td_arith_init(&k, TD_CPU_C);
    for (size_t r = 0; r < rows; r++) {
        float row[MOST];
        memcpy(row, src + r * PITCH, n * sizeof *row);
        k.clamp_f32(&(td_arith){.from = -(double)INFINITY, .to = (double)INFINITY}, row, row, NULL, false, n);
        for (size_t i = 0; i < steps; i++) {
            const void *b = (const char *)step[i].b + (ptrdiff_t)r * step[i].b_stride;
            if (step[i].kind == TD_CHAIN_ADD)
                k.add_f32(&p[i], row, row, b, step[i].one, n);
            else if (step[i].kind == TD_CHAIN_MUL)
                k.mul_f32(&p[i], row, row, b, step[i].one, n);
            k.clamp_f32(&p[i], row, row, NULL, false, n);
        }
        memcpy(dst + (ptrdiff_t)r * dst_stride, row, n * sizeof *row);
    }
}

static void check_case(const kernel *k, size_t rows, size_t n)
{
    td_chain_step step[STEPS];
    td_arith p[STEPS];
    const size_t steps = next() % (STEPS + 1);
    const bool lines = next() % 2, stream = next() % 2;
    const ptrdiff_t dst_stride = lines ? (ptrdiff_t)((n + 15) / 16 * 64) : (ptrdiff_t)(n * 4 + next() % 40);
    const size_t off = lines ? 0 : next() % 40;
    ptrdiff_t pitch = 0;
    for (size_t i = 0; i < sizeof source / sizeof *source; i++)
        source[i] = draw();
    for (size_t s = 0; s < steps; s++) {
        step[s] = draw_step(s, &p[s], &pitch);
        for (size_t i = 0; i < sizeof operand[s] / sizeof(float); i++)
            operand[s][i] = draw();
    }
    const float *src = source + next() % 4;
    memset(got, GUARD, sizeof got);
    memset(expected, GUARD, sizeof expected);
    run_steps(step, p, steps, src, rows, n, expected + off, dst_stride);
    const td_chain_block block = {got + off, src, dst_stride, PITCH * 4, rows, n, stream, next() % 2};
    k->fn(step, steps, &block);
    if (memcmp(got, expected, sizeof got) != 0)
        fail_msg("%s %s: %zu steps on %zu rows of %zu differ", k->name, k->isa, steps, rows, n);
}

static void check(const kernel *k)
{
    static const size_t lengths[] = {8, 16, 32, 64, 128, 17, 33, 144};
    for (size_t n = 0; n < MOST; n += 1 + n / 24)
        for (size_t rows = 1; rows <= MOST_ROWS; rows += 1 + rows / 3)
            check_case(k, rows, n);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t rows = 1; rows <= MOST_ROWS; rows++)
            check_case(k, rows, lengths[i]);
}

static void chains_are_their_steps(void **state)
{
    (void)state;
#define X(name) CHECK_VERSIONS(chain, check, name, 0);
    TD_CHAIN_KERNELS(X)
#undef X
}

static const td_check checks[] = {TD_CHECK(chains_are_their_steps)};

TD_CHECK_FAMILY(chain, checks, NULL, NULL, NULL);
