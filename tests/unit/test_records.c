/* ggml's packings and records: bytes by hand, every word of a record, round trips, every message. Random blocks are
 * held against ggml's formulas by tests/prop/ggml_oracle.py. */
#include "support.h"

#include <math.h>

static td_tensor *f32_tensor(td_shape shape, const float *values)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("f32", shape, &t));
    memcpy(td_tensor_data(t), values, (size_t)td_tensor_elems(t) * sizeof(float));
    return t;
}

static td_parts *pack(const char *packing, td_shape shape, const float *values)
{
    td_parts *parts = NULL;
    td_tensor *t = f32_tensor(shape, values);
    ASSERT_OK(td_parts_pack(t, packing, &parts));
    td_tensor_destroy(&t);
    return parts;
}

static void assert_record(const td_parts *parts, const char *record, const char *shape, const void *bytes, size_t size)
{
    td_tensor *t = NULL;
    char text[64] = "";
    ASSERT_OK(td_parts_record(parts, record, &t));
    const td_shape s = td_tensor_shape(t);
    for (size_t d = 0; d < s.rank; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", d ? " " : "", (unsigned)s.dim[d]);
    assert_string_equal(text, shape);
    assert_int_equal(td_tensor_elems(t) * td_tensor_elem_bytes(t), size);
    assert_memory_equal(td_tensor_data(t), bytes, size);
    td_tensor_destroy(&t);
}

static uint64_t code_of(td_parts *parts, const char *part, uint64_t elem)
{
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_parts_part(parts, part, &t));
    ASSERT_OK(td_tensor_get_bits(t, elem, &bits));
    return bits;
}

/* Tenstorrent's MX tiles: all scales, up to 16 bytes, then all elements, up to 16 bytes. */
static void tiles_of_mx_have_their_scales_first(void **state)
{
    (void)state;
    float values[32 * 32];
    unsigned char expected[32 + 32 * 16], nibble[32 * 32];
    for (size_t i = 0; i < 32 * 32; i++) {
        values[i] = i % 32 == 0 ? ldexpf(6, (int)(i / 32)) : 0;
        nibble[i] = i % 32 == 0 ? 7 : 0;
    }
    for (size_t i = 0; i < 32; i++)
        expected[i] = (unsigned char)(127 + i);
    for (size_t i = 0; i < 32 * 16; i++)
        expected[32 + i] = (unsigned char)(nibble[2 * i] | nibble[2 * i + 1] << 4);
    td_parts *p = pack("mxfp4", TD_SHAPE(32, 32), values);
    assert_record(p, "tile=32x32 scales align=16 elems align=16", "1 1 544", expected, sizeof expected);
    td_parts_destroy(&p);
}

/* -- ggml -- */

