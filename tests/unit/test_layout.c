/* Layouts as strings: every illegal one beside its legal twin, with the code and the first line of the message; the
 * caret under the place at fault; and canonical printing. What needs a shape or a memory is in test_refusals.c. */
#include "support.h"

typedef struct strings {
    const char *pattern, *options, *address;
} strings;

static const struct {
    strings wrong, right;
    td_status status;
    const char *message;
} refused[] = {
    {{"b w c", "", ""},
     {"b w c -> (b w) c", "", ""},
     TD_PATTERN,
     "layout_create: no -> in pattern \"b w c\"; write TENSOR AXES -> (WORD AXES) (LANE AXES), as in r c -> "
     "r c"},
    {{"r c -> r c -> c", "", ""},
     {"r c -> r c", "", ""},
     TD_PATTERN,
     "layout_create: a second -> in pattern \"r c -> r c -> c\"; write one arrow"},
    {{"r c ->", "", ""},
     {"r c -> (r c)", "", ""},
     TD_PATTERN,
     "layout_create: nothing on the right in pattern \"r c ->\"; write two groups, (word axes) (lane axes), or one, "
     "(axes), for elements one after another"},
    {{"r c -> (r c)", "beats=2", ""},
     {"r c -> (r c)", "slot=16", ""},
     TD_OPTION,
     "layout_create: option beats for the flat pattern \"r c -> (r c)\": a flat layout goes on from word to word by "
     "itself; leave beats out, or write word axes and lane axes"},
    {{"r c -> (r c)", "lanes=msb", ""},
     {"r c -> r c", "lanes=msb", ""},
     TD_OPTION,
     "layout_create: option lanes for the flat pattern \"r c -> (r c)\": a flat layout begins at the least significant "
     "bit; leave lanes out, or write word axes and lane axes"},
    {{"r c -> (r c)", "alias=last", ""},
     {"r c -> r c", "alias=last", ""},
     TD_OPTION,
     "layout_create: option alias for the flat pattern \"r c -> (r c)\": no two elements of a flat layout lie in one "
     "place; leave alias out, or write word axes and lane axes"},
    {{"r c -> (r c)", "fill=zero", ""},
     {"r c -> (r c)", "fill=keep lsb=8", ""},
     TD_OPTION,
     "layout_create: fill=zero for the flat pattern \"r c -> (r c)\", which shares its first and last word with its "
     "neighbours; leave fill out"},
    {{"r c -> (r c)", "", "4 + index"},
     {"r c -> (r c)", "", "4 + dim(0)"},
     TD_ADDRESS,
     "layout_create: address \"4 + index\" of the flat pattern \"r c -> (r c)\" is no constant; pass the address of "
     "its first word"},
    {{"a b c d -> a b c d", "", ""},
     {"a b c d -> a (b c) d", "", ""},
     TD_PATTERN,
     "layout_create: four groups on the right in pattern \"a b c d -> a b c d\"; write two, (word axes) "
     "(lane axes), or three, (bank axes) (word axes) (lane axes)"},
    {{"r c -> (r c", "", ""},
     {"r c -> (r) c", "", ""},
     TD_PATTERN,
     "layout_create: ( without ) in pattern \"r c -> (r c\"; close the group"},
    {{"r c -> r) c", "", ""},
     {"r c -> (r) c", "", ""},
     TD_PATTERN,
     "layout_create: ) without ( in pattern \"r c -> r) c\"; remove it or open the group"},
    {{"((r k) c) -> (r k) c", "", ""},
     {"(r k c) -> (r k) c", "", ""},
     TD_PATTERN,
     "layout_create: ( inside ( ) in pattern \"((r k) c) -> (r k) c\"; groups have one level: write the "
     "axes side by side"},
    {{"r r -> r ()", "", ""},
     {"r q -> (r q) ()", "", ""},
     TD_PATTERN,
     "layout_create: axis r twice on the left in pattern \"r r -> r ()\"; give each axis one place on each "
     "side"},
    {{"r c -> (r c) c", "", ""},
     {"r c -> r c", "", ""},
     TD_PATTERN,
     "layout_create: axis c twice on the right in pattern \"r c -> (r c) c\"; give each axis one place on "
     "each side"},
    {{"r c k -> r c", "", ""},
     {"r c k -> (r k) c", "", ""},
     TD_PATTERN,
     "layout_create: axis k stands only on the left in pattern \"r c k -> r c\"; place k on the right, in "
     "the word group or in the lane group"},
    {{"r c! -> r c", "", ""},
     {"r c_ -> r c_", "", ""},
     TD_PATTERN,
     "layout_create: unexpected character '!' in pattern \"r c! -> r c\"; write axes, `1`, `...`, groups in ( "
     "), and one ->"},
    {{"2 c -> () c", "", ""},
     {"1 c -> () c", "", ""},
     TD_PATTERN,
     "layout_create: unexpected character '2' in pattern \"2 c -> () c\"; write axes, `1`, `...`, groups in ( "
     "), and one ->"},
    {{"r (2 c) -> r c", "", ""},
     {"r (1 c) -> r c", "", ""},
     TD_PATTERN,
     "layout_create: a number in a group in pattern \"r (2 c) -> r c\"; write STEP*AXIS with a step of at "
     "least 1, as in (2*h + kh), or 1"},
    {{"... ... c -> ... c", "", ""},
     {"... c -> ... c", "", ""},
     TD_PATTERN,
     "layout_create: `...` twice on one side in pattern \"... ... c -> ... c\"; use it once"},
    {{"... c -> c ()", "", ""},
     {"... c -> (... c) ()", "", ""},
     TD_PATTERN,
     "layout_create: `...` only on the left in pattern \"... c -> c ()\"; place it on the right too, as in "
     "b ... c -> (b ...) c"},
    {{"r c -> (r ...) c", "", ""},
     {"r ... c -> (r ...) c", "", ""},
     TD_PATTERN,
     "layout_create: `...` only on the right in pattern \"r c -> (r ...) c\"; place it on the left too, as "
     "in b ... c -> (b ...) c"},
    {{"(... c) -> ... c", "", ""},
     {"... c -> ... c", "", ""},
     TD_PATTERN,
     "layout_create: `...` inside parentheses on the left in pattern \"(... c) -> ... c\"; write it "
     "outside: it stands for whole dimensions"},
    {{"r (2*h kh) -> r (h kh)", "", ""},
     {"r (2*h + kh) -> r (h kh)", "", ""},
     TD_PATTERN,
     "layout_create: a sliding group needs + between all its axes in pattern \"r (2*h kh) -> r (h kh)\"; "
     "write (2*h + kh)"},
    {{"r pad -> r pad", "", ""},
     {"r pads -> r pads", "", ""},
     TD_PATTERN,
     "layout_create: axis pad has the name of an option in pattern \"r pad -> r pad\"; rename the axis"},
    {{"index c -> index c", "", ""},
     {"i c -> i c", "", ""},
     TD_PATTERN,
     "layout_create: axis index has the name of the word number in pattern \"index c -> index c\"; rename "
     "the axis"},
    {{"b w (ct cs) -> (b w ct) cs", "cx=4", ""},
     {"b w (ct cs) -> (b w ct) cs", "cs=4", ""},
     TD_OPTION,
     "layout_create: unknown option cx for pattern \"b w (ct cs) -> (b w ct) cs\"; did you mean ct?"},
    {{"r c -> r c", "stride=4", ""},
     {"r c -> r c", "c=4", ""},
     TD_OPTION,
     "layout_create: unknown option stride for pattern \"r c -> r c\"; pass a size of one of its axes, or "
     "pad pad_at tail slot lsb lanes beats fill alias dtype tune addr_unit elf"},
    {{"r c -> r c", "c 4", ""},
     {"r c -> r c", "c=4", ""},
     TD_OPTION,
     "layout_create: option \"c\" is not KEY=VALUE; write it without spaces, as in cs=4"},
    {{"r c -> r c", "c=", ""},
     {"r c -> r c", "c=4", ""},
     TD_OPTION,
     "layout_create: option \"c=\" is not KEY=VALUE; write it without spaces, as in cs=4"},
    {{"r c -> r c", "c=four", ""},
     {"r c -> r c", "c=4", ""},
     TD_OPTION,
     "layout_create: option c=four: pass a whole number of at least 1"},
    {{"r c -> r c", "c=0", ""},
     {"r c -> r c", "c=1", ""},
     TD_OPTION,
     "layout_create: option c=0: pass a whole number of at least 1"},
    {{"r c -> r c", "c=-4", ""},
     {"r c -> r c", "c=4", ""},
     TD_OPTION,
     "layout_create: option c=-4: pass a whole number of at least 1"},
    {{"r c -> r c", "c=4 c=5", ""},
     {"r c -> r c", "r=4 c=5", ""},
     TD_OPTION,
     "layout_create: option c is given twice, 4 and 5; give it once"},
    {{"r c -> r c", "pad=0 pad=1", ""},
     {"r c -> r c", "pad=1", ""},
     TD_OPTION,
     "layout_create: option pad is given twice; give it once"},
    {{"r c -> r c", "pad=abc", ""},
     {"r c -> r c", "pad=-1.5", ""},
     TD_OPTION,
     "layout_create: option pad=abc: pass a number in the memory's dtype, as in pad=0, pad=-1 or pad=0.5"},
    {{"r c -> r c", "pad_at=middle", ""},
     {"r c -> r c", "pad_at=begin", ""},
     TD_OPTION,
     "layout_create: option pad_at=middle: pass end or begin"},
    {{"r c -> r c", "tail=cut", ""},
     {"r c -> r c", "tail=clip", ""},
     TD_OPTION,
     "layout_create: option tail=cut: pass tail=clip, or pad=VALUE to write padding"},
    {{"r c -> r c", "pad=0 tail=clip", ""},
     {"r c -> r c", "tail=clip", ""},
     TD_OPTION,
     "layout_create: pad=0 and tail=clip exclude each other; keep one"},
    {{"r c -> r c", "pad_at=begin tail=clip", ""},
     {"r c -> r c", "pad_at=begin pad=0", ""},
     TD_OPTION,
     "layout_create: pad_at=begin and tail=clip exclude each other; keep one"},
    {{"r c -> r c", "slot=0", ""},
     {"r c -> r c", "slot=1", ""},
     TD_OPTION,
     "layout_create: option slot=0: pass a whole number of at least 1"},
    {{"r c -> r c", "lsb=-1", ""},
     {"r c -> r c", "lsb=0", ""},
     TD_OPTION,
     "layout_create: option lsb=-1: pass a whole number of at least 0"},
    {{"r c -> r c", "lanes=big", ""},
     {"r c -> r c", "lanes=msb", ""},
     TD_OPTION,
     "layout_create: option lanes=big: pass lsb or msb"},
    {{"r c -> r c", "beats=0", ""},
     {"r c -> r c", "beats=2", ""},
     TD_OPTION,
     "layout_create: option beats=0: pass a whole number of at least 1"},
    {{"r c -> r c", "fill=one", ""},
     {"r c -> r c", "fill=keep", ""},
     TD_OPTION,
     "layout_create: option fill=one: pass zero or keep"},
    {{"r c -> r c", "tune=yes", ""},
     {"r c -> r c", "tune=on", ""},
     TD_OPTION,
     "layout_create: option tune=yes: pass off or on"},
    {{"r c -> r c", "alias=first", ""},
     {"r c -> r c", "alias=last", ""},
     TD_OPTION,
     "layout_create: option alias=first: pass error or last"},
    {{"r c -> r c", "dtype=i65", ""},
     {"r c -> r c", "dtype=i64", ""},
     TD_DTYPE,
     "layout_create: dtype \"i65\" has 65 bits, and an integer has 1 to 64; use i64"},
    {{"r c -> r c", "dtype=bf15", ""},
     {"r c -> r c", "dtype=bf16", ""},
     TD_DTYPE,
     "layout_create: unknown dtype \"bf15\"; did you mean \"bf16\"? a dtype is u1..u64, i1..i64, f16, bf16, "
     "f32, f64, e<X>m<Y>, q<m>.<n> or uq<m>.<n>"},
    {{"r c -> r c", "", "4*q"},
     {"r c -> r c", "", "4*r"},
     TD_ADDRESS,
     "layout_create: unknown axis q in address \"4*q\"; the word axes are: r; index is the number of the "
     "word"},
    {{"r c -> r c", "", "4*clog2(r)"},
     {"r c -> r c", "", "4*max(r, 0)"},
     TD_ADDRESS,
     "layout_create: unknown function clog2 in address \"4*clog2(r)\"; the functions are: min max rev interleave dim"},
    {{"rows c -> rows c", "", "4*row"},
     {"rows c -> rows c", "", "4*rows"},
     TD_ADDRESS,
     "layout_create: unknown axis row in address \"4*row\"; did you mean rows? (word axes: rows)"},
    {{"r c -> r c", "beats=2", "4*r + c"},
     {"r c -> r c", "", "4*r + c"},
     TD_ADDRESS,
     "layout_create: address \"4*r + c\" names lane axis c, so that its lanes lie in words of their own; drop beats="},
    {{"r c -> r c", "alias=last", "4*r + c"},
     {"r c -> r c", "fill=keep", "4*r + c"},
     TD_ADDRESS,
     "layout_create: address \"4*r + c\" names lane axis c, so that its lanes lie in words of their own; drop "
     "alias=last"},
    {{"r c -> r c", "", "4*r +"},
     {"r c -> r c", "", "4*r + 1"},
     TD_ADDRESS,
     "layout_create: unexpected end in address \"4*r +\"; write constants, word axes, index, and + - * / % "
     "& | ^ << >> ( )"},
    {{"r c -> r c", "", "4*r $ 1"},
     {"r c -> r c", "", "4*r ^ 1"},
     TD_ADDRESS,
     "layout_create: unexpected character '$' in address \"4*r $ 1\"; write constants, word axes, index, and + "
     "- * / % & | ^ << >> ( )"},
    {{"r c -> r c", "", "4*(r + 1"},
     {"r c -> r c", "", "4*(r + 1)"},
     TD_ADDRESS,
     "layout_create: ( without ) in address \"4*(r + 1\"; close it"},
    {{"r c -> r c", "", "4 r"},
     {"r c -> r c", "", "4*r"},
     TD_ADDRESS,
     "layout_create: unexpected character 'r' in address \"4 r\"; write constants, word axes, index, and + - * "
     "/ % & | ^ << >> ( )"},
    {{"r c -> r c", "", "0x + r"},
     {"r c -> r c", "", "0x0 + r"},
     TD_ADDRESS,
     "layout_create: a number that does not read in address \"0x + r\"; write decimal or 0x digits, below "
     "2^63"},
    {{"r c -> r c", "", "9223372036854775808 + r"},
     {"r c -> r c", "", "9223372036854775807 + r"},
     TD_ADDRESS,
     "layout_create: a number that does not read in address \"9223372036854775808 + r\"; write decimal or "
     "0x digits, below 2^63"},
    {{"r c -> r c", "", "rev(r)"},
     {"r c -> r c", "", "rev(r, 4)"},
     TD_ADDRESS,
     "layout_create: wrong number of arguments in address \"rev(r)\"; write rev(x, bits)"},
    {{"r c -> r c", "", "rev(r, r)"},
     {"r c -> r c", "", "rev(r, 4)"},
     TD_ADDRESS,
     "layout_create: rev needs a constant number of bits from 1 to 62 in address \"rev(r, r)\"; write "
     "rev(x, bits)"},
    {{"r c -> r c", "", "dim(r)"},
     {"r c -> r c", "", "dim(1)*r"},
     TD_ADDRESS,
     "layout_create: dim needs a constant dimension number in address \"dim(r)\"; write dim(n), the length "
     "of tensor dimension n"},
    {{"r c -> r c", "", "base = 4*r"},
     {"r c -> r c", "", "addr = 4*r"},
     TD_ADDRESS,
     "layout_create: \"base =\" in address \"base = 4*r\"; assign to bank or addr"},
    {{"r c -> r c", "", "addr = r; addr = 4*r"},
     {"r c -> r c", "", "bank = 0; addr = 4*r"},
     TD_ADDRESS,
     "layout_create: addr is given twice in address \"addr = r; addr = 4*r\"; give it once"},
    {{"b r c -> b r c", "", "bank = r; addr = r"},
     {"b r c -> b r c", "", "addr = r"},
     TD_ADDRESS,
     "layout_create: \"bank =\" in address \"bank = r; addr = r\" of a pattern with a bank group; drop one: "
     "the bank group already chooses the bank"},
};

