/* The text of programs: every illegal text beside the legal one that it should have been, with the exact message. */
#include "support.h"

/* Memories and tensors that every text may use: a of 64 words of 32 bits, and two banks b; x i8 (4, 4), y i8 (4, 4),
 * v i8 (4), f f32 (4, 4). */
typedef struct things {
    td_memory *a, *bank[2];
    td_tensor *x, *y, *v, *f;
    td_layout *rows;
} things;

static void make_things(things *t)
{
    ASSERT_OK(td_memory_create("a", 32, 64, &t->a));
    ASSERT_OK(td_memory_create("b0", 32, 64, &t->bank[0]));
    ASSERT_OK(td_memory_create("b1", 32, 64, &t->bank[1]));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &t->x));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 4), &t->y));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4), &t->v));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 4), &t->f));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &t->rows));
}

static void free_things(things *t)
{
    td_memory_destroy(&t->a);
    td_memory_destroy(&t->bank[0]);
    td_memory_destroy(&t->bank[1]);
    td_tensor_destroy(&t->x);
    td_tensor_destroy(&t->y);
    td_tensor_destroy(&t->v);
    td_tensor_destroy(&t->f);
    td_layout_destroy(&t->rows);
}

static void bind_things(td_program *p, things *t)
{
    ASSERT_OK(td_program_bind_memory(p, "a", t->a));
    ASSERT_OK(td_program_bind_banks(p, "b", t->bank, 2));
    ASSERT_OK(td_program_bind_tensor(p, "x", t->x));
    ASSERT_OK(td_program_bind_tensor(p, "y", t->y));
    ASSERT_OK(td_program_bind_tensor(p, "v", t->v));
    ASSERT_OK(td_program_bind_tensor(p, "f", t->f));
    ASSERT_OK(td_program_bind_layout(p, "rows", t->rows));
}

typedef struct twin {
    const char *legal, *illegal;
    td_status status;
    const char *message; /* behind "program_create: " or "program_compile: " */
} twin;

/* -- refused when it is read --------------------------------------------------------------------------------------- */

