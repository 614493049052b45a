/* Comparisons: what they refuse, what they compare, and that the fast way over rows says what the judge of single pairs
 * says. */
#include "support.h"

#include <stdbool.h>

#include "base/cpu.h"
#include "values/judge.h"

#include <math.h>

static td_tensor *tensor_of(const char *dtype, td_shape shape, uint64_t seed)
{
    td_tensor *tensor = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &tensor));
    ASSERT_OK(td_tensor_fill_random(tensor, seed));
    return tensor;
}

static td_layout *layout_of(const char *pattern, const char *options, const char *address)
{
    td_layout *layout = NULL;
    ASSERT_OK(td_layout_create(pattern, options, address, &layout));
    return layout;
}

static td_memory *memory_of(uint64_t width, uint64_t depth)
{
    td_memory *memory = NULL;
    ASSERT_OK(td_memory_create("obuf", width, depth, &memory));
    return memory;
}

static void flip(td_memory *memory, uint64_t word, unsigned bit)
{
    ((unsigned char *)td_memory_data(memory))[word * td_memory_word_bytes(memory) + bit / 8] ^=
        (unsigned char)(1u << bit % 8);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void calls_that_are_refused(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("i16", TD_SHAPE(2, 4), 1), *other = tensor_of("i16", TD_SHAPE(4, 2), 1);
    td_tensor *wide = tensor_of("i32", TD_SHAPE(2, 4), 1);
    td_layout *layout = layout_of("r c -> r c", NULL, NULL);
    td_memory *memory = memory_of(64, 8), *small = memory_of(64, 4);
    td_report *report = NULL;
    td_memory *none = NULL;

    ASSERT_REFUSED(td_backdoor_compare_tensor(NULL, golden, layout, "", "", &report), TD_ARGUMENT,
                   "backdoor_compare_tensor: the memory is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_compare_tensor(memory, NULL, layout, "", "", &report), TD_ARGUMENT,
                   "backdoor_compare_tensor: the golden tensor is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_compare_tensor(memory, golden, NULL, "", "", &report), TD_ARGUMENT,
                   "backdoor_compare_tensor: the layout is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_compare_tensor(memory, golden, layout, "", "", NULL), TD_ARGUMENT,
                   "backdoor_compare_tensor: the output is NULL; pass one");
    ASSERT_REFUSED(td_backdoor_compare_tensor_banks(&none, 1, golden, layout, "", "", &report), TD_ARGUMENT,
                   "backdoor_compare_tensor: the memory is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_compare_tensor(memory, golden, layout, "max=many", "", &report), TD_OPTION,
                   "backdoor_compare_tensor \"obuf\": max=many in policy \"max=many\" is not a whole number from 0 to "
                   "65536; pass one "
                   "like max=100");
    td_layout *far = layout_of("r c -> c r", NULL, "100 + index");
    td_status status = td_backdoor_compare_tensor(memory, other, far, NULL, NULL, &report);
    td_layout_destroy(&far);
    assert_int_equal(status, TD_RANGE);
    assert_non_null(strstr(td_last_error(), "backdoor_compare_tensor \"obuf\": "));
    assert_null(report);

    ASSERT_REFUSED(td_tensor_compare(NULL, golden, NULL, &report), TD_ARGUMENT,
                   "tensor_compare: the expected tensor is NULL; create it first");
    ASSERT_REFUSED(td_tensor_compare(golden, NULL, NULL, &report), TD_ARGUMENT,
                   "tensor_compare: the actual tensor is NULL; create it first");
    ASSERT_REFUSED(td_tensor_compare(golden, golden, NULL, NULL), TD_ARGUMENT,
                   "tensor_compare: the output is NULL; pass one");
    ASSERT_REFUSED(td_tensor_compare(golden, wide, NULL, &report), TD_DTYPE,
                   "tensor_compare: the expected tensor is i16, the actual one i32; convert one of them first");
    ASSERT_REFUSED(
        td_tensor_compare(golden, other, NULL, &report), TD_SHAPE,
        "tensor_compare: the expected tensor has shape (2, 4), the actual one (4, 2); compare tensors of one shape");

    td_comparison what = {.banks = &memory, .bank_count = 1, .golden = golden, .layout = layout, .mask = other};
    ASSERT_REFUSED(td_compare(NULL, &report), TD_ARGUMENT, "compare: the comparison is NULL; pass one");
    ASSERT_REFUSED(td_compare(&what, NULL), TD_ARGUMENT, "compare: the output is NULL; pass one");
    ASSERT_REFUSED(td_compare(&what, &report), TD_SHAPE,
                   "backdoor_compare_tensor \"obuf\": the mask has shape (4, 2), the golden tensor (2, 4); pass a mask "
                   "of that shape");
    what.mask = NULL;
    what.snapshot = &none;
    ASSERT_REFUSED(
        td_compare(&what, &report), TD_ARGUMENT,
        "backdoor_compare_tensor \"obuf\": snapshot 0 is NULL; take one of each memory with memory_snapshot");
    what.snapshot = &small;
    ASSERT_REFUSED(
        td_compare(&what, &report), TD_ARGUMENT,
        "backdoor_compare_tensor \"obuf\": snapshot 0 is 4 words of 64 bits, its memory is 8 of 64; pass a snapshot of "
        "that memory");
    what.snapshot = NULL;
    what.actual = golden;
    assert_int_equal(td_compare(&what, &report), TD_ARGUMENT);
    assert_non_null(strstr(td_last_error(), "a comparison with memories and with an actual tensor; pass one of them"));
    ASSERT_REFUSED(td_memory_snapshot(NULL, &none), TD_ARGUMENT, "memory_snapshot: the memory is NULL; pass one");
    ASSERT_REFUSED(td_memory_snapshot(memory, NULL), TD_ARGUMENT, "memory_snapshot: the output is NULL; pass one");

    td_tensor_destroy(&golden);
    td_tensor_destroy(&other);
    td_tensor_destroy(&wide);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_memory_destroy(&small);
}

static void nothing_to_compare_is_an_error(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("i16", TD_SHAPE(2, 4), 1), *mask = NULL;
    td_report *report = NULL;
    ASSERT_OK(td_tensor_create("u1", TD_SHAPE(2, 4), &mask));
    td_comparison what = {.actual = golden, .golden = golden, .mask = mask};
    ASSERT_REFUSED(
        td_compare(&what, &report), TD_ARGUMENT,
        "tensor_compare: the mask leaves none of 8 elements to compare; pass a mask with elements other than 0");
    assert_null(report);
    ASSERT_OK(td_tensor_set_bits(mask, 5, 1));
    ASSERT_OK(td_compare(&what, &report));
    assert_int_equal(td_report_compared(report), 1);
    assert_string_equal(td_report_line(report),
                        "compare a tensor with golden i16 (2, 4), policy exact: the only element matches (7 masked)");
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&mask);
}

