/* .safetensors files: every type, what the format refuses, what a hostile hand could write, every prefix, and the text
 * of every refusal. */
#include "support.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

#ifdef TD_HAVE_JANSSON

static void put(const char *json, const void *data, size_t data_bytes)
{
    size_t length = strlen(json);
    unsigned char *file = malloc(8 + length + data_bytes);
    assert_non_null(file);
    for (unsigned i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(file + 8, json, length);
    if (data_bytes)
        memcpy(file + 8 + length, data, data_bytes);
    write_file("a.safetensors", file, 8 + length + data_bytes);
    free(file);
}

static void every_type_has_its_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        const char *given;
        const char *dtype;
        unsigned bits;
    } cases[] = {
        {"BOOL", NULL, "u1", 8},      {"U8", NULL, "u8", 8},          {"I8", NULL, "i8", 8},
        {"U16", NULL, "u16", 16},     {"I16", NULL, "i16", 16},       {"U32", NULL, "u32", 32},
        {"I32", NULL, "i32", 32},     {"U64", NULL, "u64", 64},       {"I64", NULL, "i64", 64},
        {"F16", NULL, "f16", 16},     {"BF16", NULL, "bf16", 16},     {"F32", NULL, "f32", 32},
        {"F64", NULL, "f64", 64},     {"F8_E4M3", NULL, "e4m3", 8},   {"F8_E5M2", NULL, "e5m2", 8},
        {"F8_E8M0", NULL, "e8m0", 8}, {"F6_E2M3", NULL, "e2m3", 6},   {"F6_E3M2", NULL, "e3m2", 6},
        {"F4", NULL, "e2m1", 4},      {"F8_E4M3FNUZ", "u8", "u8", 8}, {"C64", "u64", "u64", 64},
        {"F4", "i4", "i4", 4},        {"I8", "i4", "i4", 8},          {"U16", "bf16", "bf16", 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[160];
        unsigned char data[64] = {0};
        size_t bytes = 8 * cases[i].bits / 8;
        /* eight elements: 0 1 0 1 ..., packed from the low bits up */
        for (size_t e = 1; e < 8; e += 2)
            data[e * cases[i].bits / 8] |= (unsigned char)(1u << (e * cases[i].bits % 8));
        snprintf(json, sizeof json, "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%zu]}}",
                 cases[i].word, bytes);
        put(json, data, bytes);
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open("a.safetensors:t", cases[i].given, &t));
        assert_string_equal(td_tensor_dtype(t), cases[i].dtype);
        assert_int_equal(td_tensor_shape(t).rank, 2);
        for (uint64_t e = 0; e < 8; e++) {
            uint64_t got = 9;
            ASSERT_OK(td_tensor_get_bits(t, e, &got));
            assert_int_equal(got, e & 1);
        }
        /* only packed elements are moved */
        assert_int_equal(td_tensor_data(t) != NULL, cases[i].bits < 8);
        /* and back: the same bytes in a file of our own */
        if (!cases[i].given) {
            size_t ours = 0;
            (void)remove("b.safetensors");
            ASSERT_OK(td_tensor_save(t, "b.safetensors:t"));
            char *file = read_whole_file("b.safetensors", &ours);
            assert_int_equal(ours % 64, bytes % 64);
            assert_memory_equal(file + 8, json, strlen(json));
            assert_memory_equal(file + ours - bytes, data, bytes);
            free(file);
        }
        td_tensor_destroy(&t);
    }
}

