/* Every call once per allocation that it makes, with that one allocation refused. The call then says TD_NO_MEMORY,
 * gives nothing, changes neither memory nor tensor nor any file, and leaks nothing (the sanitizers look); the next call
 * works. The linker leads the library's allocations here (--wrap), but not those of zlib, jansson and libelf. */
#include "../unit/support.h"

#include <stdbool.h>

/* -- refusing ------------------------------------------------------------------------------------------------------ */

static long before_refusal = -1; /* allocations; negative: none is refused */
static bool refused;

static bool refuses(void)
{
    if (before_refusal < 0)
        return false;
    const bool now = before_refusal-- == 0;
    refused |= now;
    return now;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
    return refuses() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuses() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    return refuses() ? NULL : __real_realloc(p, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return refuses() ? NULL : __real_strdup(text);
}

/* -- what the calls work on ---------------------------------------------------------------------------------------- */

typedef struct world {
    td_tensor *golden, *dumped;
    td_memory *memory;
    td_layout *layout;
    const char *pattern, *options, *policy;
    uint64_t wrong;  /* elements that differ */
    uint64_t before; /* a sum over memory and tensor */
} world;

static uint64_t sum_of(world *w)
{
    const unsigned char *side[] = {td_memory_data(w->memory), td_tensor_data(w->dumped)};
    const size_t bytes[] = {(size_t)td_memory_depth_words(w->memory) * td_memory_word_bytes(w->memory),
                            (size_t)td_tensor_elems(w->dumped) * td_tensor_elem_bytes(w->dumped)};
    uint64_t sum = 0;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < bytes[s]; i++)
            sum = sum * 31 + side[s][i];
    return sum;
}

static void open_world(world *w, uint64_t width)
{
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(96, 128), &w->golden));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(96, 128), &w->dumped));
    ASSERT_OK(td_tensor_fill_ramp(w->golden, -1, 1e-3));
    ASSERT_OK(td_layout_create(w->pattern, w->options, NULL, &w->layout));
    ASSERT_OK(td_memory_create("m", width, 96 * 128 * 32 / width, &w->memory));
    ASSERT_OK(td_backdoor_load_tensor(w->memory, w->golden, w->layout, NULL));
    for (uint64_t i = 0; i < w->wrong; i++)
        ASSERT_OK(td_tensor_set_real(w->golden, 777 + 4000 * i, 9));
}

static void close_world(world *w)
{
    td_tensor_destroy(&w->golden);
    td_tensor_destroy(&w->dumped);
    td_memory_destroy(&w->memory);
    td_layout_destroy(&w->layout);
}

/* -- calls: each looks at what it got ------------------------------------------------------------------------------ */