static void ggml_blocks_have_their_bytes(void **state)
{
    (void)state;
    float values[64] = {0};
    values[0] = -8; /* d = 1: the lowest code */
    values[1] = 7;
    values[16] = 3;
    td_parts *p = pack("q4_0", TD_SHAPE(32), values);
    unsigned char q4_0[18] = {0x00, 0x3c, 0xb0, 0x8f};
    memset(q4_0 + 4, 0x88, 14);
    assert_record(p, NULL, "1 18", q4_0, 18);
    assert_record(p, "ggml", "1 18", q4_0, 18);
    assert_int_equal(code_of(p, "elems", 0), 0x8); /* i4: -8 */
    assert_int_equal(code_of(p, "elems", 1), 7);
    assert_string_equal(td_parts_packing(p), "q4_0 elem=i4 scale=f16 axis=-1 block=32 rule=ggml tail=error");
    td_parts_destroy(&p);

    memset(values, 0, sizeof values); /* zeros: the scale is -0, as 0 / -8 */
    p = pack("q4_0", TD_SHAPE(32), values);
    assert_int_equal(code_of(p, "scales", 0), 0x8000);
    td_parts_destroy(&p);

    for (int i = 0; i < 32; i++)
        values[i] = (float)i;
    p = pack("q5_1", TD_SHAPE(32), values); /* d = 1, m = 0: codes are the numbers */
    unsigned char q5_1[24] = {0x00, 0x3c, 0, 0, 0, 0, 0xff, 0xff};
    for (int i = 0; i < 16; i++)
        q5_1[8 + i] = (unsigned char)(i | i << 4);
    assert_record(p, NULL, "1 24", q5_1, 24);
    assert_string_equal(td_parts_name(p, 2), "mins");
    td_parts_destroy(&p);

    memset(values, 0, sizeof values);
    values[5] = 127;
    values[6] = -2.5F; /* away from 0 */
    p = pack("q8_0", TD_SHAPE(2, 32), values);
    unsigned char q8_0[68] = {0x00, 0x3c, [7] = 127, [8] = 0xfd};
    assert_record(p, NULL, "2 1 34", q8_0, 68);
    td_parts_destroy(&p);

    memset(values, 0, sizeof values);
    values[0] = 6;
    values[1] = -2.5F; /* half way between 2 and 3: towards 0 */
    values[2] = -0.25F;
    values[17] = 1;
    p = pack("ggml_mxfp4", TD_SHAPE(32), values);
    unsigned char mxfp4[17] = {127, 7, 0x2c};
    assert_record(p, NULL, "1 17", mxfp4, 17);
    td_parts_destroy(&p);
    p = pack("mxfp4", TD_SHAPE(32), values); /* the same parts, but for halves and -0: 0x8 and ties to even */
    mxfp4[3] = 0x08;
    assert_record(p, "ggml", "1 17", mxfp4, 17);
    const unsigned char blocks[16] = {0xc7, 0x08, [8] = 0x20};
    assert_record(p, NULL, "1 16", blocks, 16); /* gpt-oss: neighbours in a byte */
    td_parts_destroy(&p);

    p = pack("ggml_nvfp4", TD_SHAPE(64), values);
    unsigned char nvfp4[36] = {0x38, [1] = 0x13, [4] = 7, 0x0c, [12] = 0};
    nvfp4[1] = (unsigned char)code_of(p, "scales", 1); /* 1 / 6: 0.171875 */
    assert_int_equal(nvfp4[1], 0x23);
    nvfp4[13] = 7;
    assert_record(p, NULL, "1 36", nvfp4, 36);
    td_parts_destroy(&p);
}

/* The last values below 2^N, whose logarithm an f32 does not tell from N: 44 below 2^127, 1 below 8, none below 2. */
static void ggml_rounds_the_logarithm(void **state)
{
    (void)state;
    const struct {
        uint32_t bits;
        unsigned scale;
    } rows[] = {
        {0x3fffffff, 125}, {0x40000000, 126}, {0x40ffffff, 128}, {0x40fffffe, 127},
        {0x7effffff, 252}, {0x7effffd4, 252}, {0x7effffd3, 251}, {0x3f7fffff, 124},
        {0x00000001, 0},   {0x3effffff, 123}, {0x3e7fffff, 123}, {0x3e7ffffe, 122},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float values[32] = {0};
        memcpy(values, &rows[i].bits, 4);
        td_parts *p = pack("ggml_mxfp4", TD_SHAPE(32), values);
        if (code_of(p, "scales", 0) != rows[i].scale)
            fail_msg("amax %08x: scale %u", rows[i].bits, (unsigned)code_of(p, "scales", 0));
        td_parts_destroy(&p);
    }
}

static void blocks_that_are_not_finite_are_void(void **state)
{
    (void)state;
    float values[64] = {1, NAN, 3};
    values[32] = INFINITY;
    td_parts *p = pack("q4_0", TD_SHAPE(64), values);
    assert_int_equal(code_of(p, "scales", 0), 0x7e00);
    assert_int_equal(code_of(p, "scales", 1), 0x7e00);
    assert_int_equal(code_of(p, "elems", 2), 0);
    td_parts_destroy(&p);
    p = pack("ggml_mxfp4", TD_SHAPE(64), values);
    assert_int_equal(code_of(p, "scales", 0), 0xff);
    assert_int_equal(code_of(p, "elems", 2), 0);
    td_parts_destroy(&p);
    p = pack("ggml_nvfp4", TD_SHAPE(64), values); /* the reference takes a NaN for 0, and clips an infinity */
    assert_int_equal(code_of(p, "scales", 0), 0x30);
    assert_int_equal(code_of(p, "elems", 2), 7);
    assert_int_equal(code_of(p, "elems", 1), 0);
    assert_int_equal(code_of(p, "scales", 2), 0x7e);
    assert_int_equal(code_of(p, "elems", 32), 0);
    td_parts_destroy(&p);
}