/* -- what is compared ---------------------------------------------------------------------------------------------- */

static void a_mask_leaves_elements_out(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("f32", TD_SHAPE(6, 4), 3), *mask = NULL;
    td_layout *layout = layout_of("r c -> r c", NULL, NULL);
    td_memory *memory = memory_of(128, 8);
    td_report *report = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(6, 4), &mask));
    for (uint64_t e = 0; e < 24; e++)
        ASSERT_OK(td_tensor_set_bits(mask, e, e % 4 != 1 ? 0x80 : 0));
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    for (uint64_t w = 0; w < 6; w++)
        flip(memory, w, 32 + (unsigned)w); /* lane 1: masked */
    flip(memory, 3, 100);
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        const td_comparison what = {.banks = &memory,
                                    .bank_count = 1,
                                    .golden = golden,
                                    .layout = layout,
                                    .mask = mask,
                                    .policy = tolerant ? "ulp=0" : ""};
        ASSERT_OK(td_compare(&what, &report));
        assert_int_equal(td_report_compared(report), 18);
        assert_int_equal(td_report_mismatches(report), 1);
        td_mismatch m;
        ASSERT_OK(td_report_first(report, 0, &m));
        assert_int_equal(m.elem, 15);
        assert_int_equal(m.lane, 3);
        assert_int_equal(td_report_worst_ulp(report), m.ulp);
        td_report_destroy(&report);
    }
    td_tensor_destroy(&golden);
    td_tensor_destroy(&mask);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