static td_status create(world *w)
{
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    td_status status = td_tensor_create("i8", TD_SHAPE(3, 5), &tensor);
    if (!status)
        status = td_memory_create("another", 72, 100, &memory);
    if (!status)
        status = td_layout_create(w->pattern, w->options, "3 + 2*index", &layout);
    assert_true(!status || !layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
    return status;
}

static td_status code(world *w)
{
    static const char *const texts[] = {"inv_39_32 address=3", "hsiao", "masks=3fffffff xor=1"};
    td_code *made = NULL;
    td_status status = TD_OK;
    (void)w;
    for (size_t i = 0; i < 3 && !status; i++) {
        status = td_code_create(texts[i], i == 0 ? 58 : 30, &made);
        assert_true(!status || !made);
        td_code_destroy(&made);
    }
    return status;
}

/* What an injection flips is flipped back here, so that the memory is as it was. */
static td_status inject(world *w)
{
    const uint64_t coordinate[2] = {95, 127};
    td_faults *faults = NULL;
    td_status status = td_memory_inject(w->memory, "words=20 bits=3", NULL, &faults);
    assert_true(!status || !faults);
    if (!status)
        assert_int_equal(td_memory_undo(w->memory, &faults, NULL), TD_OK);
    if (!status)
        status = td_backdoor_inject(w->memory, w->golden, w->layout, NULL, coordinate, "bits=2", NULL, &faults);
    if (!status)
        assert_int_equal(td_memory_undo(w->memory, &faults, NULL), TD_OK);
    return status;
}

static td_status load(world *w)
{
    td_plan_cache_clear();
    return td_backdoor_load_tensor(w->memory, w->dumped, w->layout, NULL);
}

static td_status dump(world *w)
{
    td_plan_cache_clear();
    return td_backdoor_dump_tensor(w->memory, w->dumped, w->layout, NULL);
}

static td_status compare(world *w)
{
    td_report *report = NULL;
    td_status status = td_backdoor_compare_tensor(w->memory, w->golden, w->layout, w->policy, NULL, &report);
    assert_true((status == TD_OK) == (report != NULL));
    if (report)
        assert_int_equal(td_report_mismatches(report), w->wrong);
    td_report_destroy(&report);
    return status;
}

static td_status compare_anew(world *w)
{
    td_plan_cache_clear();
    return compare(w);
}

/* The line is made on first use. Without memory it is empty; the next call makes it. */
static td_status show(world *w)
{
    const long wanted = before_refusal;
    td_report *report = NULL;
    char *text = NULL, *json = NULL;
    before_refusal = -1;
    ASSERT_OK(td_backdoor_compare_tensor(w->memory, w->golden, w->layout, w->policy, NULL, &report));
    before_refusal = wanted;
    const bool line = *td_report_line(report) != 0;
    td_status status = td_report_text(report, &text);
    assert_true((status == TD_OK) == (text != NULL));
    if (!status)
        status = td_report_json(report, &json);
    before_refusal = -1;
    assert_true(line || refused);
    assert_true(*td_report_line(report) != 0);
    td_free(text);
    td_free(json);
    td_report_destroy(&report);
    return !status && !line ? TD_NO_MEMORY : status;
}

static td_status say(world *w)
{
    td_span *spans = NULL;
    size_t count = 0;
    char *text = NULL;
    td_status status =
        td_layout_spans(w->layout, w->golden, NULL, td_memory_width_bits(w->memory), NULL, &spans, &count);
    if (!status)
        status = td_tensor_text(w->golden, &text);
    td_free(spans);
    td_free(text);
    return status;
}

/* With a mask, and against a snapshot. */
static td_status compare_all(world *w)
{
    td_report *report = NULL;
    td_memory *snapshot = NULL;
    td_tensor *mask = NULL;
    td_status status = td_memory_snapshot(w->memory, &snapshot);
    if (!status)
        status = td_tensor_create("u8", TD_SHAPE(96, 128), &mask);
    if (!status)
        status = td_tensor_fill_ramp(mask, 1, 0);
    if (!status)
        status = td_compare(&(td_comparison){.banks = &w->memory,
                                             .bank_count = 1,
                                             .golden = w->golden,
                                             .layout = w->layout,
                                             .policy = w->policy,
                                             .mask = mask,
                                             .snapshot = &snapshot},
                            &report);
    assert_true((status == TD_OK) == (report != NULL));
    if (report)
        assert_int_equal(td_report_mismatches(report), w->wrong);
    td_report_destroy(&report);
    td_memory_destroy(&snapshot);
    td_tensor_destroy(&mask);
    return status;
}

static td_status explain(world *w)
{
    const td_scene scene = {.shape = td_tensor_shape(w->golden), .dtype = "f32"};
    char *text = NULL, *svg = NULL;
    td_status status = td_layout_explain(w->layout, &scene, &text);
    assert_true((status == TD_OK) == (text != NULL));
    if (!status)
        status = td_layout_svg(w->layout, &scene, &svg);
    td_free(text);
    td_free(svg);
    return status;
}

static td_status convert(world *w)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_convert(w->golden, "i8 scale=0.1", &tensor);
    assert_true((status == TD_OK) == (tensor != NULL));
    td_tensor_destroy(&tensor);
    return status;
}

static td_status save_page(world *w)
{
    const long wanted = before_refusal;
    td_report *report = NULL;
    before_refusal = -1;
    ASSERT_OK(td_backdoor_compare_tensor(w->memory, w->golden, w->layout, w->policy, NULL, &report));
    before_refusal = wanted;
    const td_status status = td_report_html(report, "saved.html");
    td_report_destroy(&report);
    return status;
}

static td_status save_image(world *w)
{
    const td_span all = {.first = 0, .count = td_memory_depth_words(w->memory)};
    return td_memory_save_file(w->memory, "saved.hex", &all, 1);
}

static td_status save(world *w)
{
    return td_tensor_save(w->golden, "saved.npy");
}

static td_status open_named(world *w, const char *path)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_open(path, NULL, &tensor);
    assert_true((status == TD_OK) == (tensor != NULL));
    if (tensor)
        assert_memory_equal(td_tensor_data_const(tensor), td_tensor_data(w->golden), 96 * 128 * 4);
    td_tensor_destroy(&tensor);
    return status;
}