static void super_scales_are_read(void **state)
{
    (void)state;
    td_parts *p = NULL;
    td_tensor *bytes = NULL, *back = NULL, *supers = NULL;
    unsigned char q4_K[288] = {0x00, 0x3c, 0x00, 0x38}; /* d = 1, dmin = .5 */
    q4_K[4] = 0xc0 | 5;                                 /* scale 0 is 5, of scale 4 bits 4-5 are set */
    q4_K[8] = 0x40 | 6;                                 /* minimum 0 is 6, of minimum 4 bit 4 */
    q4_K[12] = 0x21;                                    /* scale 4 is 0x31, minimum 4 0x12 */
    q4_K[16] = 0x0f;                                    /* element 0 is 15, element 32 is 0 */
    q4_K[16 + 64] = 0x02;                               /* element 128, of block 4 */
    memcpy(q4_K + 144, q4_K, 144);
    ASSERT_OK(td_parts_create("q4_K", TD_SHAPE(2, 256), &p));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(2, 1, 144), &bytes));
    memcpy(td_tensor_data(bytes), q4_K, 288);
    ASSERT_OK(td_parts_set_record(p, "", bytes));
    assert_int_equal(code_of(p, "scales", 0), 5);
    assert_int_equal(code_of(p, "mins", 0), 6);
    assert_int_equal(code_of(p, "scales", 4), 0x31);
    assert_int_equal(code_of(p, "mins", 12), 0x12);
    assert_int_equal(code_of(p, "elems", 256 + 128), 2);
    ASSERT_OK(td_parts_part(p, "supers", &supers));
    assert_int_equal(td_tensor_shape(supers).rank, 3); /* (2, 1, 2): d and dmin */
    ASSERT_OK(td_parts_unpack(p, NULL, &back));
    const float *values = td_tensor_data(back);
    assert_true(values[0] == 15 * 5 - 3 && values[1] == -3 && values[256 + 128] == 2 * 0x31 - 9);
    assert_record(p, NULL, "2 1 144", q4_K, 288);
    assert_string_equal(td_parts_packing(p), "q4_K elem=u4 scale=u6 axis=-1 block=32 rule=ggml min=u6 super=f16/256 "
                                             "tail=error");
    td_tensor_destroy(&back);
    td_tensor_destroy(&bytes);
    td_parts_destroy(&p);
}

/* -- other records -- */

static void tiles_have_exponents_by_face(void **state)
{
    (void)state;
    static float values[64 * 32];
    static unsigned char expected[2 * 1088];
    for (size_t r = 0; r < 64; r++)
        for (size_t c = 0; c < 32; c++) {
            const size_t tile = r / 32, face = r % 32 / 16 * 2 + c / 16, row = r % 16;
            values[r * 32 + c] = ldexpf(c % 2 ? -1 : 1, (int)(r % 32 + c / 16));
            expected[tile * 1088 + face * 16 + row] = (unsigned char)(127 + r % 32 + c / 16);
            expected[tile * 1088 + 64 + face * 256 + row * 16 + c % 16] = c % 2 ? 0xc0 : 0x40;
        }
    td_parts *p = pack("bfp8", TD_SHAPE(64, 32), values), *q = NULL;
    td_tensor *record = NULL, *a = NULL, *b = NULL;
    assert_record(p, NULL, "2 1 1088", expected, sizeof expected);
    assert_record(p, "tenstorrent", "2 1 1088", expected, sizeof expected);
    ASSERT_OK(td_parts_record(p, NULL, &record));
    ASSERT_OK(td_parts_create("bfp8", TD_SHAPE(64, 32), &q));
    ASSERT_OK(td_parts_set_record(q, NULL, record));
    ASSERT_OK(td_parts_unpack(p, NULL, &a));
    ASSERT_OK(td_parts_unpack(q, NULL, &b));
    assert_memory_equal(td_tensor_data(a), td_tensor_data(b), sizeof values);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&record);
    td_parts_destroy(&p);
    td_parts_destroy(&q);
}

