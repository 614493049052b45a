/* Parts from files: .gguf written here byte by byte, every prefix of one, hostile counts and lengths; weights of
 * checkpoints in MXFP4, GPTQ and AWQ; every message. */
#include "support.h"

#include <stdbool.h>

/* A file that grows. */
typedef struct bytes {
    unsigned char data[4096];
    size_t used;
} bytes;

static void put(bytes *b, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        b->data[b->used++] = (unsigned char)(value >> (8 * i));
}

static void put_text(bytes *b, const char *text)
{
    put(b, strlen(text), 8);
    memcpy(b->data + b->used, text, strlen(text));
    b->used += strlen(text);
}

static void put_tensor(bytes *b, const char *name, uint64_t rows, uint64_t columns, uint32_t type, uint64_t offset)
{
    put_text(b, name);
    put(b, 2, 4);
    put(b, columns, 8); /* the fast one first */
    put(b, rows, 8);
    put(b, type, 4);
    put(b, offset, 8);
}

static void pad(bytes *b, size_t to)
{
    while (b->used % to)
        put(b, 0, 1);
}

/* Metadata of every kind; a plain tensor, one of q4_0 and one of a type that is not read. */
static void small_file(bytes *b)
{
    *b = (bytes){{0}, 0};
    memcpy(b->data, "GGUF", 4);
    b->used = 4;
    put(b, 3, 4);
    put(b, 3, 8);
    put(b, 5, 8);
    put_text(b, "general.alignment");
    put(b, 4, 4);
    put(b, 64, 4);
    put_text(b, "name");
    put(b, 8, 4);
    put_text(b, "model");
    put_text(b, "list");
    put(b, 9, 4);
    put(b, 8, 4);
    put(b, 2, 8);
    put_text(b, "a");
    put_text(b, "bc");
    put_text(b, "numbers");
    put(b, 9, 4);
    put(b, 6, 4);
    put(b, 3, 8);
    put(b, 0, 8);
    put(b, 0, 4);
    put_text(b, "flag");
    put(b, 7, 4);
    put(b, 1, 1);
    put_tensor(b, "plain", 2, 3, 0, 0);
    put_tensor(b, "blk.0.w", 2, 32, 2, 64);
    put_tensor(b, "other", 1, 32, 20, 128);
    pad(b, 64);
    for (unsigned i = 0; i < 6; i++)
        put(b, 0x3f800000, 4);
    pad(b, 64);
    for (unsigned row = 0; row < 2; row++) {
        put(b, 0x3c00, 2);
        for (unsigned i = 0; i < 16; i++)
            put(b, 0x80 | (row + i) % 16, 1); /* element i + 16 is 0 */
    }
    pad(b, 64);
}

