/* The names that every call on files takes: formats, options, members, raw tensors, and the text of every refusal. */
#include "support.h"

static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned kind;
    } cases[] = {
        {"a.npy", TD_USE_TENSOR},
        {"a.NPY", TD_USE_TENSOR},
        {"a.npz", TD_USE_TENSOR | TD_USE_MEMBERS},
        {"a.npz:w", TD_USE_TENSOR},
        {"a.b.safetensors:layer.0.hex", TD_USE_TENSOR},
        {"npz:a.dat", TD_USE_TENSOR | TD_USE_MEMBERS},
        {"npz:a.dat:w:x", TD_USE_TENSOR},
        {"a.raw", TD_USE_TENSOR | TD_USE_IMAGE},
        {"a.bin", TD_USE_TENSOR | TD_USE_IMAGE},
        {"raw,dtype=f32,shape=2x3:a.x", TD_USE_TENSOR},
        {"a.hex", TD_USE_IMAGE},
        {"a.memb", TD_USE_IMAGE},
        {"elf:a", TD_USE_IMAGE},
        {"dir.npy/a", 0},
        {"a", 0},
        {"", 0},
        {"./npy:a", 0},
        {"foo:a", 0},
        {"npy:", 0},
        {"npy,dtype=f33:a", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(td_file_kind(cases[i].name), cases[i].kind);
    assert_int_equal(td_file_kind(NULL), 0);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        td_status status;
        const char *message;
    } tensors[] = {
        {"", TD_ARGUMENT, "the name has no extension that says which tensor file it is; " TENSOR_FILES},
        {"a", TD_ARGUMENT, "the name has no extension that says which tensor file it is; " TENSOR_FILES},
        {"a.npz/b", TD_ARGUMENT, "the name has no extension that says which tensor file it is; " TENSOR_FILES},
        {"a.hex", TD_ARGUMENT, "the extension \".hex\" is that of a memory image, not of a tensor file; " TENSOR_FILES},
        {"srec:a", TD_ARGUMENT,
         "srec is a format of memory images, not of tensors; use npy, npz, safetensors, "
         "gguf or raw"},
        {"npy:", TD_ARGUMENT, "the name has no path; write npy:FILE"},
        {"a.npz:", TD_ARGUMENT, "no tensor is named behind the last colon; write a.npz:NAME, or leave the colon out"},
        {"npy,shape=3:a", TD_OPTION, "npy has no option \"shape\"; it has dtype"},
        {"raw,base=3:a", TD_OPTION, "raw has no option \"base\"; it has dtype, shape, offset, endian"},
        {"raw,shape:a", TD_OPTION, "the option \"shape\" has no value; write KEY=VALUE"},
        {"raw,:a", TD_OPTION, "the option \"\" has no value; write KEY=VALUE"},
        {"raw,shape=2y3:a", TD_OPTION, "the option shape is \"2y3\"; it needs extents with x between them, as 2x3x4"},
        {"raw,shape=:a", TD_OPTION, "the option shape is \"\"; it needs extents with x between them, as 2x3x4"},
        {"raw,shape=2x:a", TD_SHAPE, "shape \"2,\": a number is needed at column 3; write it as \"2 3 4\""},
        {"raw,offset=-1:a", TD_OPTION, "the option offset is \"-1\"; it needs a whole number, decimal or 0x"},
        {"raw,endian=middle:a", TD_OPTION, "the option endian is \"middle\"; it needs little or big"},
    };
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        char message[256];
        td_tensor *t = NULL;
        snprintf(message, sizeof message, "tensor_open \"%s\": %s", tensors[i].name, tensors[i].message);
        ASSERT_REFUSED(td_tensor_open(tensors[i].name, NULL, &t), tensors[i].status, message);
    }
    static const struct {
        const char *name;
        td_status status;
        const char *message;
    } images[] = {
        {"a.npy", TD_ARGUMENT, "the extension \".npy\" is that of a tensor file, not of a memory image; " IMAGE_FILES},
        {"npz:a", TD_ARGUMENT,
         "npz is a format of tensors, not of memory images; use readmemh, readmemb, raw, mif, coe, ihex, srec or elf"},
        {"elf,x=0:a", TD_OPTION, "elf has no option \"x\"; it has endian, base, address, bss, section, outside"},
        {"readmemh,foo=0:a", TD_OPTION, "readmemh has no option \"foo\"; it has endian, base, x, unit, address"},
        {"raw,dtype=u8:a", TD_OPTION, "raw has no option \"dtype\"; it has endian"},
        {"readmemh,x=2:a", TD_OPTION, "the option x is \"2\"; it needs 0 or 1"},
        {"readmemh,unit=nibble:a", TD_OPTION, "the option unit is \"nibble\"; it needs word or byte"},
        {"readmemh,address=bit:a", TD_OPTION, "the option address is \"bit\"; it needs word or byte"},
        {"readmemh,unit=byte,address=byte:a", TD_OPTION,
         "unit=byte already counts its addresses in bytes; leave address=byte out"},
        {"readmemh,endian=big:a", TD_OPTION, "endian=big without unit=byte; the digits of a word have one order only"},
        {"elf,address=word:a", TD_OPTION, "the option address is \"word\"; it needs physical or virtual"},
        {"elf,bss=one:a", TD_OPTION, "the option bss is \"one\"; it needs zero or keep"},
        {"ihex,base=0x:a", TD_OPTION, "the option base is \"0x\"; it needs a whole number, decimal or 0x"},
    };
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        char message[256];
        uint64_t depth = 0;
        snprintf(message, sizeof message, "image_depth \"%s\": %s", images[i].name, images[i].message);
        ASSERT_REFUSED(td_image_depth(images[i].name, 8, &depth), images[i].status, message);
    }
}