static void padding_and_outside(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("i16", TD_SHAPE(3, 6), 3);
    td_layout *layout = layout_of("r (ct cs) -> (r ct) cs", "cs=4 pad=-1", "2 + index");
    td_memory *memory = memory_of(80, 16), *before = NULL; /* 16 bits of each word are no lane */
    td_report *report = NULL;
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    ASSERT_OK(td_memory_snapshot(memory, &before));
    flip(memory, 3, 40); /* padding of row 0 */
    flip(memory, 3, 63); /* the same row's other padding */
    flip(memory, 0, 5);
    flip(memory, 0, 9);
    flip(memory, 4, 70);
    td_comparison what = {.banks = &memory, .bank_count = 1, .golden = golden, .layout = layout};
    ASSERT_OK(td_compare(&what, &report)); /* unasked for, neither is looked at */
    assert_true(td_report_passed(report));
    assert_int_equal(td_report_compared(report), 18);
    td_report_destroy(&report);

    what.policy = "check_pad";
    ASSERT_OK(td_compare(&what, &report));
    assert_false(td_report_passed(report));
    assert_int_equal(td_report_mismatches(report), 0);
    assert_int_equal(td_report_pad_mismatches(report), 2);
    assert_string_equal(
        td_report_line(report),
        "compare \"obuf\" with golden i16 (3, 6), policy check_pad: all 18 elements match, 2 of 6 padding elements "
        "changed; first: expected 0xffff, got 0xfeff at address 0x3 bits 47:32");
    td_report_destroy(&report);

    what.policy = NULL;
    what.snapshot = &before;
    ASSERT_OK(td_compare(&what, &report));
    assert_false(td_report_passed(report));
    assert_int_equal(td_report_outside_bits(report), 3);
    assert_string_equal(
        td_report_line(report),
        "compare \"obuf\" with golden i16 (3, 6), policy exact: all 18 elements match, 3 bits in 2 words outside the "
        "layout changed; first at address 0x0 bits 9:5 of bank 0");
    char *text = NULL;
    ASSERT_OK(td_report_text(report, &text));
    assert_non_null(strstr(text, "\n  outside: 1 bit changed at address 0x4 bits 70:70 of bank 0\n"));
    td_free(text);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_memory_destroy(&before);
}

/* Vectors of six words that begin one word apart: with slots of 39 bits each has its lanes at other bits of a word. */
static void outside_of_words_that_overlap(void **state)
{
    (void)state;
    td_memory *memory = NULL, *before = NULL;
    td_tensor *golden = NULL;
    td_layout *layout = NULL;
    td_report *report = NULL;
    ASSERT_OK(td_memory_create("obuf", 104, 18, &memory));
    ASSERT_OK(td_tensor_create("u32", TD_SHAPE(5, 2, 4), &golden));
    ASSERT_OK(td_layout_create("a b c -> a (b c rep)", "rep=2 slot=39 beats=6 fill=keep alias=last", "8 + a", &layout));
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    ASSERT_OK(td_memory_snapshot(memory, &before));
    for (uint64_t address = 8; address < 18; address++)
        for (unsigned bit = 0; bit < 104; bit++)
            flip(memory, address, bit);
    const td_comparison what = {
        .banks = &memory, .bank_count = 1, .golden = golden, .layout = layout, .snapshot = &before};
    ASSERT_OK(td_compare(&what, &report));
    uint64_t outside = 0; /* a bit is inside when a lane of some vector has it */
    for (uint64_t address = 8; address < 18; address++)
        for (unsigned bit = 0; bit < 104; bit++) {
            bool inside = false;
            for (uint64_t a = 0; a < 5; a++)
                inside |= address >= 8 + a && address < 14 + a && (104 * (address - 8 - a) + bit) % 39 < 32;
            outside += !inside;
        }
    assert_int_equal(td_report_outside_bits(report), outside);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_memory_destroy(&before);
}

