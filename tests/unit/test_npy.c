/* .npy files: what numpy writes, what a hostile hand could write, every prefix of a file, and the text of every
 * refusal. */
#include "support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A file of one version around a header text; the caller frees it. */
static unsigned char *build(unsigned version, const char *header, const void *data, size_t data_bytes, size_t *total)
{
    size_t begin = version == 1 ? 10 : 12;
    size_t header_bytes = (begin + strlen(header) + 1 + 63) / 64 * 64 - begin;
    *total = begin + header_bytes + data_bytes;
    unsigned char *file = calloc(1, *total);
    assert_non_null(file);
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    memcpy(file, magic, sizeof magic);
    file[6] = (unsigned char)version;
    for (size_t i = 0; i < begin - 8; i++)
        file[8 + i] = (unsigned char)(header_bytes >> (8 * i));
    memset(file + begin, ' ', header_bytes);
    for (size_t i = 0; header[i]; i++)
        file[begin + i] = (unsigned char)header[i];
    file[begin + header_bytes - 1] = '\n';
    if (data_bytes)
        memcpy(file + begin + header_bytes, data, data_bytes);
    return file;
}

static void put(const char *name, unsigned version, const char *header, const void *data, size_t data_bytes)
{
    size_t total = 0;
    unsigned char *file = build(version, header, data, data_bytes, &total);
    write_file(name, file, total);
    free(file);
}

static void native_files_are_mapped(void **state)
{
    (void)state;
    const int16_t data[6] = {1, -2, 3, -4, 5, -6};
    for (unsigned version = 1; version <= 3; version++) {
        put("a.npy", version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", data, sizeof data);
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open("a.npy", NULL, &t));
        assert_string_equal(td_tensor_dtype(t), "i16");
        td_shape shape = td_tensor_shape(t);
        assert_int_equal(shape.rank, 2);
        assert_int_equal(shape.dim[0], 2);
        assert_int_equal(shape.dim[1], 3);
        assert_memory_equal(td_tensor_data_const(t), data, sizeof data);
        assert_null(td_tensor_data(t));
        ASSERT_REFUSED(
            td_tensor_set_bits(t, 0, 1), TD_ARGUMENT,
            "tensor_set_bits: the tensor is mapped read-only from a file; copy it into one from td_tensor_create");
        ASSERT_REFUSED(td_tensor_fill_random(t, 1), TD_ARGUMENT,
                       "tensor_fill_random: the tensor is mapped read-only from a file; copy it into one from "
                       "td_tensor_create");
        td_tensor_destroy(&t);
    }
}

static void every_type_has_its_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t bytes;
        const char *given;
        const char *dtype;
    } cases[] = {
        {"|b1", 1, NULL, "u1"},     {"|i1", 1, NULL, "i8"},   {"<i2", 2, NULL, "i16"},    {"<i4", 4, NULL, "i32"},
        {"<i8", 8, NULL, "i64"},    {"|u1", 1, NULL, "u8"},   {"<u2", 2, NULL, "u16"},    {"<u4", 4, "", "u32"},
        {"<u8", 8, NULL, "u64"},    {"<f2", 2, NULL, "f16"},  {"<f4", 4, NULL, "f32"},    {"<f8", 8, NULL, "f64"},
        {"|V2", 2, "bf16", "bf16"}, {"<V2", 2, "i16", "i16"}, {"<u2", 2, "bf16", "bf16"}, {">u2", 2, "bf16", "bf16"},
        {"|V1", 1, "u8", "u8"},     {"|V4", 4, "f32", "f32"}, {"|V8", 8, "u64", "u64"},   {"|i1", 1, "i4", "i4"},
        {"|u1", 1, "u3", "u3"},     {"<i2", 2, "i12", "i12"}, {"=i4", 4, NULL, "i32"},    {">i4", 4, "f32", "f32"},
        {"<u8", 8, "u40", "u40"},   {"|b1", 1, "u8", "u8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[128];
        unsigned char data[24] = {0};
        int big = cases[i].descr[0] == '>';
        for (size_t e = 0; e < 3; e++)
            data[e * cases[i].bytes + (big ? cases[i].bytes - 1 : 0)] = (unsigned char)(e & 1);
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }", cases[i].descr);
        put("a.npy", 1, header, data, 3 * cases[i].bytes);
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open("a.npy", cases[i].given, &t));
        assert_string_equal(td_tensor_dtype(t), cases[i].dtype);
        for (uint64_t e = 0; e < 3; e++) {
            uint64_t bits = 9;
            ASSERT_OK(td_tensor_get_bits(t, e, &bits));
            assert_int_equal(bits, e & 1);
        }
        td_tensor_destroy(&t);
    }
}