static const twin reading[] = {
    {"load a x rows", "lod a x rows", TD_FORMAT,
     "line 1: no step \"lod\"; did you mean \"load\"?\n    lod a x rows\n    ^~~"},
    {"load a x rows", "# a\n\nqqqqqqqqqq a", TD_FORMAT,
     "line 3: no step \"qqqqqqqqqq\"; use tensor, load, dump, fill, write, save, checkpoint, for, label, arg, use or "
     "layout\n    qqqqqqqqqq a\n    ^~~~~~~~~~"},
    {"load a x rows", "load", TD_FORMAT, "line 1: the line ends where a memory is expected\n    load\n        ^"},
    {"load a x rows", "load a", TD_FORMAT, "line 1: the line ends where a tensor is expected\n    load a\n          ^"},
    {"load a x rows", "load a x", TD_FORMAT,
     "line 1: the line ends where a layout is expected\n    load a x\n            ^"},
    {"load a x rows", "load \"a\" x rows", TD_FORMAT,
     "line 1: \"\"a\"\" where a memory is expected\n    load \"a\" x rows\n         ^~~"},
    {"load a x rows as \"u8\"", "load a x rows as u8", TD_FORMAT,
     "line 1: \"u8\" where a text, as \"i8 scale=0.05\", is expected\n    load a x rows as u8\n                     "
     "^~"},
    {"load a x rows over", "load a x rows ovre", TD_FORMAT,
     "line 1: \"ovre\" behind the end of the step; take it out\n    load a x rows ovre\n                  ^~~~"},
    {"load a x rows at 4", "load a x rows at 4 at 5", TD_FORMAT,
     "line 1: \"at 5\" behind the end of the step; take it out\n    load a x rows at 4 at 5\n                       "
     "^~"},
    {"load a x rows at (4)", "load a x rows at (4", TD_FORMAT,
     "line 1: a parenthesis that is not closed; end it with )\n    load a x rows at (4\n                       ^"},
    {"load a x rows at 4", "load a x rows at +", TD_FORMAT,
     "line 1: \"+\" where a number is expected\n    load a x rows at +\n                     ^"},
    {"load a x rows at 4", "load a x rows at 0x8000000000000000", TD_FORMAT,
     "line 1: a number past 63 bits; write a smaller one\n    load a x rows at 0x8000000000000000\n"
     "                     ^~~~~~~~~~~~~~~~~~"},
    {"load a x[1:3] rows", "load a x[1:3 rows", TD_FORMAT,
     "line 1: a bracket that is not closed; end it with ]\n    load a x[1:3 rows\n                 ^~~~"},
    {"load a (scale x 2) rows", "load a (scale x 2 rows", TD_FORMAT,
     "line 1: a parenthesis that is not closed; end it with )\n    load a (scale x 2 rows\n                          "
     "^"},
    {"load a x \"r c -> r c\"", "load a x \"r c -> r c", TD_FORMAT,
     "line 1: a text without its second quote; end it with \"\n    load a x \"r c -> r c\n             ^~~~~~~~~~~"},
    {"tensor z = scale x 2", "tensor z scale x 2", TD_FORMAT,
     "line 1: no = behind the name; write one\n    tensor z scale x 2\n             ^~~~~"},
    {"tensor z = scale x 2", "tensor z = scael x 2", TD_FORMAT,
     "line 1: no step \"scael\"; did you mean \"scale\"?\n    tensor z = scael x 2\n               ^~~~~"},
    {"tensor z = scale x 2", "tensor z = qqqqqqqqqq x 2", TD_FORMAT,
     "line 1: no step \"qqqqqqqqqq\"; use open, convert, scale, add, mul, clamp, slice, concat, transpose, fill, dump "
     "or "
     "read\n    tensor z = qqqqqqqqqq x 2\n               ^~~~~~~~~~"},
    {"tensor z = scale x 2", "tensor z = scale x", TD_FORMAT,
     "line 1: the line ends where a number is expected\n    tensor z = scale x\n                      ^"},
    {"tensor z = clamp x 0 1", "tensor z = clamp x 0", TD_FORMAT,
     "line 1: the line ends where a second number is expected\n    tensor z = clamp x 0\n                        ^"},
    {"tensor z = concat x y axis 0", "tensor z = concat x y", TD_FORMAT,
     "line 1: no axis; end the step with axis 0, or another dimension\n    tensor z = concat x y\n"
     "                         ^"},
    {"tensor z = concat x axis 0", "tensor z = concat axis 0", TD_FORMAT,
     "line 1: concat of no tensor; name at least one\n    tensor z = concat axis 0\n               ^~~~~~"},
    {"tensor z = fill i8 4 ramp", "tensor z = fill i8 4", TD_FORMAT,
     "line 1: the line ends where a filling, as ramp or random seed=7, is expected\n    tensor z = fill i8 4\n"
     "                        ^"},
    {"for t in 0..4:\n  load a v \"c -> 1 c\" at t", "for t 0..4:", TD_FORMAT,
     "line 1: no `in` behind the variable; write for t in 0..16:\n    for t 0..4:\n          ^~~~~"},
    {"for t in 0..4:\n  load a v \"c -> 1 c\" at t", "for t in 0:", TD_FORMAT,
     "line 1: no .. between the ends; write for t in 0..16:\n    for t in 0:\n              ^"},
    {"for t in 0..4:\n  load a v \"c -> 1 c\" at t", "for t in 0..4", TD_FORMAT,
     "line 1: no : at the end; write one, and the steps on lines below, indented\n    for t in 0..4\n"
     "                 ^"},
    {"for t in 0..4:\n  load a v \"c -> 1 c\" at t", "for t in 0..4:\nload a x rows", TD_FORMAT,
     "line 2: the block above has no steps; indent this line by more than 0 blanks\n    load a x rows\n    ^~~~"},
    {"load a x rows\nfill a zero", "load a x rows\n  fill a zero", TD_FORMAT,
     "line 2: an indentation of 2 blanks; use 0, as the lines above\n      fill a zero\n      ^~~~"},
    {"label l:\n  fill a zero", "label l:\n\tfill a zero", TD_FORMAT,
     "line 2: a tab in front of the step; indent with blanks\n    \tfill a zero\n     ^~~~"},
    {"arg n = 3", "arg n = 3\narg n = 4", TD_FORMAT,
     "line 2: argument n stands twice; take one of them out\n    arg n = 4\n        ^"},
    {"write a 0 1", "write a 0", TD_FORMAT,
     "line 1: the line ends where a word, as 0x1f, is expected\n    write a 0\n             ^"},
    {"checkpoint c a x rows", "checkpoint c", TD_FORMAT,
     "line 1: the line ends where a memory or a tensor is expected\n    checkpoint c\n                ^"},
};