static void several_tensors(void **state)
{
    (void)state;
    static const char json[] = "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"b\"},"
                               "\"layer.0.weight\":{\"shape\":[2],\"dtype\":\"I16\",\"data_offsets\":[3,7]},"
                               "\"none\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[7,7]},"
                               "\"q\\u00e9\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2,3]},"
                               "\"flags\":{\"dtype\":\"BOOL\",\"shape\":[1,2],\"data_offsets\":[0,2]}}   ";
    put(json, "\x01\x00\x2a\x01\x02\x03\x04", 7);
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_tensor_open("a.safetensors:layer.0.weight", NULL, &t));
    assert_memory_equal(td_tensor_data_const(t), "\x01\x02\x03\x04", 4);
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_open("a.safetensors:q\xc3\xa9", NULL, &t));
    assert_int_equal(td_tensor_shape(t).rank, 0);
    ASSERT_OK(td_tensor_get_bits(t, 0, &bits));
    assert_int_equal(bits, 42);
    td_tensor_destroy(&t);
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors:none", NULL, &t), TD_SHAPE,
        "tensor_open \"a.safetensors:none\": shape (0, 4) has an extent of 0 at dimension 0; every extent is "
        "at least 1");
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors", NULL, &t), TD_ARGUMENT,
        "tensor_open \"a.safetensors\": the file holds 4 tensors (flags, q\xc3\xa9, layer.0.weight, none); name "
        "one, as FILE:flags");
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors:layer.1.weight", NULL, &t), TD_ARGUMENT,
        "tensor_open \"a.safetensors:layer.1.weight\": the file holds no tensor \"layer.1.weight\"; did you mean "
        "\"layer.0.weight\"?");
    char **names = NULL;
    size_t count = 0;
    ASSERT_OK(td_tensor_members("a.safetensors", &names, &count));
    assert_int_equal(count, 4);
    assert_string_equal(names[2], "layer.0.weight");
    td_free(names);
    put("{\"flags\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}", "\x01\x02", 2);
    ASSERT_REFUSED(td_tensor_open("a.safetensors", NULL, &t), TD_RANGE,
                   "tensor_open \"a.safetensors\": element 1 is 0x02, which u1 does not hold; pass a wider dtype");
}

#define TENSOR(type, shape, begin, end)                                                                                \
    "{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"