static void tensors_and_parts_of_a_file(void **state)
{
    (void)state;
    bytes b;
    td_tensor *t = NULL;
    td_parts *p = NULL;
    char **names = NULL;
    const char *packing = NULL;
    td_shape shape;
    size_t count = 0;
    small_file(&b);
    write_file("m.gguf", b.data, b.used);
    ASSERT_OK(td_tensor_members("m.gguf", &names, &count));
    assert_int_equal(count, 3);
    assert_string_equal(names[1], "blk.0.w");
    td_free(names);
    ASSERT_OK(td_tensor_open("m.gguf:plain", NULL, &t));
    assert_string_equal(td_tensor_dtype(t), "f32");
    assert_true(td_tensor_shape(t).dim[0] == 2 && td_tensor_shape(t).dim[1] == 3);
    assert_true(((const float *)td_tensor_data_const(t))[5] == 1);
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_open("m.gguf:blk.0.w", "u8", &t));
    assert_true(td_tensor_shape(t).rank == 3 && td_tensor_shape(t).dim[1] == 1 && td_tensor_shape(t).dim[2] == 18);
    td_tensor_destroy(&t);
    ASSERT_OK(td_parts_kind("m.gguf:blk.0.w", &packing, &shape));
    assert_string_equal(packing, "q4_0");
    assert_true(shape.rank == 2 && shape.dim[1] == 32);
    ASSERT_OK(td_parts_kind("m.gguf:other", &packing, &shape));
    assert_string_equal(packing, "iq4_nl");

    ASSERT_OK(td_parts_open("m.gguf:blk.0.w", NULL, &p));
    ASSERT_OK(td_parts_unpack(p, NULL, &t));
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < 32; i++)
            assert_true(((float *)td_tensor_data(t))[32 * row + i] == (float)(i < 16 ? (row + i) % 16 - 8 : 0));
    td_tensor_destroy(&t);
    td_parts_destroy(&p);
    ASSERT_OK(td_parts_open("gguf:m.gguf:blk.0.w", "q4_0", &p));
    td_parts_destroy(&p);

    ASSERT_REFUSED(
        td_parts_open("m.gguf:blk.0.w", "q8_0", &p), TD_OPTION,
        "parts_open \"m.gguf:blk.0.w\": the tensor is of \"q4_0\", and the packing says \"q8_0\"; leave it out");
    ASSERT_REFUSED(
        td_parts_open("m.gguf:plain", "", &p), TD_DTYPE,
        "parts_open \"m.gguf:plain\": the tensor is of f32, which has no parts; open it with td_tensor_open");
    ASSERT_REFUSED(td_parts_open("m.gguf:other", "", &p), TD_DTYPE,
                   "parts_open \"m.gguf:other\": the tensor is of iq4_nl, which is not read");
    ASSERT_REFUSED(td_parts_open("m.gguf:blk.0", "", &p), TD_ARGUMENT,
                   "parts_open \"m.gguf:blk.0\": the file holds no tensor \"blk.0\"; did you mean \"blk.0.w\"?");
    ASSERT_REFUSED(
        td_tensor_open("m.gguf:blk.0.w", NULL, &t), TD_DTYPE,
        "tensor_open \"m.gguf:blk.0.w\": tensor \"blk.0.w\", shape (2, 32), is of q4_0, which has parts; open it "
        "with td_parts_open, or pass the dtype u8 for its bytes");
    ASSERT_REFUSED(td_tensor_open("m.gguf:other", NULL, &t), TD_DTYPE,
                   "tensor_open \"m.gguf:other\": tensor \"other\" is of iq4_nl, which is not read");
    ASSERT_REFUSED(
        td_tensor_open("m.gguf:plain", "i8", &t), TD_DTYPE,
        "tensor_open \"m.gguf:plain\": dtype i8 does not fit the 32 bits per element of the file (f32); pass one "
        "that does");
    ASSERT_OK(td_tensor_open("m.gguf:plain", "i32", &t));
    ASSERT_REFUSED(td_tensor_save(t, "n.gguf"), TD_ARGUMENT,
                   "tensor_save \"n.gguf\": .gguf files are read and not written; save as .safetensors or .npz");
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_parts_open("a.npy", "", &p), TD_ARGUMENT,
                   "parts_open \"a.npy\": npy files have no parts; pass a .gguf, .safetensors or .npz file");
    ASSERT_REFUSED(td_parts_kind("a.npy", &packing, &shape), TD_ARGUMENT,
                   "parts_kind \"a.npy\": only .gguf files say what their tensors are; pass one");
    ASSERT_REFUSED(td_parts_open(NULL, "", &p), TD_ARGUMENT,
                   "parts_open: path is NULL; pass a path and a td_parts pointer");
    ASSERT_REFUSED(td_parts_kind("a.gguf", NULL, &shape), TD_ARGUMENT,
                   "parts_kind: packing is NULL; pass a path, a text pointer and a td_shape");
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    bytes b;
    td_parts *p = NULL;
    small_file(&b);
    const size_t whole = b.used - 64 + 36; /* behind the last tensor only padding follows */
    for (size_t size = 0; size < whole; size++) {
        write_file("cut.gguf", b.data, size);
        assert_int_equal(td_parts_open("cut.gguf:blk.0.w", "", &p), TD_FORMAT);
        assert_non_null(strstr(td_last_error(), "it is cut short"));
        assert_null(p);
    }
    write_file("cut.gguf", b.data, 30);
    ASSERT_REFUSED(
        td_parts_open("cut.gguf:blk.0.w", "", &p), TD_FORMAT,
        "parts_open \"cut.gguf:blk.0.w\": the file ends inside its metadata: 8 bytes are needed at byte 24, and it "
        "has 30; it is cut short");
    write_file("cut.gguf", b.data, whole - 1);
    char expected[160];
    snprintf(expected, sizeof expected,
             "parts_open \"cut.gguf:blk.0.w\": tensor \"blk.0.w\" ends at byte %zu, and the file has %zu bytes; it is "
             "cut short",
             whole, whole - 1);
    ASSERT_REFUSED(td_parts_open("cut.gguf:blk.0.w", "", &p), TD_FORMAT, expected);
    write_file("cut.gguf", b.data, whole);
    ASSERT_OK(td_parts_open("cut.gguf:blk.0.w", "", &p));
    td_parts_destroy(&p);
}

