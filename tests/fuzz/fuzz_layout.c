/* A layout with a tensor and memories: a load either changes nothing and says why, or a dump after it gives the tensor
 * back. Whatever is accepted is also explained and drawn.
 *
 *     PATTERN | OPTIONS | ADDRESS | SHAPE | DTYPE | WIDTH DEPTH BANKS */
#include "fuzz.h"
#include "tensordoor.h"

#include <stdbool.h>

enum { MAX_BANKS = 4, MAX_DEPTH = 512, MAX_WIDTH = 300, MAX_ELEMS = 4096, MAX_PRODUCT = 1 << 16 };

/* The work of a legal layout is the product of its sizes; here it must stay small. */
static bool is_small(const char *text)
{
    double product = 1;
    for (const char *at = text; *at; at++) {
        char *end = NULL;
        if (*at < '0' || *at > '9')
            continue;
        const unsigned long long number = strtoull(at, &end, 0);
        product *= number > 1 ? (double)number : 1;
        at = end > at ? end - 1 : at;
    }
    return product <= MAX_PRODUCT;
}

typedef struct world {
    td_layout *layout;
    td_tensor *tensor, *back;
    td_memory *bank[MAX_BANKS];
    size_t banks, memory_bytes, tensor_bytes;
    unsigned char *before[MAX_BANKS];
} world;

static bool open_world(const fuzz_input *in, world *m)
{
    unsigned width = 0, depth = 0, banks = 1;
    td_shape shape;
    if (sscanf(in->line[5], "%u %u %u", &width, &depth, &banks) < 2 || width < 1 || width > MAX_WIDTH || depth < 1 ||
        depth > MAX_DEPTH || banks < 1 || banks > MAX_BANKS || !is_small(in->line[1]) ||
        td_shape_parse(in->line[3], &shape) != TD_OK)
        return false;
    uint64_t elems = 1;
    for (size_t d = 0; d < shape.rank; d++)
        if ((elems *= shape.dim[d]) > MAX_ELEMS)
            return false;
    if (td_layout_create(in->line[0], in->line[1], in->line[2], &m->layout) != TD_OK ||
        td_tensor_create(in->line[4], shape, &m->tensor) != TD_OK)
        return false;
    REQUIRE(td_tensor_create(in->line[4], shape, &m->back) == TD_OK);
    REQUIRE(td_tensor_fill_random(m->tensor, 1) == TD_OK && td_tensor_fill_random(m->back, 2) == TD_OK);
    m->banks = banks;
    for (size_t b = 0; b < banks; b++) {
        REQUIRE(td_memory_create("bank", width, depth, &m->bank[b]) == TD_OK);
        const size_t word_bytes = td_memory_word_bytes(m->bank[b]);
        unsigned char *bytes = td_memory_data(m->bank[b]);
        m->memory_bytes = word_bytes * depth;
        for (size_t i = 0; i < m->memory_bytes; i++)
            for (unsigned bit = 0; bit < 8; bit++)
                if (i % word_bytes * 8 + bit < width && (i * 7 + bit * 3 + b) % 5 < 2)
                    bytes[i] |= (unsigned char)(1u << bit);
        m->before[b] = malloc(m->memory_bytes);
        REQUIRE(m->before[b]);
        memcpy(m->before[b], bytes, m->memory_bytes);
    }
    m->tensor_bytes = (size_t)td_tensor_elems(m->tensor) * td_tensor_elem_bytes(m->tensor);
    return true;
}

static void close_world(world *m)
{
    for (size_t b = 0; b < m->banks; b++) {
        td_memory_destroy(&m->bank[b]);
        free(m->before[b]);
    }
    td_layout_destroy(&m->layout);
    td_tensor_destroy(&m->tensor);
    td_tensor_destroy(&m->back);
}

static void show(const world *m)
{
    char *text = NULL, *svg = NULL;
    const td_scene scene = {.dtype = td_tensor_dtype(m->tensor),
                            .shape = td_tensor_shape(m->tensor),
                            .width_bits = td_memory_width_bits(m->bank[0]),
                            .depth_words = td_memory_depth_words(m->bank[0]),
                            .banks = m->banks};
    REQUIRE(td_layout_explain(m->layout, &scene, &text) == TD_OK);
    REQUIRE(td_layout_svg(m->layout, &scene, &svg) == TD_OK);
    td_free(text);
    td_free(svg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in;
    world m = {0};
    fuzz_open(data, size, &in);
    if (open_world(&in, &m)) {
        const char *options = td_layout_options(m.layout);
        const bool partial = strstr(options, "alias=last") || strchr(td_layout_pattern(m.layout), '*') ||
                             strchr(td_layout_pattern(m.layout), '+');
        td_status status = td_backdoor_load_tensor_banks(m.bank, m.banks, m.tensor, m.layout, NULL);
        if (status) {
            REQUIRE(td_last_error()[0]);
            for (size_t b = 0; b < m.banks; b++)
                REQUIRE(memcmp(td_memory_data(m.bank[b]), m.before[b], m.memory_bytes) == 0);
        } else {
            status = td_backdoor_dump_tensor_banks(m.bank, m.banks, m.back, m.layout, NULL);
            REQUIRE(status == TD_OK || partial);
            if (!partial)
                REQUIRE(memcmp(td_tensor_data_const(m.back), td_tensor_data_const(m.tensor), m.tensor_bytes) == 0);
            show(&m);
        }
    }
    close_world(&m);
    fuzz_close(&in);
    return 0;
}