#define ENTRY(type, shape, begin, end) "{\"t\":" TENSOR(type, shape, begin, end) "}"

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        td_status status;
        const char *message;
    } cases[] = {
        {"", TD_FORMAT, "the header does not begin with {; write the file again"},
        {"[]", TD_FORMAT, "the header does not begin with {; write the file again"},
        {"{", TD_FORMAT, "the header is not JSON at byte 1: string or '}' expected near end of file"},
        {"{}x", TD_FORMAT, "the header is not JSON at byte 3: end of file expected near 'x'"},
        {"{}", TD_FORMAT, "the tensors need 0 bytes of data, the file has 8; it is damaged"},
        {"{\"t\":5}", TD_FORMAT, "tensor \"t\" needs a dtype, a shape and data_offsets, and nothing else"},
        {"{\"t\":{}}", TD_FORMAT, "tensor \"t\" needs a dtype, a shape and data_offsets, and nothing else"},
        {"{\"t\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8],\"x\":1}}", TD_FORMAT,
         "tensor \"t\" needs a dtype, a shape and data_offsets, and nothing else"},
        {"{\"t\":{\"dtype\":8,\"shape\":[8],\"data_offsets\":[0,8]}}", TD_FORMAT,
         "tensor \"t\" needs a dtype, a shape and data_offsets, and nothing else"},
        {ENTRY("F7", "8", "0", "8"), TD_DTYPE, "tensor \"t\" has the dtype \"F7\", which is not known"},
        {ENTRY("U8", "-8", "0", "8"), TD_FORMAT, "dimension 0 of tensor \"t\" is no whole number of at least 0"},
        {ENTRY("U8", "1,8.0", "0", "8"), TD_FORMAT, "dimension 1 of tensor \"t\" is no whole number of at least 0"},
        {ENTRY("U8", "9223372036854775808", "0", "8"), TD_FORMAT,
         "the header is not JSON at byte 47: too big integer near '9223372036854775808'"},
        {ENTRY("U8", "1152921504606846976", "0", "8"), TD_OVERFLOW,
         "the shape of tensor \"t\" passes 2^63 - 1 bits; use smaller extents"},
        {ENTRY("U64", "4294967296,4294967296", "0", "8"), TD_OVERFLOW,
         "the shape of tensor \"t\" passes 2^63 - 1 bits; use smaller extents"},
        {ENTRY("F4", "17", "0", "8"), TD_FORMAT, "tensor \"t\" of F4 has 68 bits, which fill no whole bytes"},
        {ENTRY("U8", "9", "0", "8"), TD_FORMAT,
         "tensor \"t\" needs 9 bytes, its data_offsets hold 8; write the file again"},
        {ENTRY("U8", "8", "8", "0"), TD_FORMAT,
         "the data_offsets of tensor \"t\" are not two rising numbers; write the file again"},
        {ENTRY("U8", "8", "-8", "0"), TD_FORMAT,
         "the data_offsets of tensor \"t\" are not two rising numbers; write the file again"},
        {"{\"t\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[8]}}", TD_FORMAT,
         "the data_offsets of tensor \"t\" are not two rising numbers; write the file again"},
        {"{\"t\":{\"dtype\":\"U8\",\"shape\":8,\"data_offsets\":[0,8]}}", TD_FORMAT,
         "tensor \"t\" has no shape of at most 32 dimensions; write the file again"},
        {ENTRY("U8", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8", "0", "8"), TD_FORMAT,
         "the header has a list of more than 32 numbers; reshape the tensor"},
        {ENTRY("U8", "9", "0", "9"), TD_FORMAT, "the tensors need 9 bytes of data, the file has 8; it is cut short"},
        {ENTRY("U8", "7", "0", "7"), TD_FORMAT, "the tensors need 7 bytes of data, the file has 8; it is damaged"},
        {ENTRY("U8", "7", "1", "8"), TD_FORMAT,
         "tensor \"t\" begins at byte 1 of the data, the one before ends at 0; holes are refused"},
        {"{\"a\":" TENSOR("U8", "4", "0", "4") ",\"b\":" TENSOR("U8", "3", "5", "8") "}", TD_FORMAT,
         "tensor \"b\" begins at byte 5 of the data, the one before ends at 4; holes are refused"},
        {"{\"a\":" TENSOR("U8", "4", "0", "4") ",\"b\":" TENSOR("U8", "5", "3", "8") "}", TD_FORMAT,
         "tensor \"b\" begins at byte 3 of the data, the one before ends at 4; overlaps are refused"},
        {"{\"a\":" TENSOR("U8", "8", "0", "8") ",\"a\":" TENSOR("U8", "8", "0", "8") "}", TD_FORMAT,
         "the header is not JSON at byte 56: duplicate object key near '\"a\"'"},
        {"{\"__metadata__\":3}", TD_FORMAT,
         "the header has __metadata__ that is no object of strings; write the file again"},
        {"{\"__metadata__\":{\"a\":3}}", TD_FORMAT,
         "the header has __metadata__ that is no object of strings; write the file again"},
        {"{\"a\":{\"b\":[[[1]]]}}", TD_FORMAT, "the header is nested deeper than 4; write the file again"},
        {ENTRY("C64", "1", "0", "8"), TD_DTYPE,
         "the tensor is of C64, which no dtype here is; pass the dtype u64 for its bits"},
        {ENTRY("F8_E5M2FNUZ", "8", "0", "8"), TD_DTYPE,
         "the tensor is of F8_E5M2FNUZ, which no dtype here is; pass the dtype u8 for its bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[256];
        td_tensor *t = NULL;
        put(cases[i].json, "\0\0\0\0\0\0\0", 8);
        snprintf(message, sizeof message, "tensor_open \"a.safetensors\": %s", cases[i].message);
        ASSERT_REFUSED(td_tensor_open("a.safetensors", NULL, &t), cases[i].status, message);
        assert_null(t);
    }
    td_tensor *t = NULL;
    put(ENTRY("F4", "16", "0", "8"), "\0\0\0\0\0\0\0", 8);
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors", "i8", &t), TD_DTYPE,
        "tensor_open \"a.safetensors\": dtype i8 does not fit the 4 bits per element of the file (F4); pass one "
        "that does");
}