/* A file of one tensor, w, in which `at` bytes in `size` bytes are replaced. */
static void refuse_changed(size_t at, unsigned size, uint64_t value, const char *text)
{
    bytes b = {{0}, 4};
    td_tensor *t = NULL;
    char message[512];
    memcpy(b.data, "GGUF", 4);
    put(&b, 3, 4);
    put(&b, 1, 8);
    put(&b, 1, 8);
    put_text(&b, "general.alignment"); /* at 24 */
    put(&b, 4, 4);                     /* 49 */
    put(&b, 32, 4);                    /* 53 */
    put_tensor(&b, "w", 2, 32, 2, 0);  /* 57: name; 66 rank; 70 columns; 78 rows; 86 type; 90 offset; 98 end */
    pad(&b, 32);
    b.used += 64;
    for (unsigned i = 0; i < size; i++)
        b.data[at + i] = (unsigned char)(value >> (8 * i));
    write_file("bad.gguf", b.data, b.used);
    snprintf(message, sizeof message, "tensor_open \"bad.gguf:w\": %s", text);
    ASSERT_REFUSED(td_tensor_open("bad.gguf:w", "u8", &t), TD_FORMAT, message);
}

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    refuse_changed(0, 4, 0, "the file does not begin with GGUF; it is no .gguf");
    refuse_changed(4, 4, 1, "version 1 of the format; versions 2 and 3 are read");
    refuse_changed(4, 4, 0x03000000,
                   "version 50331648 of the format, or a file of big-endian bytes; versions 2 and 3 are "
                   "read");
    refuse_changed(8, 8, UINT64_MAX, "the name of a tensor before byte 106 is empty; it is damaged");
    refuse_changed(24, 8, UINT64_MAX,
                   "the file ends inside its metadata: 18446744073709551615 bytes are needed at byte 32, "
                   "and it has 192; it is cut short");
    refuse_changed(49, 4, 13, "metadata at byte 53 is of type 13, and the format has 0 to 12; it is damaged");
    refuse_changed(53, 4, 33, "general.alignment is 33 (type 4); it has to be a power of two, as a u32");
    refuse_changed(53, 4, 0, "general.alignment is 0 (type 4); it has to be a power of two, as a u32");
    refuse_changed(57, 8, 0, "the name of a tensor before byte 65 is empty; it is damaged");
    refuse_changed(65, 1, 0, "the name of a tensor before byte 66 has a byte of 0; it is damaged");
    refuse_changed(66, 4, 5, "tensor \"w\" has 5 dimensions, and the format has 1 to 4; it is damaged");
    refuse_changed(70, 8, 0, "tensor \"w\" has a dimension of 0, and no elements");
    refuse_changed(78, 8, UINT64_MAX,
                   "tensor \"w\" has a dimension of 18446744073709551615, with which it passes 2^63 "
                   "elements");
    refuse_changed(70, 8, 33, "tensor \"w\" of q4_0 has rows of 33 elements, and a block has 32; it is damaged");
    refuse_changed(90, 8, 16, "tensor \"w\" begins at byte 16 of the data, which is no multiple of 32; it is damaged");
    refuse_changed(90, 8, (uint64_t)1 << 63, "tensor \"w\" lies past 2^63 bytes; it is damaged");
    refuse_changed(90, 8, 64, "tensor \"w\" ends at byte 228, and the file has 192 bytes; it is cut short");
}

/* -- checkpoints -- */

static td_tensor *tensor_of(const char *dtype, td_shape shape, const void *data)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    memcpy(td_tensor_data(t), data, (size_t)td_tensor_elems(t) * td_tensor_elem_bytes(t));
    return t;
}