/* 8 rows of K in a word, or 8 columns in AWQ's order. */
static void words_of_checkpoints(void **state)
{
    (void)state;
    td_parts *p = NULL, *q = NULL;
    td_tensor *elems = NULL, *words = NULL;
    ASSERT_OK(td_parts_create("uint4 axis=0 block=8", TD_SHAPE(16, 8), &p));
    ASSERT_OK(td_parts_part(p, "elems", &elems));
    for (uint64_t k = 0; k < 16; k++)
        for (uint64_t n = 0; n < 8; n++)
            ((unsigned char *)td_tensor_data(elems))[k * 8 + n] = (unsigned char)((k + n) % 16);
    ASSERT_OK(td_parts_record(p, "gptq", &words));
    assert_string_equal(td_tensor_dtype(words), "u32");
    assert_int_equal(td_tensor_shape(words).rank, 2); /* (2, 8): a record is one word */
    assert_int_equal(((uint32_t *)td_tensor_data(words))[0], 0x76543210);
    assert_int_equal(((uint32_t *)td_tensor_data(words))[9], 0x0fedcba9);
    td_tensor_destroy(&words);
    ASSERT_OK(td_parts_record(p, "awq", &words));
    assert_int_equal(((uint32_t *)td_tensor_data(words))[0], 0x75316420);
    assert_int_equal(td_tensor_elems(words), 16);
    ASSERT_OK(td_parts_create("uint4 axis=0 block=8", TD_SHAPE(16, 8), &q));
    ASSERT_OK(td_parts_set_record(q, "awq", words));
    for (uint64_t i = 0; i < 128; i++)
        assert_int_equal(code_of(p, "elems", i), code_of(q, "elems", i));
    td_tensor_destroy(&words);
    td_parts_destroy(&p);
    td_parts_destroy(&q);
}

static void every_word_of_a_record(void **state)
{
    (void)state;
    td_parts *p = NULL;
    td_tensor *t = NULL;
    ASSERT_OK(td_parts_create("uint4 block=4", TD_SHAPE(8), &p));
    ASSERT_OK(td_parts_part(p, "elems", &t));
    memcpy(td_tensor_data(t), "\1\2\3\4\5\6\7\x8", 8);
    ASSERT_OK(td_parts_part(p, "zeros", &t));
    memcpy(td_tensor_data(t), "\x9\xa", 2);
    ASSERT_OK(td_parts_part(p, "scales", &t));
    memcpy(td_tensor_data(t), "\x34\x12\x78\x56", 4);
    assert_record(p, "tile=4 scales zeros align=4 elems", "2 6", "\x34\x12\x09\x00\x21\x43\x78\x56\x0a\x00\x65\x87",
                  12);
    assert_record(p, "tile=4 elems(a2 b2>b a)", "2 2", "\x31\x42\x75\x86", 4);
    assert_record(p, "tile=8 {zeros^15 elems[2-3]} ", "1 2", "\x36\x45", 2);
    assert_record(p, "tile=8 {elems.0-1 elems.2-3}", "1 4", "\x21\x43\x65\x87", 4);
    assert_record(p, "tile=8 elems.3 elems.0-2[7] align=1", "1 2", "\x80\x00", 2);
    assert_record(p, "tile=1 elems align=2 word=u16", "8", "\1\0\2\0\3\0\4\0\5\0\6\0\7\0\x8\0", 16);
    td_parts_destroy(&p);
}

/* -- refusals -- */