static void both_byte_orders(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 4, 8};
    for (size_t s = 0; s < 3; s++) {
        unsigned char big[40];
        unsigned char little[40];
        for (size_t i = 0; i < 5 * sizes[s]; i++) {
            big[i] = (unsigned char)(i * 37 + 11);
            little[i / sizes[s] * sizes[s] + sizes[s] - 1 - i % sizes[s]] = big[i];
        }
        char header[96];
        snprintf(header, sizeof header, "{'descr': '>u%zu', 'fortran_order': False, 'shape': (5,), }", sizes[s]);
        put("a.npy", 1, header, big, 5 * sizes[s]);
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open("a.npy", NULL, &t));
        assert_memory_equal(td_tensor_data_const(t), little, 5 * sizes[s]);
        assert_non_null(td_tensor_data(t)); /* owned: it could not be mapped */
        td_tensor_destroy(&t);
    }
}

static void fortran_order_is_turned(void **state)
{
    (void)state;
    static const td_shape shapes[] = {{2, {2, 3}},          {3, {2, 3, 4}}, {2, {200, 70}},
                                      {4, {3, 1, 5, 2}},    {1, {7}},       {3, {65, 3, 129}},
                                      {5, {2, 2, 3, 2, 2}}, {0, {0}},       {3, {1, 9, 1}}};
    for (size_t c = 0; c < sizeof shapes / sizeof shapes[0]; c++)
        for (size_t bytes = 1; bytes <= 8; bytes *= 2)
            for (int big = 0; big < 2; big++) {
                td_shape shape = shapes[c];
                uint64_t elems = 1;
                char dims[64] = "";
                for (size_t d = 0; d < shape.rank; d++) {
                    elems *= shape.dim[d];
                    snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%u, ", (unsigned)shape.dim[d]);
                }
                unsigned char *data = malloc((size_t)elems * bytes);
                unsigned char *want = malloc((size_t)elems * bytes);
                assert_true(data && want);
                for (uint64_t e = 0; e < elems; e++) { /* element e in row-major order is e, modulo its size */
                    uint64_t rest = e;
                    uint64_t place = 0;
                    uint64_t coordinate[TD_MAX_RANK];
                    for (size_t d = shape.rank; d-- > 0; rest /= shape.dim[d])
                        coordinate[d] = rest % shape.dim[d];
                    for (size_t d = shape.rank; d-- > 0;)
                        place = place * shape.dim[d] + coordinate[d];
                    for (size_t b = 0; b < bytes; b++) {
                        unsigned char value =
                            (unsigned char)(b < 4 ? (e * 2654435761u) >> (8 * b) : e >> (8 * (b - 4)));
                        want[e * bytes + b] = value;
                        data[place * bytes + (big ? bytes - 1 - b : b)] = value;
                    }
                }
                char header[160];
                snprintf(header, sizeof header, "{'descr': '%cu%zu', 'fortran_order': True, 'shape': (%s), }",
                         big ? '>' : '<', bytes, dims);
                put("f.npy", 1, header, data, (size_t)elems * bytes);
                td_tensor *t = NULL;
                ASSERT_OK(td_tensor_open("f.npy", NULL, &t));
                assert_memory_equal(td_tensor_data_const(t), want, (size_t)elems * bytes);
                td_tensor_destroy(&t);
                free(data);
                free(want);
            }
}