static td_status open_npy(world *w)
{
    return open_named(w, "there.npy");
}

#if defined(TD_HAVE_ZLIB)
static td_status save_npz(world *w)
{
    return td_tensor_save(w->golden, "saved.npz:a");
}

static td_status open_npz(world *w)
{
    return open_named(w, "there.npz:a");
}
#endif

#if defined(TD_HAVE_JANSSON)
static td_status save_safetensors(world *w)
{
    return td_tensor_save(w->golden, "saved.safetensors:a");
}

static td_status open_safetensors(world *w)
{
    return open_named(w, "there.safetensors:a");
}
#endif

/* A memory over one array in which everything is wrong: the report has macros. */
static td_status compare_over(world *w)
{
    const uint64_t width = td_memory_width_bits(w->memory), depth = td_memory_depth_words(w->memory);
    td_memory *array = NULL, *memory = NULL;
    td_layout *rows = NULL;
    td_report *report = NULL;
    char *json = NULL;
    td_status status = td_memory_create("m0", width, depth, &array);
    if (!status)
        status = td_layout_create("w k -> 1 w k", NULL, NULL, &rows);
    if (!status)
        status = td_memory_over("over", width, depth, rows, &array, 1, &memory);
    if (!status)
        status = td_backdoor_compare_tensor(memory, w->golden, w->layout, NULL, NULL, &report);
    assert_true(status || td_report_mismatches(report));
    if (!status)
        status = td_report_json(report, &json);
    td_free(json);
    td_report_destroy(&report);
    td_memory_destroy(&memory);
    td_memory_destroy(&array);
    td_layout_destroy(&rows);
    return status;
}

static td_status find_places(world *w)
{
    const uint64_t coordinate[TD_MAX_RANK] = {0};
    td_where_question question = {
        .banks = &w->memory, .bank_count = 1, .tensor = w->golden, .layout = w->layout, .coordinate = coordinate};
    td_where *where = NULL;
    char *text = NULL;
    td_status status = td_where_find(&question, &where);
    td_where_destroy(&where);
    question.coordinate = NULL;
    if (!status)
        status = td_where_find(&question, &where);
    if (!status)
        status = td_where_text(where, &text);
    td_free(text);
    td_where_destroy(&where);
    return status;
}

/* A memory over two others, mirrored, so that reading it takes a buffer. A refused load leaves the arrays as they are;
 * putting words back needs no memory. */
static td_status load_over(world *w)
{
    const uint64_t width = td_memory_width_bits(w->memory), depth = td_memory_depth_words(w->memory);
    td_memory *array[2] = {NULL, NULL}, *memory = NULL;
    td_layout *mirrored = NULL;
    td_plan_cache_clear();
    td_status status = td_memory_create("m0", width, depth, &array[0]);
    if (!status)
        status = td_memory_create("m1", width, depth, &array[1]);
    if (!status)
        status = td_layout_create("w k -> m w k", "m=2", NULL, &mirrored);
    if (!status)
        status = td_memory_over("over", width, depth, mirrored, array, 2, &memory);
    assert_true((status == TD_OK) == (memory != NULL));
    if (!status) {
        status = td_backdoor_load_tensor(memory, w->golden, w->layout, NULL);
        const size_t bytes = (size_t)depth * td_memory_word_bytes(array[0]);
        unsigned char written = 0;
        for (size_t i = 0; i < bytes; i++)
            written |= ((unsigned char *)td_memory_data(array[0]))[i];
        assert_true((status == TD_OK) == (written != 0));
        assert_memory_equal(td_memory_data(array[0]), td_memory_data(array[1]), bytes);
    }
    if (!status)
        status = td_backdoor_dump_tensor(memory, w->golden, w->layout, NULL);
    td_memory_destroy(&memory);
    td_memory_destroy(&array[0]);
    td_memory_destroy(&array[1]);
    td_layout_destroy(&mirrored);
    return status;
}

static int copy_words(void *context, const td_codec_run *run, const void *src, void *dst)
{
    (void)context;
    memcpy(dst, src, (size_t)run->count * run->word_bytes);
    return 0;
}

static uint64_t last_first(void *context, uint64_t at, uint64_t depth)
{
    (void)context;
    return depth - 1 - at;
}