static void records_that_are_refused(void **state)
{
    (void)state;
    td_parts *p = NULL, *sparse = NULL;
    td_tensor *t = NULL, *small = NULL, *taken = NULL;
    ASSERT_OK(td_parts_create("uint4 block=4", TD_SHAPE(2, 12), &p));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(3), &small));
    const struct {
        const char *record, *message;
        td_status status;
    } rows[] = {
        {"", "packing \"uint4\" has no record of its own; pass one, like \"tile=32 scales elems\"", TD_OPTION},
        {"scales",
         "unexpected character 's' in record \"scales\" at \"scales\": a record begins with its tile=, like "
         "tile=32",
         TD_OPTION},
        {"tile=", "unexpected end in record \"tile=\" at \"\": tile= needs sizes like tile=32 or tile=32x32",
         TD_OPTION},
        {"tile=4", "record \"tile=4\" names no part; write something like \"tile=32 scales elems\"", TD_OPTION},
        {"tile=0", "tile= in record \"tile=0\" has no elements; pass 1 to 65536", TD_OPTION},
        {"tile=65537", "tile= in record \"tile=65537\" has too many elements; pass 1 to 65536", TD_OPTION},
        {"tile=1x1x4", "tile= in record \"tile=1x1x4\" has more dimensions than shape (2, 12); leave some out",
         TD_OPTION},
        {"tile=4 tile=4",
         "unexpected character '4' in record \"tile=4 tile=4\" at \"4\": tile= stands twice; keep one "
         "of them",
         TD_OPTION},
        {"tile=8 elems",
         "dimension 1 of shape (2, 12) does not fill records of 8 (record \"tile=8 elems\"); pad the "
         "tensor",
         TD_SHAPE},
        {"tile=4 elem",
         "\"elem\" in record \"tile=4 elem\" is no part of \"uint4\"; did you mean \"elems\"? they are "
         "elems, scales, zeros",
         TD_OPTION},
        {"tile=4 +",
         "unexpected character '+' in record \"tile=4 +\" at \"+\": a part is named here, like scales or "
         "elems, or tile=, align=, word=",
         TD_OPTION},
        {"tile=2 scales",
         "a tile of record \"tile=2 scales\" holds no whole code of \"scales\"; pass a larger tile=, "
         "or leave the part out",
         TD_OPTION},
        {"tile=4 elems.4", "bits 4-4 of \"elems\" in record \"tile=4 elems.4\"; its codes have bits 0-3", TD_OPTION},
        {"tile=4 elems.x",
         "unexpected character 'x' in record \"tile=4 elems.x\" at \"x\": bits are numbers like .4 or "
         ".0-3",
         TD_OPTION},
        {"tile=4 elems[4]", "codes 4-4 of \"elems\" in record \"tile=4 elems[4]\"; a tile has codes 0-3", TD_OPTION},
        {"tile=4 elems[]",
         "unexpected character ']' in record \"tile=4 elems[]\" at \"]\": codes are numbers like "
         "[0-7]",
         TD_OPTION},
        {"tile=4 elems[1", "unexpected end in record \"tile=4 elems[1\" at \"\": ] ends the codes", TD_OPTION},
        {"tile=4 elems^16", "^16 of \"elems\" in record \"tile=4 elems^16\" has more than its 4 bits", TD_OPTION},
        {"tile=4 elems^", "unexpected end in record \"tile=4 elems^\" at \"\": bits to invert are a number like ^8",
         TD_OPTION},
        {"tile=4 elems(a2)",
         "unexpected character ')' in record \"tile=4 elems(a2)\" at \")\": an order has axes of one "
         "letter and a size, then > and the letters, like (h2 i16>i h)",
         TD_OPTION},
        {"tile=4 elems(a>a)",
         "unexpected character '>' in record \"tile=4 elems(a>a)\" at \">a)\": an axis has a size "
         "behind its letter, like h2",
         TD_OPTION},
        {"tile=4 elems(a0>a)",
         "unexpected character '>' in record \"tile=4 elems(a0>a)\" at \">a)\": the size before it "
         "is not 1 to 65536",
         TD_OPTION},
        {"tile=4 elems(a4>a a)",
         "unexpected character 'a' in record \"tile=4 elems(a4>a a)\" at \"a)\": behind > every "
         "axis stands once",
         TD_OPTION},
        {"tile=4 elems(a2 b3>b a)",
         "the order of \"elems\" in record \"tile=4 elems(a2 b3>b a)\" has 6 codes, and the "
         "tile has 4; the sizes multiply to that",
         TD_OPTION},
        {"tile=4 elems(a2 b2>b)",
         "the order of \"elems\" in record \"tile=4 elems(a2 b2>b)\" has 4 codes, not all "
         "stored, and the tile has 4; the sizes multiply to that",
         TD_OPTION},
        {"tile=4 elems elems.0",
         "record \"tile=4 elems elems.0\" has bits of \"elems\" twice (code 0); every bit has "
         "one place",
         TD_OPTION},
        {"tile=4 {elems zeros}",
         "between braces of record \"tile=4 {elems zeros}\" \"elems\" has 4 codes and \"zeros\" "
         "1; those that take turns have as many",
         TD_OPTION},
        {"tile=4 {elems.0 elems.1 elems.2 elems.3 elems elems elems elems elems}",
         "unexpected character 'e' in record \"tile=4 {elems.0 elems.1 elems.2 elems.3 elems elems elems elems "
         "elems}\" "
         "at \"elems}\": at most 8 parts take turns",
         TD_OPTION},
        {"tile=4 align=0", "align=0 in record \"tile=4 align=0\"; pass 1 to 4096 bytes", TD_OPTION},
        {"tile=4 align=", "unexpected end in record \"tile=4 align=\" at \"\": align= needs a number of bytes",
         TD_OPTION},
        {"tile=4 elems word=f32",
         "word=f32 in record \"tile=4 elems word=f32\"; pass an integer of 8, 16, 32 or 64 "
         "bits, like word=u32",
         TD_OPTION},
        {"tile=4 zeros", "record \"tile=4 zeros\" has 4 bits, which fill no words of 8; add align=1 at its end",
         TD_OPTION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[512];
        snprintf(message, sizeof message, "parts_record: %s", rows[i].message);
        ASSERT_REFUSED(td_parts_record(p, rows[i].record, &t), rows[i].status, message);
    }
    ASSERT_REFUSED(td_parts_record(NULL, "", &t), TD_ARGUMENT,
                   "parts_record: parts is NULL; pass parts, and a td_tensor");
    ASSERT_REFUSED(td_parts_record(p, "", NULL), TD_ARGUMENT, "parts_record: out is NULL; pass parts, and a td_tensor");
    ASSERT_REFUSED(td_parts_set_record(NULL, "", small), TD_ARGUMENT,
                   "parts_set_record: parts is NULL; pass parts, and a tensor of records");
    ASSERT_REFUSED(td_parts_set_record(p, "", NULL), TD_ARGUMENT,
                   "parts_set_record: the tensor is NULL; pass parts, and a tensor of records");
    ASSERT_REFUSED(
        td_parts_set_record(p, "tile=4 elems", small), TD_SHAPE,
        "parts_set_record: a tensor of u8, shape (3), for 6 records of 2 bytes; pass 12 bytes, as u8 or wider "
        "integers");
    ASSERT_OK(td_parts_take(p, "elems", &taken));
    ASSERT_REFUSED(td_parts_record(p, "tile=4 elems", &t), TD_ARGUMENT,
                   "parts_record: the part \"elems\" of \"uint4\" was taken; join the parts again");
    ASSERT_OK(td_parts_create("mask elem=u8 count=3", TD_SHAPE(4), &sparse));
    ASSERT_REFUSED(
        td_parts_record(sparse, "tile=4 values", &t), TD_ARGUMENT,
        "parts_record: \"mask\" is sparse, and its parts have no blocks to put into records; load each part");
    td_tensor_destroy(&taken);
    td_tensor_destroy(&small);
    td_parts_destroy(&p);
    td_parts_destroy(&sparse);
}