static void every_copy_is_compared(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("u8", TD_SHAPE(4, 4), 3);
    td_layout *layout = layout_of("r c -> (k r) c", "k=3", NULL);
    td_memory *memory = memory_of(32, 12);
    td_report *report = NULL;
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    flip(memory, 9, 8);
    flip(memory, 1, 8);
    ASSERT_OK(td_backdoor_compare_tensor(memory, golden, layout, NULL, NULL, &report));
    assert_int_equal(td_report_compared(report), 48);
    assert_int_equal(td_report_mismatches(report), 2);
    td_mismatch a, b;
    ASSERT_OK(td_report_first(report, 0, &a));
    ASSERT_OK(td_report_first(report, 1, &b));
    assert_int_equal(a.elem, 5);
    assert_int_equal(a.address, 1);
    assert_int_equal(b.elem, 5);
    assert_int_equal(b.address, 9);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

static void banks_and_conversion(void **state)
{
    (void)state;
    td_tensor *golden = NULL;
    td_layout *layout = layout_of("h w c -> w h c", NULL, NULL); /* the first group is the bank */
    td_memory *bank[4];
    td_report *report = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(5, 4, 8), &golden));
    ASSERT_OK(td_tensor_fill_ramp(golden, -3, 0.0371));
    for (int i = 0; i < 4; i++)
        bank[i] = memory_of(64, 5);
    ASSERT_OK(td_backdoor_load_tensor_banks(bank, 4, golden, layout, "i8 scale=0.05"));
    ASSERT_OK(td_backdoor_compare_tensor_banks(bank, 4, golden, layout, "atol=0.0251", "i8 scale=0.05", &report));
    assert_true(td_report_passed(report));
    assert_true(td_report_worst_error(report) > 0.02 && td_report_worst_error(report) <= 0.0251);
    td_report_destroy(&report);
    flip(bank[2], 3, 8 * 5 + 6);
    ASSERT_OK(td_backdoor_compare_tensor_banks(bank, 4, golden, layout, "atol=0.0251", "i8 scale=0.05", &report));
    assert_int_equal(td_report_mismatches(report), 1);
    td_mismatch m;
    ASSERT_OK(td_report_first(report, 0, &m));
    assert_int_equal(m.bank, 2);
    assert_int_equal(m.address, 3);
    assert_int_equal(m.lsb, 40);
    assert_int_equal(m.msb, 47);
    assert_int_equal(m.at.dim[0], 3);
    assert_int_equal(m.at.dim[1], 2);
    assert_int_equal(m.at.dim[2], 5);
    assert_true(fabs(m.error - 3.2) < 0.05);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    for (int i = 0; i < 4; i++)
        td_memory_destroy(&bank[i]);
}

/* Layouts that are dumped at once before they are compared in parts (compare/whole.c): what is equal passes, also when
 * an earlier comparison left its elements behind; what differs is found where it is. */
static void check_whole(const char *dtype, td_shape shape, const char *pattern, const char *options,
                        const char *address, uint64_t width, uint64_t depth, uint64_t elems)
{
    td_tensor *golden = tensor_of(dtype, shape, 11), *other = tensor_of(dtype, shape, 12);
    td_layout *layout = layout_of(pattern, options, address);
    td_memory *memory = memory_of(width, depth);
    td_report *report = NULL;
    for (int turn = 0; turn < 2; turn++) {
        ASSERT_OK(td_backdoor_load_tensor(memory, turn ? other : golden, layout, NULL));
        ASSERT_OK(td_backdoor_compare_tensor(memory, turn ? other : golden, layout, NULL, NULL, &report));
        assert_true(td_report_passed(report));
        assert_int_equal(td_report_compared(report), elems);
        td_report_destroy(&report);
        ASSERT_OK(td_backdoor_compare_tensor(memory, turn ? golden : other, layout, NULL, NULL, &report));
        assert_true(td_report_mismatches(report) > 0);
        td_report_destroy(&report);
    }
    flip(memory, 1, 0);
    ASSERT_OK(td_backdoor_compare_tensor(memory, other, layout, NULL, NULL, &report));
    assert_int_equal(td_report_mismatches(report), 1);
    td_mismatch m;
    ASSERT_OK(td_report_first(report, 0, &m));
    assert_int_equal(m.address, 1);
    assert_int_equal(m.lsb, 0);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&other);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