static void hostile_sizes(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    write_file("a.safetensors", "\x08\0\0\0\0\0\0", 7);
    ASSERT_REFUSED(td_tensor_open("a.safetensors", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.safetensors\": the file has 7 bytes, its length alone needs 8; it is cut short");
    write_file("a.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    ASSERT_REFUSED(td_tensor_open("a.safetensors", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.safetensors\": a header of 18446744073709551615 bytes, and the format has at most "
                   "100000000; it is no .safetensors");
    write_file("a.safetensors", "\x08\0\0\0\0\0\0\0{}", 10);
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors", NULL, &t), TD_FORMAT,
        "tensor_open \"a.safetensors\": the file ends inside its header: it has 10 bytes, the header ends at "
        "16");

    /* what a tree of it would cost is bounded before it is built: depth, long lists, many values */
    static const struct {
        const char *head;
        const char *unit;
        const char *message;
    } bombs[] = {
        {"{\"a\":", "[", "the header is nested deeper than 4; write the file again"},
        {"{\"a\":", "{\"a\":", "the header is nested deeper than 4; write the file again"},
        {"{\"a\":{\"shape\":[0", ",0", "the header has a list of more than 32 numbers; reshape the tensor"},
        {"{", "\"a\":{},", "the header has more values than its tensors need; write the file again"},
    };
    const size_t room = (size_t)20 << 20;
    char *json = malloc(room + 64);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        char message[160];
        struct rusage before;
        struct rusage after;
        size_t used = strlen(bombs[i].head);
        memcpy(json, bombs[i].head, used);
        for (; used < room; used += strlen(bombs[i].unit))
            memcpy(json + used, bombs[i].unit, strlen(bombs[i].unit));
        json[used] = '\0';
        put(json, NULL, 0);
        snprintf(message, sizeof message, "tensor_open \"a.safetensors\": %s", bombs[i].message);
        assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
        ASSERT_REFUSED(td_tensor_open("a.safetensors", NULL, &t), TD_FORMAT, message);
        assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
        assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10); /* in KiB: the mapped header, and little more */
    }
    free(json);
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    size_t bytes = 0;
    td_tensor *t = NULL;
    put("{\"a\":" TENSOR("U8", "4", "0", "4") ",\"b\":" TENSOR("I16", "2", "4", "8") "}", "12345678", 8);
    char *whole = read_whole_file("a.safetensors", &bytes);
    for (size_t cut = 0; cut < bytes; cut++) {
        write_file("cut.safetensors", whole, cut);
        assert_int_equal(td_tensor_open("cut.safetensors:a", NULL, &t), TD_FORMAT);
        assert_null(t);
    }
    ASSERT_OK(td_tensor_open("a.safetensors:a", NULL, &t));
    td_tensor_destroy(&t);
    free(whole);
}