/* A memory with a code over one that goes through a codec. */
static td_status load_coded(world *w)
{
    const td_codec codec = {
        .version = TD_CODEC_VERSION, .encode = copy_words, .decode = copy_words, .place = last_first};
    const uint64_t depth = td_memory_depth_words(w->memory);
    td_memory *raw = NULL, *memory = NULL, *through = NULL;
    td_code *parity = NULL;
    td_plan_cache_clear();
    td_status status = td_code_create("parity width=8", td_memory_width_bits(w->memory), &parity);
    if (!status)
        status = td_memory_create("raw", td_code_coded_bits(parity), depth, &raw);
    if (!status)
        status = td_memory_through("through", &codec, raw, &through);
    if (!status)
        status = td_memory_coded("coded", parity, through, NULL, &memory);
    assert_true((status == TD_OK) == (memory != NULL));
    if (!status) {
        status = td_backdoor_load_tensor(memory, w->golden, w->layout, NULL);
        unsigned char written = 0;
        for (size_t i = 0; i < (size_t)depth * td_memory_word_bytes(raw); i++)
            written |= ((unsigned char *)td_memory_data(raw))[i];
        assert_true((status == TD_OK) == (written != 0));
    }
    if (!status)
        status = td_backdoor_dump_tensor(memory, w->golden, w->layout, NULL);
    td_memory_destroy(&memory);
    td_memory_destroy(&through);
    td_memory_destroy(&raw);
    td_code_destroy(&parity);
    return status;
}

static td_status pack_parts(world *w)
{
    td_parts *parts = NULL;
    td_tensor *back = NULL;
    td_status status = td_parts_pack(w->golden, "uint4 block=32", &parts);
    assert_true((status == TD_OK) == (parts != NULL));
    if (!status)
        status = td_parts_unpack(parts, "bf16", &back);
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);
    return status;
}

/* A checkpoint of MXFP4, written and read. */
static td_status open_parts(world *w)
{
    static const char *const names[] = {"w_blocks", "w_scales"};
    td_parts *parts = NULL;
    td_tensor *tensors[2] = {NULL, NULL};
    td_status status = td_parts_pack(w->golden, "mxfp4", &parts);
    if (!status)
        status = td_parts_record(parts, "mxfp4", &tensors[0]);
    if (!status)
        status = td_parts_take(parts, "scales", &tensors[1]);
    if (!status)
        status = td_tensor_save_all(names, (const td_tensor *const *)tensors, 2, "fault_parts.npz");
    td_parts_destroy(&parts);
    if (!status)
        status = td_parts_open("fault_parts.npz:w", "mxfp4", &parts);
    td_parts_destroy(&parts);
    if (!status)
        status = td_parts_open("fault_parts.npz", "mxfp4 from elems=w_blocks scales=w_scales", &parts);
    for (size_t i = 0; i < 2; i++)
        td_tensor_destroy(&tensors[i]);
    td_parts_destroy(&parts);
    (void)remove("fault_parts.npz");
    return status;
}

static td_status record_parts(world *w)
{
    td_parts *parts = NULL;
    td_tensor *record = NULL;
    td_status status = td_parts_pack(w->golden, "mxfp4", &parts);
    if (!status)
        status = td_parts_record(parts, "ggml", &record);
    if (!status)
        status = td_parts_set_record(parts, "ggml", record);
    td_tensor_destroy(&record);
    td_parts_destroy(&parts);
    return status;
}

static td_status fit_parts(world *w)
{
    td_parts *parts = NULL;
    char *text = NULL;
    td_status status = td_parts_pack(w->golden, "mxfp4", &parts);
    if (!status)
        status = td_parts_fit(parts, w->golden, &text);
    assert_true((status == TD_OK) == (text != NULL));
    td_free(text);
    td_parts_destroy(&parts);
    return status;
}

static td_status load_image(world *w)
{
    return td_memory_load_file(w->memory, "there.hex");
}

typedef struct call {
    const char *name;
    td_status (*make)(world *w);
    const char *file; /* that it writes */
} call;