static td_status create(strings s, td_layout **out)
{
    return td_layout_create(s.pattern, s.options, s.address, out);
}

static void assert_first_line(const char *expected)
{
    char line[2048];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
    assert_string_equal(line, expected);
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        td_layout *layout = NULL;
        td_status status = create(refused[i].wrong, &layout);
        assert_first_line(refused[i].message);
        assert_string_equal(td_status_name(status), td_status_name(refused[i].status));
        assert_null(layout);
        ASSERT_OK(create(refused[i].right, &layout));
        td_layout_destroy(&layout);
        assert_null(layout);
    }
}

static void test_null(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    ASSERT_REFUSED(td_layout_create(NULL, "", "", &layout), TD_ARGUMENT,
                   "layout_create: the pattern is NULL; pass one");
    ASSERT_REFUSED(td_layout_create("r c -> r c", "", "", NULL), TD_ARGUMENT, "layout_create: out is NULL; pass one");
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &layout));
    td_layout_destroy(&layout);
    td_layout_destroy(&layout);
    td_layout_destroy(NULL);
}

static void test_caret(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    assert_int_equal(td_layout_create("rows c -> rows c", "", "8 + 4*row", &layout), TD_ADDRESS);
    assert_string_equal(strchr(td_last_error(), '\n'), "\n    8 + 4*row\n          ^~~");
    assert_int_equal(td_layout_create("r c -> (r c) chan chan", "", "", &layout), TD_PATTERN);
    assert_string_equal(strchr(td_last_error(), '\n'), "\n    r c -> (r c) chan chan\n                      ^~~~");
    assert_int_equal(td_layout_create("rows row c -> rows c", "", "", &layout), TD_PATTERN);
    assert_string_equal(strchr(td_last_error(), '\n'), "\n    rows row c -> rows c\n         ^~~");
}