static void test_reading(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++) {
        const twin *t = &reading[i];
        td_program *p = NULL;
        char message[1024];
        things all = {0};
        make_things(&all);
        ASSERT_OK(td_program_create(t->legal, &p));
        bind_things(p, &all);
        ASSERT_OK(td_program_compile(p, NULL));
        td_program_destroy(&p);
        snprintf(message, sizeof message, "program_create: %s", t->message);
        ASSERT_REFUSED(td_program_create(t->illegal, &p), t->status, message);
        assert_null(p);
        free_things(&all);
    }
}

/* -- refused when it is compiled ----------------------------------------------------------------------------------- */

static const twin compiling[] = {
    {"load a x rows", "load c x rows", TD_FORMAT,
     "line 1: no memory \"c\"; bind one of this name\n    load c x rows\n         ^"},
    {"load a x rows", "load a xx rows", TD_FORMAT,
     "line 1: no tensor \"xx\"; did you mean \"x\"?\n    load a xx rows\n           ^~"},
    {"load a x rows", "load a qqq rows", TD_FORMAT,
     "line 1: no tensor \"qqq\"; bind one, or write tensor qqq = .. above\n    load a qqq rows\n           ^~~"},
    {"load a x rows", "load a x row", TD_FORMAT,
     "line 1: no layout \"row\"; did you mean \"rows\"?\n    load a x row\n             ^~~"},
    {"load a x rows", "load a x tiles", TD_FORMAT,
     "line 1: no layout \"tiles\"; bind one, or write layout tiles = \"r c -> r c\" or use \"FILE\" above\n    load a "
     "x tiles\n"
     "             ^~~~~"},
    {"load a x rows at 60", "load a x rows at 61", TD_RANGE,
     "line 1: word 64 is past \"a\" of 64 words; use an address of at most 60\n    load a x rows at 61\n    ^~~~"},
    {"for t in 0..16:\n  load a x rows at 4*t", "for t in 0..17:\n  load a x rows at 4*t", TD_RANGE,
     "line 2: word 67 with t=16 is past \"a\" of 64 words; use an address of at most 60\n      load a x rows at 4*t\n"
     "      ^~~~"},
    {"load a x rows at 0", "load a x rows at -1", TD_RANGE,
     "line 1: the address behind `at` is -1; it has to be 0 or more\n    load a x rows at -1\n    ^~~~"},
    {"arg n = 2\nload a x rows at 8/n", "arg n = 0\nload a x rows at 8/n", TD_RANGE,
     "line 2: 8 divided by 0; divide by something else\n    load a x rows at 8/n\n                      ^"},
    {"arg n = 2\nload a x rows at n", "arg n = 2\nload a x rows at m", TD_FORMAT,
     "line 2: no argument and no loop variable \"m\"; declare it: arg m = 0\n    load a x rows at m\n"
     "                     ^"},
    {"arg count = 2\nload a x rows at count", "arg count = 2\nload a x rows at cuont", TD_FORMAT,
     "line 2: no argument and no loop variable \"cuont\"; did you mean \"count\"?\n    load a x rows at cuont\n"
     "                     ^~~~~"},
    {"arg n = 2\nload a x rows at n", "arg n = \"two\"\nload a x rows at n", TD_FORMAT,
     "line 2: the argument n is \"two\"; pass a whole number\n    load a x rows at n\n                     ^"},
    {"load a x rows\nload a y rows at 4", "load a x rows\nload a y rows at 3", TD_ALIAS,
     "line 2: word 3 of \"a\" is written by the load in line 1 already, and nothing has read it; move one of them, or "
     "end this one with `over`\n    load a y rows at 3\n    ^~~~"},
    {"load a x rows\nload a y rows over", "load a x rows\nload a y rows", TD_ALIAS,
     "line 2: word 0 of \"a\" is written by the load in line 1 already, and nothing has read it; move one of them, or "
     "end this one with `over`\n    load a y rows\n    ^~~~"},
    {"load a x rows\ntensor d = dump a i8 4x4 rows\nload a y rows",
     "load a x rows\ntensor d = dump a i8 4x4 rows at 9\n"
     "load a y rows",
     TD_ALIAS,
     "line 3: word 0 of \"a\" is written by the load in line 1 already, and nothing has read it; move one of them, or "
     "end this one with `over`\n    load a y rows\n    ^~~~"},
    {"fill a zero\nload a x rows", "for t in 0..2:\n  load a x rows at t", TD_ALIAS,
     "line 2: word 1 of \"a\" is written with t=1 by the load in line 2 with t=0 already, and nothing has read it; "
     "move "
     "one of them, or end this one with `over`\n      load a x rows at t\n      ^~~~"},
    {"tensor z = add x y", "tensor z = add x f", TD_DTYPE, NULL},
    {"tensor z = scale x 2", "tensor z = scale x two", TD_FORMAT,
     "line 1: \"two\" is no number; write one, as 0.05 or -inf\n    tensor z = scale x two\n                       "
     "^~~"},
    {"tensor z = concat x y axis 1", "tensor z = concat x y axis 2", TD_RANGE,
     "line 1: axis 2 of a tensor of 2 dimensions; use 0 to 1\n    tensor z = concat x y axis 2\n"
     "                               ^"},
    {"tensor z = concat x y axis 1", "tensor z = concat x f axis 1", TD_SHAPE,
     "line 1: f32 (4, 4) cannot follow i8 (4, 4) along axis 1; make dtype and other extents equal\n"
     "    tensor z = concat x f axis 1\n                        ^"},
    {"tensor z = fill i8 4x4 ramp", "tensor z = fill i8 4x ramp", TD_SHAPE,
     "line 1: shape \"4x\" has an x without an extent on each side; write it as 3x8x8\n"
     "    tensor z = fill i8 4x ramp\n                       ^~"},
    {"tensor z = transpose x \"1 0\"", "tensor z = transpose x \"1 1\"", TD_OPTION,
     "line 1: order \"1 1\" of a tensor of 2 dimensions; name each of 0 to 1 once\n    tensor z = transpose x \"1 1\"\n"
     "                           ^~~~~"},
    {"fill a zero", "fill b zero", TD_ARGUMENT,
     "line 1: b is 2 banks, and words are of one memory; bind each bank by a name of its own\n    fill b zero\n"
     "         ^"},
    {"fill a zero from 60 count 4", "fill a zero from 60 count 5", TD_RANGE,
     "line 1: words [60, 65) of \"a\", which has 64; name words that are there\n    fill a zero from 60 count 5\n"
     "    ^~~~"},
    {"write a 63 0xffff_ffff", "write a 63 0x1ffffffff", TD_RANGE,
     "line 1: 0x1ffffffff has bits above the 32 of a word of \"a\"; write a smaller one\n    write a 63 0x1ffffffff\n"
     "               ^~~~~~~~~~~"},
    {"for t in 0..9:\n  for u in 0..0:\n    fill a zero", "for t in 0..999999:\n  for u in 0..0:\n    fill a zero",
     TD_RANGE,
     "line 1: more than 262144 iterations of all loops; run the program in parts\n    for t in 0..999999:\n    ^~~"},
    {"write a 63 17", "write a 63 seventeen", TD_FORMAT,
     "line 1: \"seventeen\" is no word; write one, as 0x1f or 31\n    write a 63 seventeen\n               ^~~~~~~~~"},
    {"dump a x rows", "tensor z = scale x 2 wrap\ndump a z rows", TD_ARGUMENT,
     "line 2: \"z\" is no tensor of the caller; bind one, or write tensor NAME = dump ..\n    dump a z rows\n"
     "           ^"},
    {"checkpoint c x y", "checkpoint c x f", TD_SHAPE,
     "line 1: i8 (4, 4) against a golden tensor that is f32 (4, 4); compare tensors of one kind\n"
     "    checkpoint c x f\n                 ^"},
    {"load a x matrix at 4", "load a (slice x \"0, 0\") matrix", TD_SHAPE,
     "line 1: a tensor of 0 dimensions as a matrix, which has 2 (or 1: one row); name a layout\n"
     "    load a (slice x \"0, 0\") matrix\n                            ^~~~~~"},
    {"label l:\n  fill a zero", "label l:\n  label m:\n    fill a zero", TD_FORMAT,
     "line 2: a label inside of label l; close that one first\n      label m:\n      ^~~~~"},
    {"arg n = 1\nlabel l:\n  fill a zero", "label l:\n  arg n = 1", TD_FORMAT,
     "line 2: arg inside of a block; move it to the top\n      arg n = 1\n      ^~~"},
    {"label l:\n  fill a zero", "label l:", TD_FORMAT,
     "line 1: a block without steps; write them below, indented\n    label l:\n    ^~~~~"},
    {"tensor z = scale x 1\ntensor w = scale x 1", "tensor z = scale x 1\ntensor z = scale x 1", TD_FORMAT,
     "line 2: tensor z stands in line 1 already; give it another name\n    tensor z = scale x 1\n           ^"},
    {"arg seed = 1\nfill a random seed={seed}", "arg seed = 1\nfill a random seed={sed}", TD_FORMAT,
     "line 2: no argument and no loop variable \"sed\"; did you mean \"seed\"?\n    fill a random seed={sed}\n"
     "           ^~~~~~~~~~~~~~~~~"},
    {"fill a random seed=1", "fill a \"random seed={1\"", TD_FORMAT,
     "line 1: a { that is not closed; write {name}, or {{ for {\n    fill a \"random seed={1\"\n"
     "           ^~~~~~~~~~~~~~~~"},
};