static const call calls[] = {
    {"create", create, NULL},
    {"code", code, NULL},
    {"inject", inject, NULL},
    {"load", load, NULL},
    {"dump", dump, NULL},
    {"compare", compare, NULL},
    {"compare anew", compare_anew, NULL},
    {"compare all", compare_all, NULL},
    {"show", show, NULL},
    {"say", say, NULL},
    {"explain", explain, NULL},
    {"convert", convert, NULL},
    {"load over", load_over, NULL},
    {"load coded", load_coded, NULL},
    {"compare over", compare_over, NULL},
    {"where", find_places, NULL},
    {"pack parts", pack_parts, NULL},
    {"fit parts", fit_parts, NULL},
    {"record parts", record_parts, NULL},
    {"open parts", open_parts, NULL},
    {"save page", save_page, "saved.html"},
    {"save", save, "saved.npy"},
    {"open", open_npy, NULL},
#if defined(TD_HAVE_ZLIB)
    {"save npz", save_npz, "saved.npz"},
    {"open npz", open_npz, NULL},
#endif
#if defined(TD_HAVE_JANSSON)
    {"save safetensors", save_safetensors, "saved.safetensors"},
    {"open safetensors", open_safetensors, NULL},
#endif
    {"save image", save_image, "saved.hex"},
    {"load image", load_image, NULL},
};

/* -- the loop ------------------------------------------------------------------------------------------------------ */

static void refuse_each(const call *c, world *w)
{
    for (long n = 0;; n++) {
        assert_true(n < 2000);
        w->before = sum_of(w);
        if (c->file)
            (void)remove(c->file);
        before_refusal = n;
        refused = false;
        const td_status status = c->make(w);
        before_refusal = -1;
        if (status && status != TD_NO_MEMORY)
            fail_msg("%s, allocation %ld refused: %s: %s", c->name, n, td_status_name(status), td_last_error());
        if (status && (!refused || sum_of(w) != w->before || (c->file && access(c->file, F_OK) == 0)))
            fail_msg("%s, allocation %ld: %s", c->name, n, refused ? "something was changed" : "nothing was refused");
        if (!refused)
            return;
    }
}

static void every_allocation_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options;
        uint64_t width;
    } layouts[] = {
        {"r c -> r c", "", 128 * 32},
        {"r c -> c r", "", 96 * 32},
        {"r (ct cs) -> (ct r) cs", "cs=8", 256},
        {"(rt rs) c -> (c rt) rs", "rs=3", 96},
    };
    static const char *const policies[] = {"", "atol=1e-3", "ulp=1 nan=differ check_pad"};
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++)
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
            for (uint64_t wrong = 0; wrong <= 2; wrong += 2) {
                world w = {.pattern = layouts[l].pattern,
                           .options = layouts[l].options,
                           .policy = policies[p],
                           .wrong = wrong};
                open_world(&w, layouts[l].width);
                ASSERT_OK(td_tensor_save(w.golden, "there.npy"));
#if defined(TD_HAVE_ZLIB)
                ASSERT_OK(td_tensor_save(w.golden, "there.npz:a"));
#endif
#if defined(TD_HAVE_JANSSON)
                ASSERT_OK(td_tensor_save(w.golden, "there.safetensors:a"));
#endif
                const td_span all = {.first = 0, .count = td_memory_depth_words(w.memory)};
                ASSERT_OK(td_memory_save_file(w.memory, "there.hex", &all, 1));
                for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
                    ASSERT_OK(td_memory_load_file(w.memory, "there.hex"));
                    refuse_each(&calls[c], &w);
                }
                close_world(&w);
            }
}

/* -- parts: in layers, and made whole -- */

static td_parts_layout *parts_layout(td_memory **scales)
{
    td_parts_layout *layout = NULL;
    td_layout *rows = NULL;
    if (td_parts_layout_create("mxfp8 rule=rceil axis=c", &layout) || td_layout_create("r c -> r c", "", NULL, &rows) ||
        td_parts_layout_add(layout, "elems", "m", rows) || td_parts_layout_add(layout, "scales", "scales", rows) ||
        td_memory_create("scales", 64, 1024, scales))
        td_parts_layout_destroy(&layout);
    td_layout_destroy(&rows);
    return layout;
}

static td_status move_parts(world *w, int way)
{
    td_memory *scales = NULL;
    td_report *report = NULL;
    td_parts_layout *layout = parts_layout(&scales);
    td_memory *const memories[] = {w->memory, scales};
    td_status status = TD_NO_MEMORY;
    td_plan_cache_clear();
    if (layout && way == 0)
        status = td_backdoor_load_parts(memories, 2, w->golden, layout);
    else if (layout && way == 1)
        status = td_backdoor_dump_parts(memories, 2, w->dumped, layout);
    else if (layout && way == 3)
        status = td_backdoor_dirty_parts(memories, 2, w->golden, layout, 1, NULL);
    else if (layout) {
        status = td_backdoor_compare_parts(memories, 2, w->golden, layout, "ulp=1", &report);
        assert_true((status == TD_OK) == (report != NULL));
    }
    td_report_destroy(&report);
    td_parts_layout_destroy(&layout);
    td_memory_destroy(&scales);
    return status;
}

