/* What is known of address expressions without their values: which are affine, which only move and XOR bits, both held
 * against all values; and what is proved by that of large regions with hashes. */
#include "support.h"

#include "layout/expr.h"
#include "layout/layout.h"

#define R_SIZE 64
#define C_SIZE 16
#define INDICES ((uint64_t)R_SIZE * C_SIZE)

static int64_t value_at(const td_layout *l, const td_expr_scope *scope, int64_t number)
{
    const int64_t axis[] = {number / C_SIZE, number % C_SIZE};
    const td_expr_points points = {.axis = {&axis[0], &axis[1]}, .index = &number, .count = 1};
    int64_t value = -1;
    ASSERT_OK(td_expr_eval(l->address, scope, &points, &value));
    return value;
}

/* Whether every value is the XOR of what the bits of r and c give, by looking at all of them. */
static bool is_xor_of_bits(const td_layout *l, const td_expr_scope *scope)
{
    const int64_t zero = value_at(l, scope, 0);
    for (int64_t i = 0; i < (int64_t)INDICES; i++) {
        int64_t sum = zero;
        for (int64_t bit = 1; bit < (int64_t)INDICES; bit *= 2)
            sum ^= i & bit ? value_at(l, scope, bit) ^ zero : 0;
        if (sum != value_at(l, scope, i))
            return false;
    }
    return true;
}

static const struct {
    const char *address;
    bool moves;
} expressions[] = {
    {"index", true},
    {"index ^ 37", true},
    {"16*r + c", true},
    {"r*16 | c", true},
    {"16*r + (c ^ (r & 15))", true},
    {"16*r + (c ^ (r >> 2 & 15) ^ (r & 3))", true},
    {"(index << 2) + 3", true},
    {"index / 8 * 8 + (index % 8 ^ index / 8 % 8)", true},
    {"(index & 960) + (index % 64 ^ 21)", true},
    {"(index ^ index >> 3) % 512", true},
    {"5", true},
    {"rev(index, 10)", true},
    {"rev(r, 6)*16 + c", true},
    {"interleave(r, c)", true},
    {"interleave(c ^ (r & 15), r) << 2*1", true},
    {"index ^ (1 << 4 | 3)", true},
    {"r*dim(1) + c", true},
    {"r + c", false},
    {"15*r + c", false},
    {"16*r + (c + r) % 16", false},
    {"1023 - index", false},
    {"index + 1", false},
    {"index * index", false},
    {"(index & c) + 16*r", false},
    {"index % 48", false},
    {"index / 3", false},
};

static void which_expressions_move_bits(void **state)
{
    (void)state;
    const uint64_t size[TD_MAX_AXES] = {R_SIZE, C_SIZE};
    const td_shape shape = TD_SHAPE(R_SIZE, C_SIZE);
    const td_expr_scope scope = {.size = size, .shape = &shape};
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        td_layout *l = NULL;
        ASSERT_OK(td_layout_create("r c -> (r c) 1", "", expressions[i].address, &l));
        const bool moves = td_expr_moves_bits(l->address, &scope, INDICES);
        if (moves != expressions[i].moves || (moves && !is_xor_of_bits(l, &scope)))
            fail_msg("%s: %s", expressions[i].address, moves ? "said to move bits" : "not seen to move bits");
        td_layout_destroy(&l);
    }
}

static const struct {
    const char *address;
    bool affine;
} settled[] = {
    {"min(r, 63)*16 + c", true},
    {"max(r, 0) + c*64", true},
    {"max(3, c - 20) + r", true},
    {"min(16, 80 - r)*r", true}, /* 80 - r is 17 or more */
    {"r*16 + c % 16", true},
    {"r*16 + (c + 3) % 19", true},
    {"c / 16 + r", true},
    {"(r*16 + c) / dim(0)", false},
    {"(r*16 + c) / 1024 + c", true},
    {"min(16, 78 - r)*r", false},
    {"max(3, c - 11) + r", false},
    {"r*16 + c % 15", false},
    {"r*16 + (c - 1) % 16", false}, /* below 0 a remainder is, too */
    {"c / 15 + r", false},
};

