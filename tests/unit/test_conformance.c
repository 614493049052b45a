/* The memory images of tests/data/conformance.json, which another implementation of the same semantics produced: every
 * case is loaded and must give the image bit for bit, and dumped and must give the tensor back. */
#include "json.h"
#include "tensordoor.h"
#include "values/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEPTH = 256, TEXT = 1024 };

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != TD_OK)                                                                                           \
            fail_msg("%s: %s", #call, td_last_error());                                                                \
    } while (0)

static void add(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, TEXT - used, fmt, args);
    va_end(args);
}

static void set_text(td_tensor *tensor, uint64_t elem, const char *text)
{
    td_dtype dtype;
    uint64_t bits = 0;
    MUST(td_dtype_parse(td_tensor_dtype(tensor), &dtype));
    MUST(td_dtype_from_text(dtype, text, &bits));
    MUST(td_tensor_set_bits(tensor, elem, bits));
}

static td_tensor *make_tensor(const json *one)
{
    td_shape shape = {0};
    const json *dims = json_get(one, "shape"), *gen = json_get(one, "gen"), *vals = json_get(one, "vals");
    for (size_t i = 0; i < dims->count; i++)
        shape.dim[shape.rank++] = strtoull(dims->item[i].text, NULL, 10);
    td_tensor *tensor = NULL;
    MUST(td_tensor_create(json_text(one, "dtype", ""), shape, &tensor));
    if (gen)
        MUST(td_tensor_fill_ramp(tensor, strtod(gen->item[0].text, NULL), strtod(gen->item[1].text, NULL)));
    for (size_t i = 0; vals && i < vals->count; i++)
        set_text(tensor, i, vals->item[i].text);
    return tensor;
}

/* Hex digits, most significant first, into a stored word. */
static void word_from_hex(const char *hex, unsigned char *word, size_t word_bytes)
{
    memset(word, 0, word_bytes);
    size_t digits = strlen(hex);
    for (size_t i = 0; i < digits; i++) {
        const char digit[2] = {hex[digits - 1 - i], '\0'};
        word[i / 2] = (unsigned char)(word[i / 2] | strtoul(digit, NULL, 16) << (i % 2 * 4));
    }
}

/* base + the strides of the temporal axes, which are those of consecutive words when the case names none. */
static void write_address(const json *one, const json *sizes, char *address)
{
    const json *strides = json_get(one, "stride");
    char axes[TEXT];
    snprintf(axes, sizeof axes, "%s", json_text(one, "te", ""));
    address[0] = '\0';
    add(address, "%lld", json_whole(one, "base", 0));
    long long product = 1;
    for (size_t i = 0; i < sizes->count; i++)
        product *= strtoll(sizes->item[i].text, NULL, 10);
    char *rest = NULL;
    for (char *axis = strtok_r(axes, " ", &rest); axis; axis = strtok_r(NULL, " ", &rest)) {
        product /= json_whole(sizes, axis, 1);
        add(address, " + %lld*%s", strides ? json_whole(strides, axis, 0) : product, axis);
    }
}

static void write_options(const json *one, char *options)
{
    const json *sizes[] = {json_get(one, "t"), json_get(one, "s")};
    options[0] = '\0';
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizes[k]->count; i++)
            add(options, "%s=%s ", sizes[k]->item[i].key, sizes[k]->item[i].text);
    const json *pad = json_get(one, "pad");
    if (pad)
        add(options, "pad=%s pad_at=%s", json_text(pad, "value", "0"), json_text(pad, "pos", "end"));
}

/* The whole memory against the case: words that it does not name are zero. `final` says who won where words clash. */
static void check_image(const json *one, td_memory *memory)
{
    const json *addrs = json_get(one, "addrs"), *words = json_get(one, "words"), *final = json_get(one, "final");
    const size_t word_bytes = td_memory_word_bytes(memory);
    unsigned char *image = calloc(DEPTH, word_bytes);
    for (size_t k = 0; k < addrs->count; k++)
        word_from_hex(words->item[k].text, image + strtoull(addrs->item[k].text, NULL, 10) * word_bytes, word_bytes);
    for (size_t k = 0; final && k < final->count; k++)
        word_from_hex(final->item[k].text, image + strtoull(final->item[k].key, NULL, 10) * word_bytes, word_bytes);
    assert_memory_equal(td_memory_data(memory), image, DEPTH * word_bytes);
    free(image);
}