static void odd_but_legal_headers(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{\"descr\": \"<i2\", \"fortran_order\": False, \"shape\": (2, 3)}",
        "{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<i2'}",
        "  {'shape':(2,3,),'descr':'<i2','fortran_order':False,}",
    };
    const int16_t data[6] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        put("a.npy", 1, headers[i], data, sizeof data);
        td_tensor *t = NULL;
        ASSERT_OK(td_tensor_open("a.npy", NULL, &t));
        assert_memory_equal(td_tensor_data_const(t), data, sizeof data);
        td_tensor_destroy(&t);
    }
    /* data that begins at an odd byte is legal, and stays mapped there */
    const char text[] = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }\n";
    unsigned char file[10 + sizeof text - 1 + 6] = "\x93NUMPY\x01";
    file[8] = sizeof text - 1;
    memcpy(file + 10, text, sizeof text - 1);
    memcpy(file + 10 + sizeof text - 1, data, 6);
    assert_int_equal((10 + sizeof text - 1) % 2, 0);
    unsigned char odd[sizeof file + 1];
    memcpy(odd, file, 10);
    odd[8]++;
    odd[10] = ' ';
    memcpy(odd + 11, file + 10, sizeof file - 10);
    write_file("a.npy", odd, sizeof odd);
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_open("a.npy", NULL, &t));
    assert_memory_equal(td_tensor_data_const(t), data, 6);
    assert_null(td_tensor_data(t));
    td_tensor_destroy(&t);
}

#define NEEDED(what, column) "the header needs " what " at column " column "; write the file again with numpy.save"

static void bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        td_status status;
        const char *message;
    } cases[] = {
        {"['descr']", TD_FORMAT, NEEDED("'{'", "1")},
        {"{descr: 1}", TD_FORMAT, NEEDED("a quoted key or '}'", "2")},
        {"{'descr", TD_FORMAT, NEEDED("a quoted key or '}'", "2")},
        {"{'descr' '<i2'}", TD_FORMAT, NEEDED("':'", "10")},
        {"{'descr': 7}", TD_FORMAT, NEEDED("a quoted type", "11")},
        {"{'descr': '<i2' 'shape'}", TD_FORMAT, NEEDED("',' or '}'", "17")},
        {"{'fortran_order': 0}", TD_FORMAT, NEEDED("True or False", "19")},
        {"{'shape': 3}", TD_FORMAT, NEEDED("'(' of the shape", "11")},
        {"{'shape': (3 4)}", TD_FORMAT, NEEDED("',' or ')' of the shape", "14")},
        {"{'shape': (,)}", TD_FORMAT, NEEDED("a number or ')' of the shape", "12")},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)} x", TD_FORMAT, NEEDED("nothing more", "57")},
        {"{}", TD_FORMAT, "the header has no descr; write the file again with numpy.save"},
        {"{'descr': '<i2', 'fortran_order': False}", TD_FORMAT,
         "the header has no shape; write the file again with numpy.save"},
        {"{'descr': '<i2', 'descr': '<i2'}", TD_FORMAT,
         "the header has a key twice at column 19; it needs descr, fortran_order and shape, each once"},
        {"{'describe': '<i2'}", TD_FORMAT,
         "the header has an unknown key at column 3; it needs descr, fortran_order and shape, each once"},
        {"{'shape': (-1,)}", TD_SHAPE, "dimension 0 of the array is negative; write the file again"},
        {"{'shape': (2, 9223372036854775808)}", TD_OVERFLOW,
         "dimension 1 of the array passes 2^63 - 1; use smaller extents"},
        {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", TD_SHAPE,
         "the array has more than 32 dimensions; reshape it"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 0), }", TD_SHAPE,
         "shape (2, 0) has an extent of 0 at dimension 1; every extent is at least 1"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (4611686018427387904, 2), }", TD_OVERFLOW,
         "shape (4611686018427387904, 2) with 2 bytes per element passes 2^63 - 1 bytes; use smaller extents"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (1099511627776,), }", TD_FORMAT,
         "shape (1099511627776) of '<i2' needs 2199023255552 bytes of data, the file has 12; it is cut short"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (5,), }", TD_FORMAT,
         "shape (5) of '<i2' needs 10 bytes of data, the file has 12; it is not one array"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('|O') holds Python objects, which are no numbers; save an array of numbers"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('<c16') holds complex numbers; save the real and the imaginary part apart"},
        {"{'descr': '|S5', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('|S5') holds byte strings; save an array of numbers"},
        {"{'descr': '|a5', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('|a5') holds byte strings; save an array of numbers"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('<U5') holds strings; save an array of numbers"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('<M8[ns]') holds dates; save an array of numbers"},
        {"{'descr': '<m8[s]', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array ('<m8[s]') holds time differences; save an array of numbers"},
        {"{'descr': [('a', '<i2'), ('b', '<f4')], 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array holds records of several fields; save each field as an array of its own"},
        {"{'descr': ('<i2', (2,)), 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array holds records of several fields; save each field as an array of its own"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type '<f16' is not known; save it as b1, i1-i8, u1-u8, f2, f4, f8 or V1-V8"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type '<i3' is not known; save it as b1, i1-i8, u1-u8, f2, f4, f8 or V1-V8"},
        {"{'descr': '|V3', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type '|V3' is not known; save it as b1, i1-i8, u1-u8, f2, f4, f8 or V1-V8"},
        {"{'descr': '<i', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type '<i' is not known; save it as b1, i1-i8, u1-u8, f2, f4, f8 or V1-V8"},
        {"{'descr': 'int16', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type 'int16' has no byte order in front; save the file with numpy.save"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type '' has no byte order in front; save the file with numpy.save"},
        {"{'descr': '<i2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'fortran_order': False, 'shape': (1,), }", TD_DTYPE,
         "the array's type has a name of 34 characters; save it as a plain number type"},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (6,), }", TD_DTYPE,
         "the array ('|V2') does not say what its 2 bytes per element mean; pass a dtype, such as bf16"},
    };
    const int16_t data[6] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[512];
        put("bad.npy", 1, cases[i].header, data, sizeof data);
        snprintf(message, sizeof message, "tensor_open \"bad.npy\": %s", cases[i].message);
        td_tensor *t = NULL;
        ASSERT_REFUSED(td_tensor_open("bad.npy", NULL, &t), cases[i].status, message);
        assert_null(t);
    }
}