/* Operators that do nothing over the sizes of the axes leave strides. */
static void which_expressions_are_affine(void **state)
{
    (void)state;
    const uint64_t size[TD_MAX_AXES] = {R_SIZE, C_SIZE};
    const td_shape shape = TD_SHAPE(R_SIZE, C_SIZE);
    const td_expr_scope scope = {.size = size, .shape = &shape};
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++) {
        td_layout *l = NULL;
        td_affine a = {0};
        ASSERT_OK(td_layout_create("r c -> (r c) 1", "", settled[i].address, &l));
        const bool affine = td_expr_affine(l->address, &scope, &a);
        bool right = affine == settled[i].affine;
        for (int64_t n = 0; n < (int64_t)INDICES && affine; n++)
            right &= value_at(l, &scope, n) ==
                     a.constant + a.index_factor * n + a.factor[0] * (n / C_SIZE) + a.factor[1] * (n % C_SIZE);
        if (!right)
            fail_msg("%s: %s", settled[i].address, affine ? "has other values" : "not seen to be affine");
        td_layout_destroy(&l);
    }
}

/* In rectangles r .. r + rows, c .. c + columns: what has two sides, or several quotients, over all elements may have
 * one there. */
static const struct {
    const char *address;
    uint64_t r, rows, c, columns;
    bool affine;
} rectangles[] = {
    {"min(16, 78 - r)*r", 0, 63, 0, 16, true},
    {"min(16, 78 - r)*r", 63, 1, 0, 16, true},
    {"min(16, 78 - r)*r", 0, 64, 0, 16, false},
    {"r*16 + (c + 5) % 16", 0, 64, 0, 11, true},
    {"r*16 + (c + 5) % 16", 3, 40, 11, 5, true},
    {"r*16 + (c + 5) % 16", 3, 40, 10, 5, false},
    {"(r*16 + c + 5) % 300 + c", 3, 15, 2, 14, true},
    {"(r*16 + c + 5) % 300 + c", 38, 10, 2, 4, true},
    {"(r*16 + c + 5) % 300 + c", 3, 17, 2, 14, false},
    {"(r + 3) / 7 * 4 + c", 4, 7, 0, 16, true},
    {"(r + 3) / 7 * 4 + c", 4, 8, 0, 16, false},
    {"(r + 3 >> 3) + c", 5, 8, 1, 3, true},
    {"(r + 3 >> 3) + c", 5, 9, 1, 3, false},
    {"(r + 3 & 7) + c", 5, 8, 1, 3, true},
    {"(r + 3 & 7) + c", 5, 9, 1, 3, false},
    {"(r + 3 & 6) + c", 5, 8, 1, 3, false},
    {"(index + 100) % 1024", 0, 57, 0, 12, true},
    {"(index + 100) % 1024", 58, 6, 0, 16, true},
    {"(index + 100) % 1024", 57, 7, 0, 16, false},
    {"r*r + c", 17, 1, 0, 16, true},
    {"r*(c + 2)", 17, 20, 7, 1, true},
    {"r*(c + 2)", 17, 20, 7, 2, false},
};

static void which_expressions_are_affine_in_rectangles(void **state)
{
    (void)state;
    const td_shape shape = TD_SHAPE(R_SIZE, C_SIZE);
    const uint64_t whole[TD_MAX_AXES] = {R_SIZE, C_SIZE};
    const td_expr_scope all = {.size = whole, .shape = &shape};
    for (size_t i = 0; i < sizeof rectangles / sizeof *rectangles; i++) {
        const uint64_t r = rectangles[i].r, rows = rectangles[i].rows, c = rectangles[i].c,
                       columns = rectangles[i].columns;
        const uint64_t size[TD_MAX_AXES] = {rows, columns}, start[TD_MAX_AXES] = {r, c},
                       index[2] = {r * C_SIZE + c, (r + rows - 1) * C_SIZE + c + columns - 1};
        const td_expr_scope scope = {.size = size, .shape = &shape, .start = start, .index = index};
        td_layout *l = NULL;
        td_affine a = {0};
        ASSERT_OK(td_layout_create("r c -> (r c) 1", "", rectangles[i].address, &l));
        const bool affine = td_expr_affine(l->address, &scope, &a);
        bool right = affine == rectangles[i].affine;
        for (uint64_t n = index[0]; n <= index[1] && affine; n++)
            right &= n % C_SIZE < c || n % C_SIZE >= c + columns ||
                     value_at(l, &all, (int64_t)n) == a.constant + a.index_factor * (int64_t)n +
                                                          a.factor[0] * (int64_t)(n / C_SIZE) +
                                                          a.factor[1] * (int64_t)(n % C_SIZE);
        if (!right)
            fail_msg("%s from %d %d: %s", rectangles[i].address, (int)r, (int)c,
                     affine ? "has other values" : "not seen to be affine");
        td_layout_destroy(&l);
    }
}