static void save(const char *path, const char *const *names, td_tensor **tensors, size_t count)
{
    ASSERT_OK(td_tensor_save_all(names, (const td_tensor *const *)tensors, count, path));
    for (size_t i = 0; i < count; i++)
        td_tensor_destroy(&tensors[i]);
}

static void mxfp4_checkpoints(void **state)
{
    (void)state;
    const unsigned char blocks[32] = {0x21, 0xf7, [16] = 0x01}, scales[2] = {128, 127};
    static const char *const names[] = {"m.w_blocks", "m.w_scales"};
    td_tensor *tensors[] = {tensor_of("u8", TD_SHAPE(1, 2, 16), blocks), tensor_of("u8", TD_SHAPE(1, 2), scales)},
              *t = NULL;
    td_parts *p = NULL;
    save("c.npz", names, tensors, 2);
    ASSERT_OK(td_parts_open("c.npz:m.w", "mxfp4", &p));
    ASSERT_OK(td_parts_unpack(p, NULL, &t));
    const float *v = td_tensor_data(t);
    assert_true(td_tensor_shape(t).rank == 2 && td_tensor_shape(t).dim[1] == 64);
    assert_true(v[0] == 1 && v[1] == 2 && v[2] == 12 && v[3] == -12 && v[32] == 0.5F);
    td_tensor_destroy(&t);
    td_parts_destroy(&p);
    ASSERT_REFUSED(td_parts_open("c.npz:m.w", "mxfp4 bits=4", &p), TD_OPTION,
                   "parts_open \"c.npz:m.w\": \"bits=4\" behind \"mxfp4\"; it has no words behind it");
    ASSERT_REFUSED(
        td_parts_open("c.npz:m.w", NULL, &p), TD_OPTION,
        "parts_open \"c.npz:m.w\": \"\" is no packing of a checkpoint; pass mxfp4, awq, or gptq version=1 (or 2) "
        "bits=4");
    ASSERT_REFUSED(
        td_parts_open("c.npz", "mxfp4", &p), TD_ARGUMENT,
        "parts_open \"c.npz\": a weight is named behind the file, as FILE:model.layers.0.mlp.down_proj, or its "
        "tensors behind from, as gptq from qweight=NAME qzeros=NAME scales=NAME");
    static const char *const bad[] = {"a_blocks", "a_scales", "b_blocks", "b_scales"};
    td_tensor *wrong[] = {tensor_of("u8", TD_SHAPE(2, 8), blocks), tensor_of("u8", TD_SHAPE(2), scales),
                          tensor_of("u8", TD_SHAPE(2, 16), blocks), tensor_of("u8", TD_SHAPE(1), scales)};
    save("d.npz", bad, wrong, 4);
    ASSERT_REFUSED(
        td_parts_open("d.npz:a", "mxfp4", &p), TD_SHAPE,
        "parts_open \"d.npz:a\": _blocks is a tensor of u8, shape (2, 8); it has to be u8 with 16 bytes in the "
        "last dimension, for 32 elements each");
    ASSERT_REFUSED(
        td_parts_open("d.npz:b", "mxfp4", &p), TD_SHAPE,
        "parts_open \"d.npz:b\": _scales is a tensor of e8m0, shape (1); it has to be of one byte for every 16 of "
        "_blocks");
}

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* Names that follow no convention, said in words and by an entry of a layout file. */
static void tensors_are_one_by_their_names(void **state)
{
    (void)state;
    const unsigned char blocks[32] = {0x21, 0xf7, [16] = 0x01}, scales[2] = {128, 127};
    unsigned char codes[64] = {0};
    for (int i = 0; i < 64; i++)
        codes[i] = (unsigned char)(blocks[i / 2] >> (4 * (i % 2)) & 15);
    static const char *const names[] = {"packed", "s", "unpacked", "bytes"};
    td_tensor *tensors[] = {tensor_of("u8", TD_SHAPE(1, 2, 16), blocks), tensor_of("u8", TD_SHAPE(1, 2), scales),
                            tensor_of("u8", TD_SHAPE(1, 64), codes), tensor_of("u8", TD_SHAPE(1, 32), blocks)};
    save("c.npz", names, tensors, 4);
    write_text("chip.txt", "plain: pattern r c -> r c\n"
                           "w: tensors c.npz; as mxfp4 axis=1\n   from elems=bytes scales=s # two in a byte\n");
    static const struct {
        const char *path, *how;
    } rows[] = {
        {"c.npz", "mxfp4 from blocks=packed scales=s"},
        {"c.npz", "mxfp4 from elems=unpacked scales=s"},
        {"c.npz", "mxfp4 rule=rceil from scales=s  elems=bytes"},
        {"npz:c.npz", "blocks elem=e2m1 scale=e8m0 rule=floor from elems=packed scales=s shape=1x64"},
        {"layout:chip.txt:w", NULL},
        {"layout:chip.txt:w", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *p = NULL;
        td_tensor *t = NULL;
        ASSERT_OK(td_parts_open(rows[i].path, rows[i].how, &p));
        ASSERT_OK(td_parts_unpack(p, NULL, &t));
        const float *v = td_tensor_data(t);
        assert_true(td_tensor_shape(t).rank == 2 && td_tensor_shape(t).dim[0] == 1 && td_tensor_shape(t).dim[1] == 64);
        assert_true(v[0] == 1 && v[1] == 2 && v[2] == 12 && v[3] == -12 && v[32] == 0.5F && v[33] == 0);
        td_tensor_destroy(&t);
        td_parts_destroy(&p);
    }
}

static void names_that_are_refused(void **state)
{
    (void)state;
    const unsigned char blocks[32] = {0x21, 0xf7}, scales[2] = {128, 127};
    static const char *const names[] = {"e", "s"};
    td_tensor *tensors[] = {tensor_of("u8", TD_SHAPE(1, 32), blocks), tensor_of("u8", TD_SHAPE(2), scales)};
    save("c.npz", names, tensors, 2);
    write_text("chip.txt", "plain: pattern r c -> r c\nw: tensors c.npz; as mxfp4 from elems=e scales=missing\n");
    write_text("bare.txt", "w: tensors c.npz\n");
    write_text("both.txt", "w: tensors c.npz; as mxfp4; pattern r c -> r c\n");
    static const struct {
        const char *path, *how;
        td_status status;
        const char *message;
    } rows[] = {
        {"c.npz:w", "mxfp4 from elems=e scales=s", TD_ARGUMENT,
         "parts_open \"c.npz:w\": the file's name has a weight behind it, and \"mxfp4 from elems=e scales=s\" names "
         "the "
         "tensors; drop one of them"},
        {"c.npz", "mxfp4 from elems=e", TD_OPTION,
         "parts_open \"c.npz\": no scales= behind from in \"mxfp4 from elems=e\"; name the tensor that it is"},
        {"c.npz", "mxfp4 from elems=e scale=s", TD_OPTION,
         "parts_open \"c.npz\": \"scale=s\" behind from names no tensor of \"mxfp4\"; did you mean scales=? they are "
         "shape=, elems= and scales="},
        {"c.npz", "gptq from qweight=e qweight=e", TD_OPTION,
         "parts_open \"c.npz\": qweight= stands twice behind from; keep one of them"},
        {"c.npz", "awq from g_idx=e", TD_OPTION,
         "parts_open \"c.npz\": \"g_idx=e\" behind from names no tensor of \"awq\"; they are qweight=, qzeros= and "
         "scales="},
        {"c.npz", "mask from values=e mask=s", TD_OPTION,
         "parts_open \"c.npz\": neither elems= nor shape= behind from in \"mask from values=e mask=s\"; name the "
         "elements, or say the shape of the tensor, as shape=64x128"},
        {"c.npz", "mxfp4 from elems=e scales=s shape=1x", TD_OPTION,
         "parts_open \"c.npz\": shape=1x behind from in \"mxfp4\" is no shape; pass one like shape=64x128"},
        {"c.npz", "mxfp4 from elems=e scales=s shape=4x64", TD_SHAPE,
         "parts_open \"c.npz\": elems is a tensor of u8, shape (1, 32); it has to have 256 elements of 1 bytes, or "
         "their "
         "1024 bits, for e2m1 of shape (4, 64)"},
        {"c.npz", "mxfp4 from elems=e scales=s shape=1x32", TD_RANGE,
         "parts_open \"c.npz\": element 0 of elems is 0x21, and e2m1 has 4 bits"},
        {"c.npz", "gptq from qweight=e qzeros=e scales=s g_idx=none", TD_ARGUMENT, NULL},
        {"c.npz", "bfp8 elem=u7 from elems=e scales=s", TD_SHAPE,
         "parts_open \"c.npz\": rows of 256 bits hold no whole number of elements of 7 bits; say shape= behind from"},
        {"layout:chip.txt:plain", "", TD_FORMAT,
         "parts_open \"layout:chip.txt:plain\": layout_file \"chip.txt\", line 1: plain is a layout and names no "
         "tensors; write plain: tensors FILE; as gptq from ..."},
        {"layout:chip.txt:w", "mxfp4", TD_OPTION,
         "parts_open \"layout:chip.txt:w\": the entry has the packing; leave \"mxfp4\" out"},
        {"layout:chip.txt", "", TD_ARGUMENT,
         "parts_open \"layout:chip.txt\": an entry is named behind the layout file, as layout:chip.txt:weights"},
        {"layout:bare.txt:w", "", TD_FORMAT,
         "parts_open \"layout:bare.txt:w\": layout_file \"bare.txt\", line 1: w says of which file its tensors are, "
         "and "
         "not what; write as gptq from qweight=..."},
        {"layout:both.txt:w", "", TD_FORMAT,
         "parts_open \"layout:both.txt:w\": layout_file \"both.txt\", line 1: pattern beside tensors in w; an entry of "
         "tensors is no layout, so make it two"},
    };
    td_parts *p = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const td_status found = td_parts_open(rows[i].path, rows[i].how, &p);
        if (found != rows[i].status || (rows[i].message && strcmp(td_last_error(), rows[i].message) != 0))
            fail_msg("%s, %s: %d %s", rows[i].path, rows[i].how, (int)found, td_last_error());
        assert_null(p);
    }
    assert_int_equal(td_parts_open("layout:chip.txt:w", "", &p), TD_ARGUMENT);
    assert_memory_equal(td_last_error(), "parts_open \"layout:chip.txt:w\": parts_open \"c.npz\": tensor_open", 62);
    td_layout *layout = NULL;
    td_parts_layout *where = NULL;
    ASSERT_REFUSED(td_layout_open("chip.txt", "w", &layout), TD_FORMAT,
                   "layout_open \"chip.txt\", line 2: w is no layout, it names tensors; open it with parts_open "
                   "\"layout:FILE:w\"");
    ASSERT_REFUSED(td_parts_layout_open("chip.txt", "w", &where), TD_FORMAT,
                   "parts_layout_open \"chip.txt\", line 2: w is no layout, it names tensors; open it with parts_open "
                   "\"layout:FILE:w\"");
}