static void a_given_dtype_must_hold_the_values(void **state)
{
    (void)state;
    const int8_t small[4] = {-8, 7, 0, -1};
    const int8_t large[4] = {-8, 7, 8, -1};
    td_tensor *t = NULL;
    put("a.npy", 1, "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", small, 4);
    ASSERT_OK(td_tensor_open("a.npy", "i4", &t));
    assert_memory_equal(td_tensor_data_const(t), small, 4);
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_tensor_open("a.npy", "u4", &t), TD_RANGE,
                   "tensor_open \"a.npy\": element 0 is 0xf8, which u4 does not hold; pass a wider dtype");
    ASSERT_REFUSED(
        td_tensor_open("a.npy", "i16", &t), TD_DTYPE,
        "tensor_open \"a.npy\": dtype i16 lies in 2 bytes per element, the file ('|i1') has 1; pass a dtype of 1 "
        "bytes");
    put("a.npy", 1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }", large, 4);
    ASSERT_REFUSED(td_tensor_open("a.npy", "i4", &t), TD_RANGE,
                   "tensor_open \"a.npy\": element 1 is 0x08, which i4 does not hold; pass a wider dtype");
    put("a.npy", 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", large, 4);
    ASSERT_REFUSED(td_tensor_open("a.npy", NULL, &t), TD_RANGE,
                   "tensor_open \"a.npy\": element 0 is 0xf8, which u1 does not hold; pass a wider dtype");
    assert_int_equal(td_tensor_open("a.npy", "nonsense", &t), TD_DTYPE);
    assert_memory_equal(td_last_error(), "tensor_open \"a.npy\": ", 21);
    assert_null(t);
}