static void test_compiling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof compiling / sizeof *compiling; i++) {
        const twin *t = &compiling[i];
        td_program *p = NULL;
        char message[1024];
        things all = {0};
        make_things(&all);
        ASSERT_OK(td_program_create(t->legal, &p));
        bind_things(p, &all);
        ASSERT_OK(td_program_compile(p, NULL));
        td_program_destroy(&p);
        ASSERT_OK(td_program_create(t->illegal, &p));
        bind_things(p, &all);
        snprintf(message, sizeof message, "program_compile: %s", t->message ? t->message : "");
        if (t->message)
            ASSERT_REFUSED(td_program_compile(p, NULL), t->status, message);
        else
            assert_int_equal(td_program_compile(p, NULL), t->status);
        td_program_destroy(&p);
        free_things(&all);
    }
}

static void test_long_expression(void **state)
{
    (void)state;
    char text[1024] = "fill a zero from 0";
    td_program *p = NULL;
    for (int i = 0; i < 257; i++)
        strcat(text, "+0");
    assert_int_equal(td_program_create(text, &p), TD_FORMAT);
    assert_non_null(strstr(td_last_error(), "line 1: an expression of more than 256 operators; write it with fewer\n"));
    text[strlen(text) - 2] = 0;
    ASSERT_OK(td_program_create(text, &p));
    td_program_destroy(&p);
}