enum { K = 64, N = 32, GROUPS = 2 };

static unsigned elem_at(unsigned k, unsigned n, unsigned bits)
{
    return (k * 7 + n * 5 + k * n) & ((1u << bits) - 1);
}

static unsigned zero_of(unsigned g, unsigned n, unsigned bits)
{
    return (g * 3 + n) & ((1u << bits) - 1);
}

/* Bits from the lowest of word 0 on, every `stride` words. */
static void set_value(uint32_t *words, unsigned stride, unsigned number, unsigned bits, unsigned value)
{
    for (unsigned b = 0; b < bits; b++) {
        const unsigned at = number * bits + b;
        words[at / 32 * stride] |= (uint32_t)(value >> b & 1) << at % 32;
    }
}

static void write_groups(const char *path, bool awq, unsigned bits, unsigned version, bool by_rows)
{
    static const unsigned awq_columns[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    uint32_t words[K * N] = {0}, zeros[GROUPS * N] = {0};
    uint16_t scales[GROUPS * N];
    int32_t rows[K];
    for (unsigned k = 0; k < K; k++) {
        rows[k] = by_rows ? (int32_t)(k % GROUPS) : (int32_t)(k / (K / GROUPS));
        for (unsigned n = 0; n < N; n++)
            if (!awq)
                set_value(words + n, N, k, bits, elem_at(k, n, bits));
            else
                set_value(words + k * (N / 8) + n / 8, 1, n % 8, 4, elem_at(k, n / 8 * 8 + awq_columns[n % 8], 4));
    }
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned n = 0; n < N; n++) {
            scales[g * N + n] = (uint16_t)(0x3c00 + 0x400 * g); /* 1, 2 */
            if (!awq)
                set_value(zeros + g * N * bits / 32, 1, n, bits,
                          (zero_of(g, n, bits) - (version == 1)) & ((1u << bits) - 1));
            else
                set_value(zeros + g * (N / 8) + n / 8, 1, n % 8, 4, zero_of(g, n / 8 * 8 + awq_columns[n % 8], 4));
        }
    static const char *const names[] = {"l.qweight", "l.qzeros", "l.scales", "l.g_idx"};
    td_tensor *tensors[] = {tensor_of("i32", awq ? TD_SHAPE(K, N / 8) : TD_SHAPE(K * bits / 32, N), words),
                            tensor_of("i32", TD_SHAPE(GROUPS, N * bits / 32), zeros),
                            tensor_of("f16", TD_SHAPE(GROUPS, N), scales), tensor_of("i32", TD_SHAPE(K), rows)};
    if (awq)
        td_tensor_destroy(&tensors[3]);
    save(path, names, tensors, awq ? 3 : 4);
}