static void bad_files(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    ASSERT_REFUSED(td_tensor_open("none.npy", NULL, &t), TD_FILE,
                   "tensor_open \"none.npy\": cannot open the file: No such file or directory; check the path and its "
                   "permissions");
    assert_int_equal(mkdir("folder.npy", 0777), 0);
    ASSERT_REFUSED(td_tensor_open("folder.npy", NULL, &t), TD_FILE,
                   "tensor_open \"folder.npy\": not a regular file but a directory; pass a file");
    assert_int_equal(rmdir("folder.npy"), 0);
    assert_int_equal(mkfifo("pipe.npy", 0666), 0);
    ASSERT_REFUSED(td_tensor_open("pipe.npy", NULL, &t), TD_FILE,
                   "tensor_open \"pipe.npy\": not a regular file but a pipe or device; pass a file");
    assert_int_equal(unlink("pipe.npy"), 0);
    write_file("a.npy", "PK\x03\x04 and so on", 13);
    ASSERT_REFUSED(
        td_tensor_open("a.npy", NULL, &t), TD_FORMAT,
        "tensor_open \"a.npy\": not an .npy file: it does not begin with \\x93NUMPY; save it with numpy.save");
    write_file("a.npy", "\x93NUMPY\x04\x00\x10\x00", 10);
    ASSERT_REFUSED(td_tensor_open("a.npy", NULL, &t), TD_FORMAT,
                   "tensor_open \"a.npy\": version 4.0 of the .npy format; 1.0, 2.0 and 3.0 are known");
    write_file("a.npy", "\x93NUMPY\x01\x00\xff\xff{}", 12);
    ASSERT_REFUSED(
        td_tensor_open("a.npy", NULL, &t), TD_FORMAT,
        "tensor_open \"a.npy\": the file ends inside its header: it has 12 bytes, the header ends at 65545; write "
        "it again");
    ASSERT_REFUSED(td_tensor_open("a.txt", NULL, &t), TD_ARGUMENT,
                   "tensor_open \"a.txt\": the extension \".txt\" is not that of a tensor file; " TENSOR_FILES);
    ASSERT_REFUSED(td_tensor_open("a.b/c", NULL, &t), TD_ARGUMENT,
                   "tensor_open \"a.b/c\": the name has no extension that says which tensor file it is; " TENSOR_FILES);
    ASSERT_REFUSED(td_tensor_open(NULL, NULL, &t), TD_ARGUMENT,
                   "tensor_open: path is NULL; pass a path and a td_tensor pointer");
    ASSERT_REFUSED(td_tensor_open("a.npy", NULL, NULL), TD_ARGUMENT,
                   "tensor_open: out is NULL; pass a path and a td_tensor pointer");
    assert_null(t);
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    const int32_t data[6] = {1, 2, 3, 4, 5, 6};
    for (unsigned version = 1; version <= 3; version++) {
        size_t total = 0;
        unsigned char *file =
            build(version, "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }", data, sizeof data, &total);
        for (size_t bytes = 0; bytes < total; bytes++) {
            td_tensor *t = NULL;
            write_file("cut.npy", file, bytes);
            assert_int_equal(td_tensor_open("cut.npy", NULL, &t), TD_FORMAT);
            assert_null(t);
            if (bytes >= 6 && bytes < 8) {
                char message[128];
                snprintf(message, sizeof message,
                         "tensor_open \"cut.npy\": the file ends inside its header, at byte %zu; write it again",
                         bytes);
                assert_string_equal(td_last_error(), message);
            }
        }
        /* and every byte of the header, broken: refused or read, never a crash */
        for (size_t at = 0; at < total - sizeof data; at++)
            for (unsigned flip = 1; flip < 256; flip = flip * 3 + 1) {
                td_tensor *t = NULL;
                file[at] ^= (unsigned char)flip;
                write_file("cut.npy", file, total);
                (void)td_tensor_open("cut.npy", NULL, &t);
                td_tensor_destroy(&t);
                file[at] ^= (unsigned char)flip;
            }
        free(file);
    }
}

