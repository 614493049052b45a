/* @sym(NAME) in addresses: a tensor goes where the linker put its array. The ELF files are made here, byte by byte,
 * with one symbol table of a few symbols. */
#include "support.h"

#ifdef TD_HAVE_ELF

#include <elf.h>

static const char strings[] = "\0weights\0bias\0elsewhere\0local";

typedef struct file {
    Elf64_Ehdr header;
    Elf64_Shdr section[3]; /* none, symbols, strings */
    Elf64_Sym symbol[5];
    char text[sizeof strings];
} file;

static file make(void)
{
    file f = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_RISCV,
                   .e_version = EV_CURRENT,
                   .e_shoff = offsetof(file, section),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3},
        .section = {{0},
                    {.sh_type = SHT_SYMTAB,
                     .sh_offset = offsetof(file, symbol),
                     .sh_size = sizeof(Elf64_Sym[5]),
                     .sh_entsize = sizeof(Elf64_Sym),
                     .sh_link = 2,
                     .sh_info = 1},
                    {.sh_type = SHT_STRTAB, .sh_offset = offsetof(file, text), .sh_size = sizeof strings}},
        .symbol = {
            {0},
            {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = 1, .st_value = 0x106},
            {.st_name = 9, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = 1, .st_value = 0x40},
            {.st_name = 14, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), .st_shndx = SHN_UNDEF},
            {.st_name = 24, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), .st_shndx = 1, .st_value = UINT64_MAX}}};
    memcpy(f.text, strings, sizeof strings);
    return f;
}

static void save(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static int begin(void **state)
{
    if (enter_folder(state))
        return -1;
    const file f = make();
    file stripped = make();
    stripped.header.e_shnum = 1;
    save("fw.elf", &f, sizeof f);
    save("stripped.elf", &stripped, sizeof stripped);
    save("text.elf", "hello", 5);
    return 0;
}

/* int8_t weights[3][5] at a byte address: the bytes lie there and nowhere else. */
static void test_array_at_symbol(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *ram = NULL;
    ASSERT_OK(td_layout_create("... -> (...)", "addr_unit=byte elf=fw.elf", "@sym(weights) + 1", &layout));
    assert_string_equal(td_layout_address(layout), "263");
    assert_string_equal(td_layout_options(layout), "addr_unit=byte");
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 5), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 1, 1));
    ASSERT_OK(td_memory_create("ram", 32, 128, &ram));
    memset(td_memory_data(ram), 0xee, 512);
    ASSERT_OK(td_backdoor_load_tensor(ram, tensor, layout, NULL));
    const unsigned char *bytes = td_memory_data(ram);
    for (size_t i = 0; i < 512; i++)
        assert_int_equal(bytes[i], i >= 0x107 && i < 0x107 + 15 ? i - 0x107 + 1 : 0xee);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&ram);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *options, *address;
        td_status status;
        const char *message;
    } rows[] = {
        {"", "@sym(weights)", TD_ADDRESS,
         "layout_create: @sym without an ELF file in address \"@sym(weights)\"; pass elf=FILE in the options\n"
         "    @sym(weights)\n    ^~~~~~~~~~~~~"},
        {"elf=fw.elf", "4 + @weights", TD_ADDRESS,
         "layout_create: @ without sym(NAME) in address \"4 + @weights\"; write @sym(NAME), the address of a symbol\n"
         "    4 + @weights\n        ^"},
        {"elf=fw.elf", "@sym(wieghts)", TD_ADDRESS,
         "layout_create: \"fw.elf\" has no symbol wieghts; did you mean weights?"},
        {"elf=fw.elf", "@sym(q)", TD_ADDRESS, "layout_create: \"fw.elf\" has no symbol q among its 4; `nm` lists them"},
        {"elf=fw.elf", "@sym(elsewhere)", TD_ADDRESS,
         "layout_create: symbol elsewhere of \"fw.elf\" is not defined there; pass the linked file"},
        {"elf=fw.elf", "@sym(local)", TD_ADDRESS,
         "layout_create: a symbol at 2^63 or above in address \"@sym(local)\"; pass its address without the upper "
         "bits\n"
         "    @sym(local)\n    ^~~~~~~~~~~"},
        {"elf=stripped.elf", "@sym(bias)", TD_FORMAT,
         "layout_create: \"stripped.elf\" has no symbol table; pass the file as it was before `strip`"},
        {"elf=text.elf", "@sym(bias)", TD_FORMAT,
         "layout_create: \"text.elf\" is no ELF file, or damaged; pass the file that the linker wrote"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_layout *layout = NULL;
        ASSERT_REFUSED(td_layout_create("r c -> r c", rows[i].options, rows[i].address, &layout), rows[i].status,
                       rows[i].message);
        assert_null(layout);
    }
    td_layout *layout = NULL;
    ASSERT_REFUSED(
        td_layout_create("r c -> r c", "elf=none.elf", "@sym(bias)", &layout), TD_FILE,
        "layout_create: option elf=none.elf: cannot open the file: No such file or directory; check the path "
        "and its permissions");
    ASSERT_OK(td_layout_create("r c -> r c", "elf=fw.elf", "@sym(bias) + r", &layout));
    assert_string_equal(td_layout_address(layout), "64 + r");
    td_layout_destroy(&layout);
}

#else

/* A build without libelf says what it lacks. */
static void test_without_elf(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    ASSERT_REFUSED(td_layout_create("r c -> r c", "elf=fw.elf", "@sym(bias)", &layout), TD_FORMAT,
                   "layout_create: symbol bias of \"fw.elf\": this build reads no ELF; build it with libelf (meson "
                   "configure -Delf=enabled)");
    assert_null(layout);
}

#endif

static void test_reshape(void **state)
{
    (void)state;
    td_tensor *tensor = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 4), &tensor));
    ASSERT_OK(td_tensor_reshape(tensor, TD_SHAPE(2, 1, 6)));
    assert_int_equal(td_tensor_shape(tensor).rank, 3);
    assert_int_equal(td_tensor_shape(tensor).dim[2], 6);
    assert_int_equal(td_tensor_elems(tensor), 12);
    ASSERT_REFUSED(
        td_tensor_reshape(tensor, TD_SHAPE(5, 2)), TD_SHAPE,
        "tensor_reshape: shape (5, 2) has 10 elements, the tensor (2, 1, 6) has 12; pass a shape of as many");
    assert_int_equal(td_tensor_reshape(tensor, TD_SHAPE(12, 0)), TD_SHAPE);
    ASSERT_REFUSED(td_tensor_reshape(NULL, TD_SHAPE(1)), TD_ARGUMENT,
                   "tensor_reshape: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
    assert_int_equal(td_tensor_shape(tensor).rank, 3);
    td_tensor_destroy(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TD_HAVE_ELF
        cmocka_unit_test(test_array_at_symbol),
        cmocka_unit_test(test_refused),
#else
        cmocka_unit_test(test_without_elf),
#endif
        cmocka_unit_test(test_reshape),
    };
#ifdef TD_HAVE_ELF
    return cmocka_run_group_tests(tests, begin, leave_folder);
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