static void whole_dumps_say_the_same(void **state)
{
    (void)state;
    check_whole("u3", TD_SHAPE(37, 8), "a b -> a b", NULL, NULL, 29, 40, 296);                /* staged */
    check_whole("u16", TD_SHAPE(64, 2), "a b -> a b", NULL, "a ^ (a >> 1 & 3)", 32, 64, 128); /* by table */
    check_whole("f32", TD_SHAPE(402), "(4*h + k) -> h k", "k=2", NULL, 64, 101, 202);         /* left out */
    check_whole("u12", TD_SHAPE(1500000, 3), "a b -> a b", NULL, NULL, 40, 1500000, 4500000); /* over 8 MiB */
    check_whole("u8", TD_SHAPE(48, 40), "a b -> b a", NULL, NULL, 384, 40, 1920);             /* small and transposed */
    check_whole("f32", TD_SHAPE(6, 9, 5), "a b c -> c (a k b)", "k=2", NULL, 3456, 5, 540);   /* copies */
    check_whole("u8", TD_SHAPE(9, 30), "(1*h + i) (4*w + k) -> (h w) (i k)", "i=2 k=2", NULL, 32, 64,
                256); /* copies, and left out */
}

static void the_first_are_the_first_in_the_tensor(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("f32", TD_SHAPE(700, 900), 3); /* several slabs, which lie across the rows */
    td_layout *layout = layout_of("r c -> c r", NULL, NULL);
    td_memory *memory = memory_of(700 * 32, 900);
    td_report *report = NULL;
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    for (unsigned r = 0; r < 700; r += 7)
        for (uint64_t c = 0; c < 900; c += 31)
            flip(memory, c, 32 * r + 3);
    ASSERT_OK(td_backdoor_compare_tensor(memory, golden, layout, "max=40", NULL, &report));
    assert_int_equal(td_report_mismatches(report), 100 * 30);
    assert_int_equal(td_report_first_count(report), 40);
    for (size_t i = 0; i < 40; i++) {
        td_mismatch m;
        ASSERT_OK(td_report_first(report, i, &m));
        assert_int_equal(m.at.dim[0], i / 30 * 7);
        assert_int_equal(m.at.dim[1], i % 30 * 31);
        assert_int_equal(m.address, m.at.dim[1]);
        assert_int_equal(m.lsb, 32 * m.at.dim[0]);
    }
    td_mismatch past;
    ASSERT_REFUSED(td_report_first(report, 40, &past), TD_RANGE,
                   "report_first: mismatch 40 of 40 kept; pass max=41 in the policy to keep more");
    ASSERT_REFUSED(td_report_first(NULL, 0, &past), TD_ARGUMENT, "report_first: the report is NULL; pass one");
    ASSERT_REFUSED(td_report_first(report, 0, NULL), TD_ARGUMENT, "report_first: the output is NULL; pass one");
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

/* -- rows against single pairs ------------------------------------------------------------------------------------- */

/* Pairs near each other, far from each other, and the odd ones of every dtype. */
static void fill_pairs(const td_judge *j, td_tensor *expected, td_tensor *actual, uint64_t seed)
{
    uint64_t random = seed;
    for (uint64_t i = 0; i < td_tensor_elems(expected); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t e = (random >> 7) & j->mask, step = random >> 58;
        uint64_t a = (random >> 60) == 3  ? (random >> 21) & j->mask
                     : (random >> 60) < 9 ? (e + (step & 3)) & j->mask
                                          : e;
        if ((random >> 53 & 127) == 5)
            a = e ^ (j->mask & ~(j->mask >> 1));
        ASSERT_OK(td_tensor_set_bits(expected, i, e));
        ASSERT_OK(td_tensor_set_bits(actual, i, a));
    }
}

static void rows_are_judged_like_pairs(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f32", "f16", "bf16", "e4m3", "e5m2", "e2m1", "i8", "u8",
                                         "i4",  "i16", "u16",  "q4.4", "e8m0", "i32",  "f64"};
    static const char *const policies[] = {"ulp=0",
                                           "ulp=1",
                                           "ulp=3",
                                           "atol=0.5",
                                           "atol=1e-3 rtol=1e-3",
                                           "rtol=0.01",
                                           "atol=1 ulp=2",
                                           "rtol=1e-40",
                                           "atol=1e-40",
                                           "atol=0",
                                           "atol=1e40",
                                           "ulp=2 ftz",
                                           "ulp=2 nan=differ",
                                           "ulp=2 inf=differ",
                                           "ulp=1 zero=differ",
                                           "exact"};
    static const unsigned cpus[] = {TD_CPU_C, TD_CPU_AVX2, TD_CPU_ALL};
    td_shape shape = TD_SHAPE(2531);
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            td_tensor *expected = NULL, *actual = NULL;
            td_policy policy;
            td_dtype dtype;
            td_judge j;
            ASSERT_OK(td_tensor_create(dtypes[d], shape, &expected));
            ASSERT_OK(td_tensor_create(dtypes[d], shape, &actual));
            ASSERT_OK(td_policy_parse(policies[p], &policy));
            ASSERT_OK(td_dtype_parse(dtypes[d], &dtype));
            td_judge_init(&policy, dtype, &j);
            fill_pairs(&j, expected, actual, 1000 * d + p);
            uint64_t mismatches = 0, ulp = 0;
            double error = 0;
            for (uint64_t i = 0; i < shape.dim[0]; i++) {
                uint64_t e = 0, a = 0;
                ASSERT_OK(td_tensor_get_bits(expected, i, &e));
                ASSERT_OK(td_tensor_get_bits(actual, i, &a));
                const td_verdict v = td_judge_pair(&j, e, a);
                mismatches += !v.equal;
                ulp = !v.apart && v.ulp > ulp ? v.ulp : ulp;
                error = !v.apart && v.error > error ? v.error : error;
            }
            for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++) {
                td_report *report = NULL;
                td_cpu_mask(cpus[c]);
                ASSERT_OK(td_tensor_compare(expected, actual, policies[p], &report));
                if (td_report_mismatches(report) != mismatches || td_report_worst_ulp(report) != ulp ||
                    td_report_worst_error(report) != error)
                    fail_msg("%s, policy \"%s\": %llu mismatches, worst %llu ulp and %g; one by one %llu, %llu and %g",
                             dtypes[d], policies[p], (unsigned long long)td_report_mismatches(report),
                             (unsigned long long)td_report_worst_ulp(report), td_report_worst_error(report),
                             (unsigned long long)mismatches, (unsigned long long)ulp, error);
                td_report_destroy(&report);
            }
            td_cpu_mask(TD_CPU_ALL);
            td_tensor_destroy(&expected);
            td_tensor_destroy(&actual);
        }
}