static void saving(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        const char *descr;
    } cases[] = {{"u1", "|u1"},  {"i4", "|i1"},  {"u8", "|u1"},  {"i12", "<i2"},  {"i16", "<i2"}, {"u32", "<u4"},
                 {"i33", "<i8"}, {"u64", "<u8"}, {"f16", "<f2"}, {"bf16", "<V2"}, {"f32", "<f4"}, {"f64", "<f8"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_tensor *t = NULL;
        td_tensor *back = NULL;
        ASSERT_OK(td_tensor_create(cases[i].dtype, TD_SHAPE(3, 1, 5), &t));
        ASSERT_OK(td_tensor_fill_random(t, 5));
        ASSERT_OK(td_tensor_save(t, "s.npy"));
        size_t bytes = 0;
        char *file = read_whole_file("s.npy", &bytes);
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (3, 1, 5), }  ",
                 cases[i].descr);
        assert_memory_equal(file, "\x93NUMPY\x01\x00v\x00", 10); /* 118 bytes of header: data at 128 */
        assert_memory_equal(file + 10, header, strlen(header));
        assert_int_equal(file[127], '\n');
        assert_int_equal(bytes, 128 + 15 * td_tensor_elem_bytes(t));
        free(file);
        ASSERT_OK(td_tensor_open("s.npy", cases[i].dtype, &back));
        assert_memory_equal(td_tensor_data_const(t), td_tensor_data_const(back), 15 * td_tensor_elem_bytes(t));
        /* over itself, while it is mapped */
        ASSERT_OK(td_tensor_save(back, "s.npy"));
        assert_memory_equal(td_tensor_data_const(t), td_tensor_data_const(back), 15 * td_tensor_elem_bytes(t));
        td_tensor_destroy(&t);
        td_tensor_destroy(&back);
    }
    static const struct {
        td_shape shape;
        const char *text;
    } shapes[] = {{{0, {0}}, "'shape': (), }"}, {{1, {7}}, "'shape': (7,), }"}, {{2, {7, 2}}, "'shape': (7, 2), }"}};
    for (size_t i = 0; i < 3; i++) {
        td_tensor *t = NULL;
        size_t bytes = 0;
        ASSERT_OK(td_tensor_create("i8", shapes[i].shape, &t));
        ASSERT_OK(td_tensor_save(t, "s.npy"));
        char *file = read_whole_file("s.npy", &bytes);
        assert_non_null(strstr(file + 10, shapes[i].text));
        free(file);
        td_tensor_destroy(&t);
    }
}

static void a_refused_save_leaves_nothing(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    folder_files(1);
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4), &t));
    ASSERT_REFUSED(
        td_tensor_save(t, "none/s.npy"), TD_FILE,
        "tensor_save \"none/s.npy\": cannot create the file: No such file or directory; check the folder and its "
        "permissions");
    ASSERT_REFUSED(
        td_tensor_save(t, "s.hex"), TD_ARGUMENT,
        "tensor_save \"s.hex\": the extension \".hex\" is that of a memory image, not of a tensor file; " TENSOR_FILES);
    assert_int_equal(mkdir("s.npy", 0777), 0);
    ASSERT_REFUSED(td_tensor_save(t, "s.npy"), TD_FILE,
                   "tensor_save \"s.npy\": cannot put the file in place: Is a directory; choose another name");
    assert_int_equal(folder_files(0), 1);
    ASSERT_REFUSED(td_tensor_save(NULL, "s.npy"), TD_ARGUMENT, "tensor_save: tensor is NULL; pass a tensor and a path");
    ASSERT_REFUSED(td_tensor_save(t, NULL), TD_ARGUMENT, "tensor_save: path is NULL; pass a tensor and a path");
    td_tensor_destroy(&t);
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    struct rlimit before;
    folder_files(1);
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(100000), &t));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {5000, before.rlim_max};
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    td_status status = td_tensor_save(t, "s.npy");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_REFUSED(status, TD_FILE,
                   "tensor_save \"s.npy\": cannot write the file: File too large; nothing was left behind");
    assert_int_equal(folder_files(0), 0);
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_files_are_mapped),
        cmocka_unit_test(every_type_has_its_dtype),
        cmocka_unit_test(both_byte_orders),
        cmocka_unit_test(fortran_order_is_turned),
        cmocka_unit_test(odd_but_legal_headers),
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(a_given_dtype_must_hold_the_values),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(saving),
        cmocka_unit_test(a_refused_save_leaves_nothing),
        cmocka_unit_test(a_full_disk_leaves_nothing),
    };
    return cmocka_run_group_tests_name("npy", tests, enter_folder, leave_folder);
}