static void saving(void **state)
{
    (void)state;
    static const char *const names[] = {"bytes", "w\"\\\n\xc3\xa9", "bits", "d"};
    static const char *const dtypes[] = {"u8", "bf16", "i12", "f64"};
    static const char *const words[] = {"\"F64\"", "\"BF16\"", "\"I16\"", "\"U8\""};
    td_tensor *t[4];
    folder_files(1);
    for (size_t i = 0; i < 4; i++) {
        ASSERT_OK(td_tensor_create(dtypes[i], TD_SHAPE(3, 5), &t[i]));
        ASSERT_OK(td_tensor_fill_random(t[i], i));
    }
    ASSERT_OK(td_tensor_save_all(names, (const td_tensor *const *)t, 4, "s.safetensors"));
    size_t bytes = 0;
    char *file = read_whole_file("s.safetensors", &bytes);
    const char *at = file + 8;
    for (size_t i = 0; i < 4; i++) { /* the widest first */
        at = strstr(at, words[i]);
        assert_non_null(at);
    }
    free(file);
    for (size_t i = 0; i < 4; i++) {
        char path[64];
        td_tensor *back = NULL;
        snprintf(path, sizeof path, "s.safetensors:%s", names[i]);
        ASSERT_OK(td_tensor_open(path, i == 2 ? "i12" : NULL, &back));
        assert_string_equal(td_tensor_dtype(back), dtypes[i]);
        assert_memory_equal(td_tensor_data_const(back), td_tensor_data_const(t[i]), 15 * td_tensor_elem_bytes(t[i]));
        assert_int_equal((uintptr_t)td_tensor_data_const(back) % td_tensor_elem_bytes(back), 0);
        td_tensor_destroy(&back);
    }
    ASSERT_REFUSED(
        td_tensor_save(t[0], "s.safetensors:bytes"), TD_ARGUMENT,
        "tensor_save \"s.safetensors:bytes\": the file is there with 4 tensors, which saving \"bytes\" would "
        "drop; save all of them at once with td_tensor_save_all, or use another file");
    ASSERT_REFUSED(td_tensor_save(t[0], "n.safetensors:__metadata__"), TD_ARGUMENT,
                   "tensor_save \"n.safetensors:__metadata__\": the name \"__metadata__\" is not that of a tensor; use "
                   "another");
    ASSERT_REFUSED(td_tensor_save(t[0], "n.safetensors:\xff"), TD_ARGUMENT,
                   "tensor_save \"n.safetensors:\xff\": the name \"\xff\" is not UTF-8; use another");
    td_tensor *odd = NULL;
    ASSERT_OK(td_tensor_create("e2m1", TD_SHAPE(3), &odd));
    ASSERT_REFUSED(td_tensor_save(odd, "n.safetensors"), TD_SHAPE,
                   "tensor_save \"n.safetensors\": 3 elements of e2m1 fill no whole bytes, as .safetensors packs them; "
                   "save as .npy, or pad \"tensor\"");
    td_tensor_destroy(&odd);
    ASSERT_OK(td_tensor_create("e8m10", TD_SHAPE(3), &odd));
    ASSERT_REFUSED(td_tensor_save(odd, "n.safetensors"), TD_DTYPE,
                   "tensor_save \"n.safetensors\": e8m10 has no name in .safetensors; save \"tensor\" as .npy");
    td_tensor_destroy(&odd);
    assert_int_equal(folder_files(0), 1);
    for (size_t i = 0; i < 4; i++)
        td_tensor_destroy(&t[i]);
}

/* A tensor of 5 GiB in a file that is one hole: opening it costs no memory to speak of. */
static void a_large_tensor_costs_nothing(void **state)
{
    (void)state;
    const uint64_t data_bytes = (uint64_t)5 << 30;
    td_tensor *t = NULL;
    struct rusage before;
    struct rusage after;
    put(ENTRY("F32", "1342177280", "0", "5368709120"), NULL, 0);
    size_t head = 0;
    free(read_whole_file("a.safetensors", &head));
    assert_int_equal(truncate("a.safetensors", (off_t)(head + data_bytes)), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    ASSERT_OK(td_tensor_open("a.safetensors", NULL, &t));
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_int_equal(td_tensor_elems(t), data_bytes / 4);
    assert_true(after.ru_maxrss - before.ru_maxrss < 8192); /* in KiB */
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_dtype),
        cmocka_unit_test(several_tensors),
        cmocka_unit_test(refusals),
        cmocka_unit_test(hostile_sizes),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(saving),
        cmocka_unit_test(a_large_tensor_costs_nothing),
    };
    return cmocka_run_group_tests_name("safetensors", tests, enter_folder, leave_folder);
}

#else

static void a_build_without_it_says_so(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    write_file("a.safetensors", "\x02\0\0\0\0\0\0\0{}", 10);
    ASSERT_REFUSED(
        td_tensor_open("a.safetensors", NULL, &t), TD_FILE,
        "tensor_open \"a.safetensors\": this build knows no .safetensors, it was made without jansson; install "
        "libjansson-dev and build again, or save as .npy or .npz");
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(3), &t));
    ASSERT_REFUSED(
        td_tensor_save(t, "b.safetensors"), TD_FILE,
        "tensor_save \"b.safetensors\": this build knows no .safetensors, it was made without jansson; install "
        "libjansson-dev and build again, or save as .npy or .npz");
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_build_without_it_says_so)};
    return cmocka_run_group_tests_name("safetensors", tests, enter_folder, leave_folder);
}

#endif