/* What no scale can hold makes its own super block void, and no other. */
static void super_blocks_with_a_nan_are_void(void **state)
{
    (void)state;
    static const char *const names[] = {"q2_K", "q3_K", "q4_K", "q5_K", "q6_K"};
    float values[512];
    for (size_t i = 0; i < 512; i++)
        values[i] = (float)(i % 17) - 8;
    values[300] = NAN;
    td_tensor *t = f32_tensor(TD_SHAPE(512), values);
    for (size_t n = 0; n < 5; n++) {
        td_parts *p = NULL;
        td_tensor *supers = NULL, *elems = NULL, *back = NULL;
        ASSERT_OK(td_parts_pack(t, names[n], &p));
        ASSERT_OK(td_parts_part(p, "supers", &supers));
        ASSERT_OK(td_parts_part(p, "elems", &elems));
        ASSERT_OK(td_parts_unpack(p, NULL, &back));
        const uint16_t *number = td_tensor_data(supers);
        const float *got = td_tensor_data(back);
        const size_t numbers = (size_t)td_tensor_elems(supers) / 2;
        for (size_t i = 0; i < numbers; i++) {
            assert_int_not_equal(number[i] & 0x7c00, 0x7c00);
            assert_int_equal(number[numbers + i], 0x7e00);
        }
        for (size_t i = 0; i < 256; i++) {
            assert_true(fabsf(got[i] - values[i]) <= (n == 0 ? 4 : n == 1 ? 2 : n == 4 ? 0.3F : 1));
            assert_true(isnan(got[256 + i]));
            assert_int_equal(((unsigned char *)td_tensor_data(elems))[256 + i], 0);
        }
        td_tensor_destroy(&back);
        td_parts_destroy(&p);
    }
    td_tensor_destroy(&t);
}