/* The same layout as a mapping: sizes in the order of `te`, strides where the case has them. */
static td_layout *make_mapping(const json *one)
{
    const json *sizes = json_get(one, "t"), *lanes = json_get(one, "s"), *steps = json_get(one, "stride"),
               *pad = json_get(one, "pad");
    char temporal[TEXT] = "", spatial[TEXT] = "", strides[TEXT] = "", options[TEXT] = "", axes[TEXT], *rest = NULL;
    snprintf(axes, sizeof axes, "%s", json_text(one, "te", ""));
    for (char *axis = strtok_r(axes, " ", &rest); axis; axis = strtok_r(NULL, " ", &rest)) {
        add(temporal, "%s=%lld ", axis, json_whole(sizes, axis, 1));
        if (steps)
            add(strides, "%s=%lld ", axis, json_whole(steps, axis, 0));
    }
    for (size_t i = 0; i < lanes->count; i++)
        add(spatial, "%s=%s ", lanes->item[i].key, lanes->item[i].text);
    if (pad)
        add(options, "pad=%s pad_at=%s", json_text(pad, "value", "0"), json_text(pad, "pos", "end"));
    if (json_get(one, "final"))
        add(options, " alias=last");
    td_layout *layout = NULL;
    MUST(td_layout_from_mapping(json_text(one, "sw", ""), json_text(one, "hw", ""), temporal, spatial,
                                (uint64_t)json_whole(one, "base", 0), strides, options, &layout));
    return layout;
}