typedef struct seen {
    uint64_t calls, done, total;
} seen;

static void see(void *context, uint64_t done, uint64_t total)
{
    seen *s = context;
    assert_true(done >= s->done && done <= total);
    s->calls++;
    s->done = done;
    s->total = total;
}

/* One pair of elements by their bits. */
static bool are_equal(const char *dtype, const char *policy, uint64_t expected, uint64_t actual, double *worst)
{
    td_tensor *e = NULL, *a = NULL;
    td_report *report = NULL;
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(100), &e));
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(100), &a));
    ASSERT_OK(td_tensor_set_bits(e, 77, expected));
    ASSERT_OK(td_tensor_set_bits(a, 77, actual));
    ASSERT_OK(td_tensor_compare(e, a, policy, &report));
    const bool equal = td_report_passed(report);
    *worst = td_report_worst_error(report);
    td_report_destroy(&report);
    td_tensor_destroy(&e);
    td_tensor_destroy(&a);
    return equal;
}

/* At the edge of the tolerance, where a double has no place for the integer. */
static void wide_integers_are_compared_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *policy;
        uint64_t expected, near, far;
    } rows[] = {
        {"u64", "rtol=1", 0x8000000000000001, 0, 0},                             /* a double drops the 1 */
        {"u64", "rtol=1", 0x40000000000003, 0x80000000000006, 0x80000000000007}, /* and rounds this one up */
        {"u64", "rtol=0.5", 0x8000000000000003, 0x4000000000000002, 0x4000000000000001},
        {"u64", "rtol=0.5 atol=0.5", 0x1000000000000001, 0x1800000000000002, 0x1800000000000003}, /* halves add up */
        {"u64", "rtol=0.5 atol=0.25", 0x1000000000000001, 0x1800000000000001, 0x1800000000000002},
        {"u64", "rtol=1e-300 atol=3", 1000, 1003, 1004},
        {"u64", "rtol=1e300", 1, UINT64_MAX, 0},
        {"i64", "rtol=1", 0x8000000000000000, 0, 1},
        {"i64", "rtol=0.5", 0xbffffffffffffffd, 0xe000000000000000 - 2, 0xe000000000000000 - 1},
        {"uq32.32", "atol=0.5", 0x100000000, 0x180000000, 0x180000001},
        {"i48", "rtol=0.5", 3, 4, 5},
    };
    double worst = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!are_equal(rows[i].dtype, rows[i].policy, rows[i].expected, rows[i].near, &worst))
            fail_msg("row %zu: a near pair was refused", i);
        if (rows[i].far && are_equal(rows[i].dtype, rows[i].policy, rows[i].expected, rows[i].far, &worst))
            fail_msg("row %zu: a far pair was accepted", i);
    }
}