/* A size that is no power of two has numbers whose XOR is none of its own. */
static void sizes_are_powers_of_two(void **state)
{
    (void)state;
    const uint64_t size[TD_MAX_AXES] = {60, C_SIZE};
    const td_shape shape = TD_SHAPE(60, C_SIZE);
    const td_expr_scope scope = {.size = size, .shape = &shape};
    td_layout *l = NULL;
    ASSERT_OK(td_layout_create("r c -> (r c) 1", "", "16*r + (c ^ (r & 15))", &l));
    assert_false(td_expr_moves_bits(l->address, &scope, (uint64_t)60 * C_SIZE));
    td_layout_destroy(&l);
}

/* -- regions of 2^26 words, which nobody would list ---------------------------------------------------------------- */

enum { BANKS = 4 };
static const uint64_t depth = (uint64_t)1 << 24;

static td_status over(const char *address, td_memory **arrays, td_memory **out)
{
    td_layout *l = NULL;
    ASSERT_OK(td_layout_create("(row ch) k -> (row ch) k", "ch=4", address, &l));
    const td_status status = td_memory_over("ram", 32, BANKS * depth, l, arrays, BANKS, out);
    td_layout_destroy(&l);
    return status;
}

/* Words of the region, written through it, stand where the formula says. */
static void large_hashed_regions(void **state)
{
    (void)state;
    td_memory *arrays[BANKS] = {0}, *ram = NULL;
    for (int i = 0; i < BANKS; i++)
        ASSERT_OK(td_memory_create("bank", 32, depth, &arrays[i]));
    ASSERT_OK(
        over("bank = ch ^ (row & 3) ^ (row >> 5 & 3) ^ (row >> 11 & 3); addr = row ^ (row >> 20 & 7)", arrays, &ram));
    static const uint64_t number[] = {0, 1, 4, 7, 128, 8195, 123456789 % (4 << 24), ((uint64_t)4 << 24) - 1};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        const uint64_t row = number[i] / 4, ch = number[i] % 4;
        const uint64_t bank = ch ^ (row & 3) ^ (row >> 5 & 3) ^ (row >> 11 & 3), at = row ^ (row >> 20 & 7);
        const uint32_t word = 0xC0DE0000U + (uint32_t)i;
        uint32_t found = 0;
        ASSERT_OK(td_backdoor_write(ram, &number[i], 1, &word, NULL));
        ASSERT_OK(td_backdoor_read(arrays[bank], &at, 1, &found));
        assert_int_equal(found, word);
    }
    td_memory_destroy(&ram);
    ASSERT_REFUSED(
        over("bank = ch ^ (row & 3); addr = row ^ (row & 1)", arrays, &ram), TD_ALIAS,
        "memory_over \"ram\": words ch=1 row=0 and ch=0 row=1 of \"(row ch) k -> (row ch) k\" both lie at "
        "address 0 of bank 1; use an address that keeps them apart, or alias=last\n    shape (67108864, 32), "
        "sizes ch=4");
    for (int i = 0; i < BANKS; i++)
        td_memory_destroy(&arrays[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_expressions_are_affine), cmocka_unit_test(which_expressions_are_affine_in_rectangles),
        cmocka_unit_test(which_expressions_move_bits),  cmocka_unit_test(sizes_are_powers_of_two),
        cmocka_unit_test(large_hashed_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