static void check_tensor_case(const json *one)
{
    char pattern[TEXT], options[TEXT], address[TEXT];
    snprintf(pattern, sizeof pattern, "%s -> %s", json_text(one, "sw", ""), json_text(one, "hw", ""));
    write_options(one, options);
    write_address(one, json_get(one, "t"), address);

    td_tensor *tensor = make_tensor(one), *back = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    MUST(td_memory_create("m", (uint64_t)json_whole(one, "width", 0), DEPTH, &memory));
    MUST(td_layout_create(pattern, options, address, &layout));
    const bool clashes = json_get(one, "final") != NULL;
    if (clashes) {
        assert_int_equal(td_backdoor_load_tensor(memory, tensor, layout, NULL), TD_ALIAS);
        td_layout_destroy(&layout);
        add(options, "alias=last");
        MUST(td_layout_create(pattern, options, address, &layout));
    }
    MUST(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    check_image(one, memory);
    MUST(td_memory_clear(memory));
    td_layout *mapping = make_mapping(one);
    MUST(td_backdoor_load_tensor(memory, tensor, mapping, NULL));
    check_image(one, memory);
    td_layout_destroy(&mapping);

    MUST(td_tensor_create(td_tensor_dtype(tensor), td_tensor_shape(tensor), &back));
    MUST(td_backdoor_dump_tensor(memory, back, layout, NULL));
    if (!clashes)
        assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor),
                            td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static void check_matrix_case(const json *one)
{
    td_tensor *tensor = make_tensor(one), *back = NULL;
    td_memory *memory = NULL;
    const uint64_t width = (uint64_t)json_whole(one, "width", 0), first = (uint64_t)json_whole(one, "base", 0);
    const td_shape shape = td_tensor_shape(tensor);
    const size_t elem_bytes = td_tensor_elem_bytes(tensor);
    MUST(td_memory_create("m", width, DEPTH, &memory));
    MUST(td_backdoor_load_matrix(memory, tensor, first, first + shape.dim[0]));
    check_image(one, memory);

    MUST(td_tensor_create(td_tensor_dtype(tensor), shape, &back));
    MUST(td_backdoor_dump_matrix(memory, back, first, first + shape.dim[0]));
    for (uint64_t i = 0; i < td_tensor_elems(tensor); i++) {
        uint64_t bits = 0, wanted = 0;
        MUST(td_tensor_get_bits(back, i, &bits));
        MUST(td_tensor_get_bits(tensor, i, &wanted));
        const uint64_t low = i % shape.dim[1] * elem_bytes * 8; /* the cases have whole-byte elements */
        const uint64_t kept = width <= low ? 0 : width - low;
        if (kept < elem_bytes * 8)
            wanted &= ((uint64_t)1 << kept) - 1;
        assert_int_equal(bits, wanted);
    }
    td_memory_destroy(&memory);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static void test_case(void **state)
{
    const json *one = *state;
    if (strcmp(json_text(one, "op", ""), "matrix") == 0)
        check_matrix_case(one);
    else
        check_tensor_case(one);
}

/* One element per word; the word at addrs[k] holds element k, or the last one that went there. */
static void test_addresses(void **state)
{
    const json *one = *state, *dim = json_get(one, "dim"), *addrs = json_get(one, "addrs");
    char pattern[TEXT] = "", address[TEXT], axes[TEXT];
    td_shape shape = {0};
    snprintf(axes, sizeof axes, "%s", json_text(one, "te", ""));
    char *rest = NULL;
    for (char *axis = strtok_r(axes, " ", &rest); axis; axis = strtok_r(NULL, " ", &rest))
        shape.dim[shape.rank++] = (uint64_t)json_whole(dim, axis, 0);
    add(pattern, "%s -> (%s) ()", json_text(one, "te", ""), json_text(one, "te", ""));
    write_address(one, dim, address);

    uint16_t image[DEPTH] = {0};
    bool clash = false;
    for (size_t k = 0; k < addrs->count; k++) {
        uint16_t *word = &image[strtoull(addrs->item[k].text, NULL, 10)];
        clash = clash || *word;
        *word = (uint16_t)(k + 1);
    }
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    MUST(td_tensor_create("u16", shape, &tensor));
    MUST(td_tensor_fill_ramp(tensor, 1, 1));
    MUST(td_memory_create("m", 16, DEPTH, &memory));
    MUST(td_layout_create(pattern, clash ? "alias=last" : "", address, &layout));
    MUST(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    assert_memory_equal(td_memory_data(memory), image, sizeof image);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
}

static void test_byte_mask(void **state)
{
    const json *one = *state;
    const uint64_t address = 3;
    const char *mask_text = json_text(one, "mask", "");
    unsigned char old[8], data[8], new[8], read[8], mask = 0;
    word_from_hex(json_text(one, "old", ""), old, sizeof old);
    word_from_hex(json_text(one, "data", ""), data, sizeof data);
    word_from_hex(json_text(one, "new", ""), new, sizeof new);
    for (; *mask_text; mask_text++)
        mask = (unsigned char)(mask << 1 | (*mask_text == '1'));
    td_memory *memory = NULL;
    MUST(td_memory_create("m", 40, DEPTH, &memory));
    MUST(td_backdoor_write(memory, &address, 1, old, NULL));
    MUST(td_backdoor_write_bytes(memory, &address, 1, data, &mask));
    MUST(td_backdoor_read(memory, &address, 1, read));
    assert_memory_equal(read, new, sizeof new);
    td_memory_destroy(&memory);
}

/* Saves words [0, rows) and gives the file's bytes. */
static size_t save_and_read(td_memory *memory, uint64_t rows, const char *path, char *bytes, size_t room)
{
    const td_span span = {.bank = 0, .first = 0, .count = rows};
    MUST(td_memory_save_file(memory, path, &span, 1));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, room - 1, file);
    fclose(file);
    bytes[length] = '\0';
    return length;
}

static void check_reads_back(const td_memory *memory, uint64_t width, const char *path)
{
    td_memory *other = NULL;
    MUST(td_memory_create("other", width, DEPTH, &other));
    MUST(td_memory_load_file(other, path));
    assert_memory_equal(td_memory_data(other), td_memory_data((td_memory *)memory),
                        DEPTH * td_memory_word_bytes(memory));
    td_memory_destroy(&other);
    remove(path);
}

static void test_file(void **state)
{
    const json *one = *state, *rows = json_get(one, "rows"), *words = json_get(one, "words");
    const size_t columns = rows->item[0].count;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    MUST(td_tensor_create(json_text(one, "dtype", ""), TD_SHAPE(rows->count, columns), &tensor));
    for (size_t i = 0; i < rows->count * columns; i++)
        set_text(tensor, i, rows->item[i / columns].item[i % columns].text);
    const uint64_t width = columns * td_tensor_elem_bytes(tensor) * 8;
    MUST(td_memory_create("m", width, DEPTH, &memory));
    MUST(td_layout_create("r c -> r c", NULL, NULL, &layout));
    MUST(td_backdoor_load_tensor(memory, tensor, layout, NULL));

    char folder[] = "/tmp/td_conformance_XXXXXX", path[64], bytes[TEXT], wanted[TEXT] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.hex", folder);
    save_and_read(memory, rows->count, path, bytes, sizeof bytes);
    for (size_t i = 0; i < words->count; i++)
        add(wanted, "%s\n", words->item[i].text);
    assert_string_equal(bytes, wanted);
    check_reads_back(memory, width, path);

    snprintf(path, sizeof path, "%s/m.bin", folder);
    size_t length = save_and_read(memory, rows->count, path, bytes, sizeof bytes);
    wanted[0] = '\0';
    for (size_t i = 0; i < length; i++)
        add(wanted, "%02x", (unsigned char)bytes[i]);
    assert_string_equal(wanted, json_text(one, "bin_little", ""));
    check_reads_back(memory, width, path);

    rmdir(folder);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
}

int main(void)
{
    static const struct {
        const char *key;
        CMUnitTestFunction test;
    } parts[] = {
        {"cases", test_case}, {"addresses", test_addresses}, {"byte_masks", test_byte_mask}, {"files", test_file}};
    enum { MOST = 200 };
    static struct CMUnitTest tests[MOST];
    static char names[MOST][64];
    char path[TEXT];
    const char *root = getenv("TD_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/tests/data/conformance.json", root ? root : ".");
    json *data = json_open(path);
    if (!data) {
        printf("not ok 1 - cannot read %s\n", path);
        return 1;
    }
    size_t count = 0;
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        const json *list = json_get(data, parts[p].key);
        for (size_t i = 0; list && i < list->count && count < MOST; i++, count++) {
            json *one = &list->item[i];
            snprintf(names[count], sizeof names[count], "%s %zu %s", parts[p].key, i, json_text(one, "id", ""));
            tests[count] = (struct CMUnitTest){names[count], parts[p].test, NULL, NULL, one};
        }
    }
    int failed = _cmocka_run_group_tests("conformance", tests, count, NULL, NULL);
    json_close(data);
    return failed;
}