/* Equal layouts print equal strings, and what is printed reads back as itself. */
static void test_canonical(void **state)
{
    (void)state;
    static const struct {
        strings given, printed;
    } rows[] = {
        {{" b  w (ct cs)->( b w ct )cs", "  cs=4", ""}, {"b w (ct cs) -> (b w ct) cs", "cs=4", ""}},
        {{"(r) () -> r 1", "", ""}, {"r 1 -> r 1", "", ""}},
        {{"r c -> r c", "pad=-1 c=0x10 r=4", "0x10+4*r"}, {"r c -> r c", "r=4 c=16 pad=-1", "16 + 4*r"}},
        {{"r c -> r c", "fill=zero lanes=lsb beats=1 alias=error pad_at=end lsb=0 tune=off", "((r))"},
         {"r c -> r c", "", "r"}},
        {{"r c -> r c", "dtype=i8", "r - (1 - (2*r + 3)*4)"}, {"r c -> r c", "dtype=i8", "r - (1 - (2*r + 3)*4)"}},
        {{"r c -> r c", "", "(r + 1) % 4 ^ r & 1 << 2"}, {"r c -> r c", "", "(r + 1)%4 ^ r & 4"}},
        {{"r c -> r c", "", "addr = r; bank=r&1"}, {"r c -> r c", "", "bank = r & 1; addr = r"}},
        {{"b ... c -> b ... c", "", ""}, {"b ... c -> b ... c", "", ""}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int again = 0; again < 2; again++) {
            td_layout *layout = NULL;
            ASSERT_OK(create(again ? rows[i].printed : rows[i].given, &layout));
            assert_string_equal(td_layout_pattern(layout), rows[i].printed.pattern);
            assert_string_equal(td_layout_options(layout), rows[i].printed.options);
            assert_string_equal(td_layout_address(layout), rows[i].printed.address);
            td_layout_destroy(&layout);
        }
}

/* As many axes as the language promises, and one more than there is room for. */
static void test_many_axes(void **state)
{
    (void)state;
    for (int axes = 32; axes <= 65; axes += axes == 32 ? 32 : 1) {
        char left[1024] = "", pattern[2048];
        for (int i = 0; i < axes; i++)
            snprintf(left + strlen(left), sizeof left - strlen(left), " a%d", i);
        snprintf(pattern, sizeof pattern, "(%s) -> (%s) ()", left, left);
        td_layout *layout = NULL;
        td_status status = td_layout_create(pattern, "", "", &layout);
        if (axes <= 64)
            assert_int_equal(status, TD_OK);
        else
            assert_int_equal(status, TD_PATTERN);
        td_layout_destroy(&layout);
    }
}

/* The text is refused with a message that has both, in this order. */
static void refused_with(const char *pattern, const char *options, const char *address, const char *what,
                         const char *fix)
{
    td_layout *layout = NULL;
    assert_int_not_equal(td_layout_create(pattern, options, address, &layout), TD_OK);
    const char *at = strstr(td_last_error(), what);
    if (!at || !strstr(at, fix))
        fail_msg("%s", td_last_error());
    assert_null(layout);
}

/* What one text may have of everything else. */
static void test_limits(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    char text[4000] = "r";
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " + r*%d", i + 2);
    refused_with("r c -> r c", "", text, "too many operators", "; use at most 256 terms");
    memset(text, '(', 70);
    strcpy(text + 70, "r");
    memset(text + 71, ')', 70);
    text[141] = 0;
    refused_with("r c -> r c", "", text, "nested too deep", "; use at most 64 levels");
    text[0] = 0;
    for (int i = 0; i < 34; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "a%d ", i);
    strcat(text, "-> a0 a1");
    refused_with(text, "", "", "too many groups on the left", "; use at most 32");
    strcpy(text, "n=1");
    for (int i = 0; i < 80; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " x%d=1", i);
    ASSERT_REFUSED(td_layout_create("preset:vnni", text, "", &layout), TD_OPTION,
                   "layout_create: preset vnni got more than 64 options; pass fewer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_null),      cmocka_unit_test(test_caret),
        cmocka_unit_test(test_canonical), cmocka_unit_test(test_many_axes), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