static void check_groups(const char *path, const char *how, unsigned bits, bool by_rows, const char *packing)
{
    td_parts *p = NULL;
    td_tensor *t = NULL;
    ASSERT_OK(td_parts_open(path, how, &p));
    assert_memory_equal(td_parts_packing(p), packing, strlen(packing));
    ASSERT_OK(td_parts_unpack(p, NULL, &t));
    for (unsigned k = 0; k < K; k++)
        for (unsigned n = 0; n < N; n++) {
            const unsigned g = by_rows ? k % GROUPS : k / (K / GROUPS);
            const int value = (int)elem_at(k, n, bits) - (int)zero_of(g, n, bits);
            if (((float *)td_tensor_data(t))[k * N + n] != (float)(value * (int)(1 + g)))
                fail_msg("%s of %s: row %u, column %u", how, path, k, n);
        }
    td_tensor_destroy(&t);
    td_parts_destroy(&p);
}

static void integer_checkpoints(void **state)
{
    (void)state;
    const unsigned widths[] = {2, 3, 4, 8};
    for (size_t i = 0; i < 4; i++)
        for (unsigned version = 1; version <= 2; version++) {
            char how[32], packing[64], named[128];
            snprintf(how, sizeof how, "gptq version=%u bits=%u", version, widths[i]);
            snprintf(packing, sizeof packing, "uint%u elem=u%u scale=f16 axis=0 block=32 rule=gptq", widths[i],
                     widths[i]);
            write_groups("g.npz", false, widths[i], version, false);
            check_groups("g.npz:l", how, widths[i], false, packing);
            snprintf(named, sizeof named, "%s from qweight=l.qweight qzeros=l.qzeros scales=l.scales", how);
            check_groups("g.npz", named, widths[i], false, packing); /* in order without g_idx */
            snprintf(packing, sizeof packing, "uint%u elem=u%u scale=f16 axis=0 block=1 rule=gptq", widths[i],
                     widths[i]);
            write_groups("g.npz", false, widths[i], version, true);
            check_groups("g.npz:l", how, widths[i], true, packing);
            strcat(named, " g_idx=l.g_idx");
            check_groups("g.npz", named, widths[i], true, packing);
        }
    write_groups("a.npz", true, 4, 0, false);
    check_groups("a.npz:l", "awq", 4, false, "uint4 elem=u4 scale=f16 axis=0 block=32 rule=awq");
    check_groups("a.npz", "awq from scales=l.scales qzeros=l.qzeros qweight=l.qweight", 4, false,
                 "uint4 elem=u4 scale=f16 axis=0 block=32 rule=awq");
    td_parts *p = NULL;
    ASSERT_REFUSED(
        td_parts_open("g.npz:l", "gptq bits=5", &p), TD_OPTION,
        "parts_open \"g.npz:l\": \"bits=5\" behind \"gptq\"; pass version=1 or version=2, and bits=2, 3, 4 or 8");
    ASSERT_REFUSED(td_parts_open("g.npz:l", "awq version=1", &p), TD_OPTION,
                   "parts_open \"g.npz:l\": \"version=1\" behind \"awq\"; it has no words behind it");
    ASSERT_REFUSED(
        td_parts_open("g.npz:l", "awq", &p), TD_SHAPE,
        "parts_open \"g.npz:l\": qweight is a tensor of i32, shape (16, 32); it has to be of 4 columns, as the "
        "scales have 32, and of whole words");
    ASSERT_REFUSED(
        td_parts_open("g.npz:l", "gptq bits=4", &p), TD_SHAPE,
        "parts_open \"g.npz:l\": qzeros is a tensor of i32, shape (2, 8); it has to be of shape (2, 4), as the "
        "scales say");
}