/* Floats of 16 bits and less whose values f32 does not hold. */
static void wide_exponents_are_compared(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        uint64_t expected, actual;
        double error;
    } rows[] = {
        {"e9m4", (255 + 200) << 4, (255 + 200) << 4 | 1, 0x1p196},
        {"e9m4", 0, 1, 0x1p-258},
        {"e9m1", (255 - 200) << 1, (255 - 200) << 1 | 1, 0x1p-201},
        {"e11m3", (1023 - 900) << 3, (1023 - 900) << 3 | 4, 0x1p-901},
        {"e11m3", 1, 3, 0x1p-1024},
    };
    static const char *const policies[] = {"rtol=1e-7", "rtol=1e-7 ulp=0", "exact"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t p = 0; p < 3; p++) {
            double worst = -1;
            if (are_equal(rows[i].dtype, policies[p], rows[i].expected, rows[i].actual, &worst))
                fail_msg("%s, %s: a mismatch was missed", rows[i].dtype, policies[p]);
            if (worst != rows[i].error)
                fail_msg("%s, %s: the worst error is %a and not %a", rows[i].dtype, policies[p], worst, rows[i].error);
        }
    double worst = -1;
    assert_true(are_equal("e9m4", "rtol=0.1", (255 + 200) << 4, (255 + 200) << 4 | 1, &worst));
    assert_true(worst == 0x1p196);
}

static void progress_is_told(void **state)
{
    (void)state;
    td_tensor *golden = tensor_of("f32", TD_SHAPE(300, 1000), 3);
    td_layout *layout = layout_of("r c -> r c", NULL, NULL);
    td_memory *memory = memory_of(32000, 300);
    td_report *report = NULL;
    seen s = {0};
    const td_comparison what = {
        .banks = &memory, .bank_count = 1, .golden = golden, .layout = layout, .progress = see, .context = &s};
    ASSERT_OK(td_compare(&what, &report));
    assert_true(s.calls > 1);
    assert_int_equal(s.done, 300000);
    assert_int_equal(s.total, 300000);
    td_report_destroy(&report);
    td_tensor_destroy(&golden);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_are_refused),
        cmocka_unit_test(nothing_to_compare_is_an_error),
        cmocka_unit_test(a_mask_leaves_elements_out),
        cmocka_unit_test(padding_and_outside),
        cmocka_unit_test(outside_of_words_that_overlap),
        cmocka_unit_test(every_copy_is_compared),
        cmocka_unit_test(banks_and_conversion),
        cmocka_unit_test(whole_dumps_say_the_same),
        cmocka_unit_test(wide_integers_are_compared_exactly),
        cmocka_unit_test(wide_exponents_are_compared),
        cmocka_unit_test(the_first_are_the_first_in_the_tensor),
        cmocka_unit_test(rows_are_judged_like_pairs),
        cmocka_unit_test(progress_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