static void packings_that_are_refused(void **state)
{
    (void)state;
    static const float values[256] = {1};
    td_parts *p = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(256), values), *wide = f32_tensor(TD_SHAPE(16, 16), values);
    const struct {
        const char *packing, *message;
        td_status status;
    } rows[] = {
        {"q6_K scale=u8",
         "\"q6_K elem=i6 scale=u8 axis=-1 block=16 rule=ggml super=f16/256 tail=error\" is read and not made; packing "
         "makes super blocks of up to 4096 elements, with scale=i6 or the like for signed ones, scale=u6 min=u6 for "
         "unsigned ones, so pass those, or join its parts",
         TD_OPTION},
        {"q4_0 elem=u4",
         "rule=ggml in packing \"q4_0 elem=u4\" has signed integers of up to 8 bits, or unsigned ones "
         "with min=, and float scales (with super= integer ones), or elem=e2m1 with scale=e8m0 or "
         "scale=e4m3; it says elem=u4 scale=f16",
         TD_OPTION},
        {"q4_0 block=all", "rule=ggml in packing \"q4_0 block=all\" needs one axis and a block of 1 to 1024 elements",
         TD_OPTION},
        {"q4_0 min=x", "unknown dtype \"x\"", TD_DTYPE},
        {"q4_K super=f16",
         "super=f16 in packing \"q4_K super=f16\" is not a dtype and the elements that share one; pass "
         "something like super=f16/256, or none",
         TD_OPTION},
        {"q4_K super=f16/48",
         "super= in packing \"q4_K super=f16/48\" spans 48 elements, which is no multiple of "
         "block=32",
         TD_OPTION},
        {"int8 min=f16", "min= in packing \"int8 min=f16\" needs rule=ggml, and it says rule=absmax; leave it out",
         TD_OPTION},
        {"int8 super=f16/256",
         "super= in packing \"int8 super=f16/256\" needs rule=ggml, and it says rule=absmax; leave "
         "it out",
         TD_OPTION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[512];
        snprintf(message, sizeof message, "parts_pack: %s", rows[i].message);
        assert_int_equal(td_parts_pack(t, rows[i].packing, &p), rows[i].status);
        assert_memory_equal(td_last_error(), message, strlen(message));
    }
    ASSERT_REFUSED(
        td_parts_pack(wide, "q4_0 axis=0 block=16", &p), TD_OPTION,
        "parts_pack: axis=0 of packing \"q4_0\" in a tensor of shape (16, 16); ggml's blocks lie along the last "
        "dimension, so leave axis= out, or transpose the tensor");
    ASSERT_REFUSED(
        td_parts_pack(wide, "q4_0", &p), TD_SHAPE,
        "parts_pack: dimension 1 of shape (16, 16) does not fill blocks of 32 (packing \"q4_0\", tail=error); "
        "pass another block=, or tail=short");
    ASSERT_REFUSED(td_parts_create("q6_K", TD_SHAPE(16, 16), &p), TD_SHAPE,
                   "parts_create: dimension 1 of shape (16, 16) does not fill 256 elements, which share a super scale "
                   "(packing \"q6_K\"); pad the tensor");
    td_tensor_destroy(&t);
    td_tensor_destroy(&wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ggml_blocks_have_their_bytes),
        cmocka_unit_test(ggml_rounds_the_logarithm),
        cmocka_unit_test(blocks_that_are_not_finite_are_void),
        cmocka_unit_test(super_scales_are_read),
        cmocka_unit_test(tiles_have_exponents_by_face),
        cmocka_unit_test(tiles_of_mx_have_their_scales_first),
        cmocka_unit_test(words_of_checkpoints),
        cmocka_unit_test(every_word_of_a_record),
        cmocka_unit_test(records_that_are_refused),
        cmocka_unit_test(super_blocks_with_a_nan_are_void),
        cmocka_unit_test(packings_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