static void a_path_may_look_like_a_name(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    td_tensor *back = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3), &t));
    ASSERT_OK(td_tensor_save(t, "./raw:a.npy"));
    ASSERT_OK(td_tensor_open("npy:raw:a.npy", NULL, &back));
    td_tensor_destroy(&back);
    ASSERT_REFUSED(td_tensor_open("raw:a.npy", NULL, &back), TD_FILE,
                   "tensor_open \"raw:a.npy\": cannot open the file: No such file or directory; check the path and its "
                   "permissions");
    td_tensor_destroy(&t);
}

static void raw_tensors(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    write_file("r.dat", "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c", 12);
    ASSERT_OK(td_tensor_open("raw,dtype=i16,shape=2x3:r.dat", NULL, &t));
    assert_int_equal(td_tensor_shape(t).rank, 2);
    assert_memory_equal(td_tensor_data_const(t), "\x01\x02\x03\x04", 4);
    assert_null(td_tensor_data(t)); /* mapped */
    ASSERT_REFUSED(
        td_tensor_save(t, "raw,dtype=i16:s.dat"), TD_OPTION,
        "tensor_save \"raw,dtype=i16:s.dat\": a tensor is saved with its own dtype and shape, from the first "
        "byte on; leave dtype, shape and offset out");
    ASSERT_OK(td_tensor_save(t, "raw,endian=big:s.raw"));
    td_tensor_destroy(&t);
    size_t bytes = 0;
    char *file = read_whole_file("s.raw", &bytes);
    assert_int_equal(bytes, 12);
    assert_memory_equal(file, "\x02\x01\x04\x03", 4);
    free(file);
    ASSERT_OK(td_tensor_open("raw,endian=big:s.raw", "u16", &t));
    assert_int_equal(td_tensor_shape(t).dim[0], 6);
    assert_memory_equal(td_tensor_data_const(t), "\x01\x02\x03\x04", 4);
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_open("raw,offset=9:r.dat", "u8", &t));
    assert_memory_equal(td_tensor_data_const(t), "\x0a\x0b\x0c", 3);
    td_tensor_destroy(&t);

    static const struct {
        const char *name;
        const char *dtype;
        td_status status;
        const char *message;
    } cases[] = {
        {"raw:r.dat", NULL, TD_DTYPE,
         "a raw file does not say what its bytes mean; pass a dtype, as raw,dtype=f32:FILE"},
        {"raw,dtype=u8:r.dat", "u8", TD_ARGUMENT, "the dtype is given twice, in the name and as \"u8\"; leave one out"},
        {"raw:r.dat", "f64", TD_FORMAT,
         "12 bytes are not whole elements of 8 bytes (f64); the file is cut short, or of another dtype"},
        {"raw,shape=4x4:r.dat", "u8", TD_FORMAT,
         "shape (4, 4) of u8 needs 16 bytes of data, the file has 12; it is cut short, or of another shape"},
        {"raw,shape=2x2:r.dat", "u8", TD_FORMAT,
         "shape (2, 2) of u8 needs 4 bytes of data, the file has 12; pass its shape"},
        {"raw,offset=12:r.dat", "u8", TD_FORMAT,
         "the file has 12 bytes, the data begins at offset 12; it is cut short"},
        {"raw,shape=9223372036854775807x2:r.dat", "u8", TD_OVERFLOW,
         "shape (9223372036854775807, 2) with 1 bytes per element passes 2^63 - 1 bytes; use smaller extents"},
        {"raw:r.dat", "i3", TD_RANGE, "element 3 is 0x04, which i3 does not hold; pass a wider dtype"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[256];
        snprintf(message, sizeof message, "tensor_open \"%s\": %s", cases[i].name, cases[i].message);
        ASSERT_REFUSED(td_tensor_open(cases[i].name, cases[i].dtype, &t), cases[i].status, message);
        assert_null(t);
    }
}