static td_status load_parts(world *w)
{
    return move_parts(w, 0);
}

static td_status dump_parts(world *w)
{
    return move_parts(w, 1);
}

static td_status compare_parts(world *w)
{
    return move_parts(w, 2);
}

static td_status dirty_parts(world *w)
{
    return move_parts(w, 3);
}

static void every_allocation_of_parts_refused(void **state)
{
    (void)state;
    static const uint64_t rows[] = {1024, 32}; /* the first in layers */
    for (size_t i = 0; i < 2; i++) {
        world w = {.pattern = "r c -> r c", .options = ""};
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(rows[i], 128), &w.golden));
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(rows[i], 128), &w.dumped));
        ASSERT_OK(td_tensor_fill(w.golden, "normal seed=1"));
        ASSERT_OK(td_memory_create("m", 1024, 1024, &w.memory));
        refuse_each(&(call){"load parts", load_parts, NULL}, &w);
        ASSERT_OK(td_memory_fill(w.memory, "random seed=1", 0, 1024));
        refuse_each(&(call){"dump parts", dump_parts, NULL}, &w);
        if (i)
            refuse_each(&(call){"compare parts", compare_parts, NULL}, &w);
        refuse_each(&(call){"dirty parts", dirty_parts, NULL}, &w);
        close_world(&w);
    }
}

/* A program with every kind of step: read, compiled, explained, drawn and run. What it writes it has to give back. */
static td_status run_program(world *w)
{
    static const char text[] = "arg n = 2\n"
                               "layout rows = \"r c -> r c\"\n"
                               "tensor a = convert x[0:32] \"f16\"\n"
                               "tensor b = concat a a axis 0\n"
                               "tensor c = fill f16 64x128 random seed={n}\n"
                               "label all:\n"
                               "  load m (clamp (scale (add b c) 0.5) -1 1) rows\n"
                               "  for t in 0..n:\n"
                               "    load m x[64 + 16*t : 80 + 16*t] rows as \"f16\" at 64 + 17*t\n"
                               "  load m (clamp (add (scale x[0:2] 0.5) x[4]) -1 1) rows as \"f16\" at 120\n"
                               "  fill m random from 98 count 10\n"
                               "  write m 110 0x1234 5\n"
                               "  tensor d = dump m f16 96x128 rows\n"
                               "  tensor r = read m 3 4\n"
                               "  dump m y rows as \"f16\"\n"
                               "  checkpoint \"c{n}\" m (transpose (transpose d)) rows at 0\n"
                               "  checkpoint e d d policy \"atol=1\"\n";
    td_program *p = NULL;
    td_checkpoints *out = NULL;
    char *explained = NULL, *svg = NULL, *lines = NULL;
    const td_tensor *t = NULL;
    td_status status = td_program_create(text, &p);
    assert_true((status == TD_OK) == (p != NULL));
    if (!status)
        status = td_program_bind_memory(p, "m", w->memory);
    if (!status)
        status = td_program_bind_tensor(p, "x", w->golden);
    if (!status)
        status = td_program_bind_tensor(p, "y", w->dumped);
    if (!status)
        status = td_program_text(p, &lines);
    if (!status)
        status = td_program_explain(p, "all", NULL, &explained);
    if (!status)
        status = td_program_svg(p, "all", NULL, &svg);
    if (!status)
        status = td_program_run(p, "all", "n=2", &out);
    assert_true((status == TD_OK) == (out != NULL));
    if (!status)
        status = td_program_tensor(p, "c", &t);
    td_checkpoints_destroy(&out);
    td_program_destroy(&p);
    td_free(explained);
    td_free(svg);
    td_free(lines);
    return status;
}

static void every_allocation_of_programs_refused(void **state)
{
    (void)state;
    world w = {.pattern = "r c -> r c", .options = ""};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(96, 128), &w.golden));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(96, 128), &w.dumped));
    ASSERT_OK(td_tensor_fill(w.golden, "normal seed=1"));
    ASSERT_OK(td_memory_create("m", 2048, 128, &w.memory));
    refuse_each(&(call){"program", run_program, NULL}, &w);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_allocation_refused, enter_folder, leave_folder),
        cmocka_unit_test(every_allocation_of_parts_refused),
        cmocka_unit_test(every_allocation_of_programs_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