/* A good checkpoint in which one tensor is another. */
static void refuse_tensor(size_t which, td_tensor *other, td_status status, const char *text)
{
    static const char *const names[] = {"l.qweight", "l.qzeros", "l.scales", "l.g_idx"};
    static const uint32_t zeros[K * N];
    char message[256];
    td_parts *p = NULL;
    td_tensor *tensors[] = {tensor_of("i32", TD_SHAPE(K / 8, N), zeros),
                            tensor_of("i32", TD_SHAPE(GROUPS, N / 8), zeros),
                            tensor_of("f16", TD_SHAPE(GROUPS, N), zeros), tensor_of("i32", TD_SHAPE(K), zeros)};
    td_tensor_destroy(&tensors[which]);
    tensors[which] = other;
    save("bad.npz", names, tensors, which == 2 ? 3 : 4); /* the third without a g_idx */
    snprintf(message, sizeof message, "parts_open \"bad.npz:l\": %s", text);
    ASSERT_REFUSED(td_parts_open("bad.npz:l", "gptq", &p), status, message);
    for (size_t i = 0; i < 4; i++)
        td_tensor_destroy(&tensors[i]); /* what was not saved */
}

static void checkpoints_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const int32_t rows[K] = {[7] = 2, [9] = -1};
    static const uint32_t zeros[K * N];
    refuse_tensor(0, tensor_of("i16", TD_SHAPE(8, N), zeros), TD_SHAPE,
                  "qweight is a tensor of i16, shape (8, 32); it has to be a matrix of i32");
    refuse_tensor(1, tensor_of("f32", TD_SHAPE(GROUPS, 4), zeros), TD_SHAPE,
                  "qzeros is a tensor of f32, shape (2, 4); it has to be a matrix of i32");
    refuse_tensor(2, tensor_of("i16", TD_SHAPE(GROUPS, N), zeros), TD_SHAPE,
                  "scales is a tensor of i16, shape (2, 32); it has to be a matrix of f16, bf16 or f32");
    refuse_tensor(3, tensor_of("i32", TD_SHAPE(K - 1), zeros), TD_SHAPE,
                  "g_idx is a tensor of i32, shape (63); it has to be i32, a group for each of 64 rows");
    refuse_tensor(3, tensor_of("i32", TD_SHAPE(K), rows), TD_RANGE,
                  "g_idx says group 2 for row 7, and there are 2 groups");
    static const char *const names[] = {"l.qweight", "l.qzeros", "l.scales"};
    td_parts *p = NULL;
    td_tensor *tensors[] = {tensor_of("i32", TD_SHAPE(K / 8, N), zeros), tensor_of("i32", TD_SHAPE(3, N / 8), zeros),
                            tensor_of("f16", TD_SHAPE(3, N), zeros)};
    save("three.npz", names, tensors, 3);
    ASSERT_REFUSED(
        td_parts_open("three.npz:l", "gptq", &p), TD_SHAPE,
        "parts_open \"three.npz:l\": scales is a tensor of f16, shape (3, 32); it has to be of so many rows that "
        "they divide the 64 of the weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_and_parts_of_a_file),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(mxfp4_checkpoints),
        cmocka_unit_test(tensors_are_one_by_their_names),
        cmocka_unit_test(names_that_are_refused),
        cmocka_unit_test(integer_checkpoints),
        cmocka_unit_test(checkpoints_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