static void lists_of_tensors_are_checked(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    char **names = NULL;
    size_t count = 0;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3), &t));
    const td_tensor *const two[2] = {t, t};
    const td_tensor *const hole[2] = {t, NULL};
    const char *const same[2] = {"a", "a"};
    const char *const empty[2] = {"a", ""};
    const char *const good[2] = {"a", "b"};
    folder_files(1);
    ASSERT_REFUSED(td_tensor_save_all(NULL, two, 2, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all: names is NULL; pass names, tensors and a path");
    ASSERT_REFUSED(td_tensor_save_all(good, NULL, 2, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all: tensors is NULL; pass names, tensors and a path");
    ASSERT_REFUSED(td_tensor_save_all(good, two, 2, NULL), TD_ARGUMENT,
                   "tensor_save_all: path is NULL; pass names, tensors and a path");
    ASSERT_REFUSED(td_tensor_save_all(good, two, 0, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all \"a.npz\": no tensors to save; pass at least one");
    ASSERT_REFUSED(td_tensor_save_all(same, two, 2, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all \"a.npz\": the name \"a\" is given twice; use another");
    ASSERT_REFUSED(td_tensor_save_all(empty, two, 2, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all \"a.npz\": tensor 1 has no name; pass a name and a tensor for each");
    ASSERT_REFUSED(td_tensor_save_all(good, hole, 2, "a.npz"), TD_ARGUMENT,
                   "tensor_save_all \"a.npz\": tensor 1 is NULL; pass a name and a tensor for each");
    ASSERT_REFUSED(td_tensor_save_all(good, two, 2, "a.npy"), TD_ARGUMENT,
                   "tensor_save_all \"a.npy\": the format holds one tensor; pass a .npz or .safetensors file");
    ASSERT_REFUSED(td_tensor_save_all(good, two, 2, "a.npz:w"), TD_ARGUMENT,
                   "tensor_save_all \"a.npz:w\": the name is of one tensor already; pass a .npz or .safetensors file");
    ASSERT_REFUSED(td_tensor_members(NULL, &names, &count), TD_ARGUMENT,
                   "tensor_members: path is NULL; pass a path, a char ** pointer and a size_t");
    ASSERT_REFUSED(td_tensor_members("a.npz", NULL, &count), TD_ARGUMENT,
                   "tensor_members: names is NULL; pass a path, a char ** pointer and a size_t");
    ASSERT_REFUSED(td_tensor_members("a.npz", &names, NULL), TD_ARGUMENT,
                   "tensor_members: count is NULL; pass a path, a char ** pointer and a size_t");
    ASSERT_REFUSED(td_tensor_members("a.npz:w", &names, &count), TD_ARGUMENT,
                   "tensor_members \"a.npz:w\": the name is of one tensor already; pass a .npz or .safetensors file");
    ASSERT_REFUSED(td_tensor_members("a.npy", &names, &count), TD_ARGUMENT,
                   "tensor_members \"a.npy\": the file is one tensor without a name; pass a .npz or .safetensors file");
    assert_int_equal(folder_files(0), 0);
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_path_may_look_like_a_name),
        cmocka_unit_test(raw_tensors),
        cmocka_unit_test(lists_of_tensors_are_checked),
    };
    return cmocka_run_group_tests_name("file names", tests, enter_folder, leave_folder);
}