/* `count` times `part` between two ends is refused with this line, when it is read or compiled. */
static void assert_too_much(const char *begin, const char *part, int count, const char *end, td_status status,
                            const char *line)
{
    static char text[1 << 15];
    things all = {0};
    td_program *p = NULL;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", begin);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", part);
    snprintf(text + used, sizeof text - used, "%s", end);
    make_things(&all);
    td_status got = td_program_create(text, &p);
    if (!got) {
        bind_things(p, &all);
        got = td_program_compile(p, NULL);
    }
    assert_string_equal(td_status_name(got), td_status_name(status));
    if (!strstr(td_last_error(), line))
        fail_msg("%s: not in: %s", line, td_last_error());
    td_program_destroy(&p);
    free_things(&all);
}

static void test_limits(void **state)
{
    (void)state;
    assert_too_much("fill a zero from ", "(", 66, "0", TD_FORMAT,
                    "line 1: an expression in more than 64 parentheses; write it with fewer\n");
    assert_too_much("load a ", "(clamp ", 66, "x", TD_FORMAT,
                    "line 1: steps in more than 32 parentheses; give one of them a name\n");
    assert_too_much("tensor z = concat", " x", 65, "", TD_FORMAT,
                    "line 1: more than 64 tensors; join them in two steps\n");
    assert_too_much("write a 0", " 1", 1025, "", TD_FORMAT,
                    "line 1: more than 1024 words; write the others on a line of their own\n");
    assert_too_much("load a x[", "0, ", 33, "0] rows", TD_SHAPE,
                    "line 1: more than 32 places in brackets; a tensor has at most so many\n");
    assert_too_much("load a (scale x ", "nan", 1, ") rows", TD_RANGE,
                    "line 1: nan is no number to calculate with; write another one\n");
    assert_too_much("fill a zero from ", "9223372036854775807", 1, " + 1", TD_OVERFLOW, " give a number past 63 bits");
    assert_too_much("load a (fill i8 4x4 constant=", "many", 1, ") rows", TD_OPTION,
                    "\"many\" is no number; write constant=1.5\n");
    assert_too_much("tensor z = concat ", "(fill i8 4611686018427387904 zero) ", 2, "axis 0", TD_OVERFLOW,
                    "line 1: the extents along axis 0 pass 63 bits; join fewer tensors\n");
    assert_too_much("for t in 0..2048:\n", "  write a 0 1\n", 129, "", TD_RANGE,
                    "line 18: more than 262144 steps with all loops unrolled; run the program in parts\n");
}

/* Sixteen loops in each other. */
static void test_blocks_in_blocks(void **state)
{
    (void)state;
    char text[1024];
    size_t used = 0;
    td_program *p = NULL;
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%*sfor t%d in 0..1:\n", i, "", i);
    snprintf(text + used, sizeof text - used, "%*sfill a zero\n", 16, "");
    ASSERT_REFUSED(td_program_create(text, &p), TD_FORMAT,
                   "program_create: line 17: blocks in more than 15 others; write fewer\n"
                   "                    fill a zero\n                    ^~~~");
}

static void test_before_compiling(void **state)
{
    (void)state;
    td_program *p = NULL;
    const td_tensor *t = NULL;
    char *text = NULL;
    ASSERT_OK(td_program_create("tensor z = fill i8 4x4 ramp", &p));
    ASSERT_REFUSED(td_program_tensor(p, "z", &t), TD_ARGUMENT,
                   "program_tensor: the program is not compiled; run it first");
    ASSERT_OK(td_program_compile(p, NULL));
    ASSERT_REFUSED(td_program_tensor(p, "qqqqqq", &t), TD_ARGUMENT,
                   "program_tensor: no tensor \"qqqqqq\"; name one of the program");
    ASSERT_REFUSED(td_program_text(p, NULL), TD_ARGUMENT, "program_text: the output is NULL; pass one");
    ASSERT_REFUSED(td_program_text(NULL, &text), TD_ARGUMENT, "program_text: the program is NULL; pass one");
    td_program_destroy(&p);
}

/* Refusals of calls below keep their own text, and have the place of the step. */
static void test_places(void **state)
{
    (void)state;
    things all = {0};
    td_program *p = NULL;
    make_things(&all);
    ASSERT_OK(td_program_create("fill a zero\nload a f rows", &p));
    bind_things(p, &all);
    ASSERT_REFUSED(
        td_program_compile(p, NULL), TD_RANGE,
        "program_compile: line 2: the lanes of \"r c -> r c\" end at bit 128 (4 lanes of 32 bits), the word has "
        "32 bits; use fewer lanes, a wider memory, or beats=4\n    r c -> r c\n             ^\n"
        "    shape (4, 4)\n    load a f rows\n    ^~~~");
    td_program_destroy(&p);
    ASSERT_OK(td_program_create("load a x rows as \"i9 scla=2\"", &p));
    bind_things(p, &all);
    assert_int_equal(td_program_compile(p, NULL), TD_OPTION);
    assert_non_null(strstr(td_last_error(), "\n    load a x rows as \"i9 scla=2\"\n    ^~~~"));
    td_program_destroy(&p);
    write_file("p.td", "load a x rows\nlaod a x rows\n", 28);
    ASSERT_REFUSED(td_program_open("p.td", &p), TD_FORMAT,
                   "program_open: p.td:2: no step \"laod\"; did you mean \"load\"?\n    laod a x rows\n    ^~~~");
    ASSERT_REFUSED(td_program_open("q.td", &p), TD_FILE,
                   "program_open: \"q.td\": cannot open the file: No such file or directory; check the path and its "
                   "permissions");
    write_file("z.td", "load\0a", 6);
    ASSERT_REFUSED(td_program_open("z.td", &p), TD_FORMAT,
                   "program_open: \"z.td\" has bytes that are 0; a program is text");
    free_things(&all);
}

static void test_arguments(void **state)
{
    (void)state;
    td_program *p = NULL;
    td_memory *m = NULL;
    td_checkpoints *out = NULL;
    ASSERT_OK(td_memory_create("m", 8, 4, &m));
    ASSERT_REFUSED(td_program_create("", NULL), TD_ARGUMENT, "program_create: the output is NULL; pass one");
    ASSERT_REFUSED(td_program_open(NULL, &p), TD_ARGUMENT, "program_open: the path is NULL; pass one");
    ASSERT_OK(td_program_create("arg seed = 1\nlabel load:\n  fill m \"random seed={seed}\"", &p));
    ASSERT_REFUSED(td_program_add(p, NULL), TD_ARGUMENT, "program_add: the text is NULL; pass one");
    ASSERT_REFUSED(td_program_bind_memory(p, "m", NULL), TD_ARGUMENT,
                   "program_bind_memory: the memory is NULL; pass one");
    ASSERT_REFUSED(td_program_bind_memory(p, "a b", m), TD_ARGUMENT,
                   "program_bind_memory: the name \"a b\"; use letters, digits and _, a letter first");
    ASSERT_REFUSED(td_program_bind_banks(p, "m", &m, 0), TD_ARGUMENT,
                   "program_bind_memory: no memory; pass at least one");
    ASSERT_REFUSED(td_program_bind_tensor(p, "t", NULL), TD_ARGUMENT,
                   "program_bind_tensor: the tensor is NULL; pass one");
    ASSERT_REFUSED(td_program_bind_layout(p, NULL, NULL), TD_ARGUMENT,
                   "program_bind_layout: the name is NULL; pass one");
    ASSERT_REFUSED(td_program_use(p, NULL), TD_ARGUMENT, "program_use: the path is NULL; pass one");
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_REFUSED(td_program_run(p, "laod", NULL, NULL), TD_ARGUMENT,
                   "program_run: no label \"laod\"; did you mean \"load\"?");
    ASSERT_REFUSED(td_program_run(p, "xyz", NULL, NULL), TD_ARGUMENT,
                   "program_run: no label \"xyz\"; write label xyz: in the program");
    ASSERT_REFUSED(td_program_run(p, NULL, "sed=3", NULL), TD_ARGUMENT,
                   "program_run: no argument \"sed\"; did you mean \"seed\"?");
    ASSERT_REFUSED(td_program_run(p, NULL, "qqq=3", NULL), TD_ARGUMENT,
                   "program_run: no argument \"qqq\"; declare it in the program: arg qqq = 0");
    ASSERT_REFUSED(td_program_run(p, NULL, "seed", NULL), TD_ARGUMENT,
                   "program_run: \"seed\" is no argument; pass NAME=VALUE, separated by blanks");
    ASSERT_REFUSED(td_program_run(p, NULL, "seed=\"3", NULL), TD_ARGUMENT,
                   "program_run: the value of seed has no second quote; end it with \"");
    ASSERT_REFUSED(td_program_run(NULL, NULL, NULL, &out), TD_ARGUMENT, "program_run: the program is NULL; pass one");
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_compiling),
        cmocka_unit_test_setup_teardown(test_places, enter_folder, leave_folder),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_blocks_in_blocks),
        cmocka_unit_test(test_before_compiling),
        cmocka_unit_test(test_long_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
