/* Random programs against their naive meaning. While a text grows, every step is also made by the calls of the public
 * header, one by one, each with a tensor of its own; a step that such a call refuses is left out of the text. Then the
 * program runs, with random passes: memories, tensors and reports are the same, in a second run, too. Some programs end
 * with a step that is refused: then nothing has changed.
 *
 *     prop_program [--cases N] [--seed N] [--case N]        of one case the text is printed */
#include "program/program.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TENSORS = 40, MOST_CHECKS = 16, MEMORIES = 2, TEXT_BYTES = 16384 };

typedef struct world {
    random_state r;
    char text[TEXT_BYTES];
    size_t used;
    td_memory *naive[MEMORIES], *real[MEMORIES];
    td_tensor *tensor[MOST_TENSORS];
    char name[MOST_TENSORS][8];
    size_t tensors, bound;
    bool written; /* a step may have written a tensor of the caller: those made of it are not asked for later */
    uint64_t mismatches[MOST_CHECKS];
    size_t checks;
} world;

static const char *const memory_name[MEMORIES] = {"m", "n"};
static const uint64_t width[MEMORIES] = {32, 64}, depth[MEMORIES] = {512, 300};
static const char *const dtypes[] = {"i8", "u8", "i16", "f32", "f16"};
static const struct {
    const char *pattern, *options, *address;
} layouts[] = {
    {"r c -> r c", "", ""},
    {"r c -> (r c) 1", "", ""},
    {"r (ct cs) -> (r ct) cs", "cs=2", ""},
    {"(rt rs) c -> (rt c) rs", "rs=2", ""},
    {"r c -> (c r) 1", "", ""},
    {"... -> (...)", "", ""},
    {"r c -> r c", "fill=keep", "2*r"},
    {"r c -> (r c) 1", "", "7*r + c"},
    {"(rt rs) (ct cs) -> (rt ct rs) cs", "rs=4 cs=4 pad=1", ""},
    {"r c -> (r c) 1", "slot=8 lsb=4", "index ^ 1"},
    {"r (ct cs) -> (r ct) cs", "cs=4 tail=clip", ""},
    {"r c -> (k r c) 1", "k=2", ""},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void add_line(world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_line(world *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, fmt, args);
    va_end(args);
    w->used += (size_t)snprintf(w->text + w->used, sizeof w->text - w->used, "\n");
}

/* The layout of a load that says `at`, by its own means. */
static td_layout *place(size_t l, uint64_t at)
{
    td_layout *layout = NULL;
    char address[96];
    const char *own = *layouts[l].address ? layouts[l].address : "index";
    if (strcmp(layouts[l].pattern, "... -> (...)") == 0)
        snprintf(address, sizeof address, "%llu", (unsigned long long)at);
    else
        snprintf(address, sizeof address, "%llu + (%s)", (unsigned long long)at, own);
    return td_layout_create(layouts[l].pattern, layouts[l].options, address, &layout) == TD_OK ? layout : NULL;
}

static void print_layout(size_t l, char *text, size_t bytes)
{
    snprintf(text, bytes, "\"%s; %s; %s\"", layouts[l].pattern, layouts[l].options, layouts[l].address);
}

static size_t pick(world *w)
{
    return (size_t)random_below(&w->r, w->tensors);
}

static void name_tensor(world *w, td_tensor *t)
{
    snprintf(w->name[w->tensors], sizeof *w->name, "t%zu", w->tensors);
    w->tensor[w->tensors++] = t;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static void step_make(world *w)
{
    static const char *const fills[] = {"ramp", "random seed=%llu", "uniform seed=%llu", "corners finite seed=%llu",
                                        "ramp start=-2 step=1"};
    const char *dtype = dtypes[random_below(&w->r, 5)];
    const td_shape shape = {2, {1 + random_below(&w->r, 12), 1 + random_below(&w->r, 8)}};
    char what[64];
    td_tensor *t = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(what, sizeof what, fills[random_below(&w->r, 5)], (unsigned long long)random_below(&w->r, 100));
#pragma GCC diagnostic pop
    if (td_tensor_create(dtype, shape, &t))
        return;
    if (td_tensor_fill(t, what)) {
        td_tensor_destroy(&t);
        return;
    }
    add_line(w, "tensor t%zu = fill %s %llux%llu %s", w->tensors, dtype, (unsigned long long)shape.dim[0],
             (unsigned long long)shape.dim[1], what);
    name_tensor(w, t);
}

static const char *words_of(world *w)
{
    static const char *const words[] = {"", "sat", "wrap", "sat"};
    return words[random_below(&w->r, 4)];
}

/* A step on tensors, as a tensor of its own; where `inside` it is written in parentheses into `out`. */
static td_tensor *make_step(world *w, char *out, size_t bytes)
{
    const size_t a = pick(w), b = pick(w);
    const char *words = words_of(w);
    td_tensor *t = NULL;
    const td_shape shape = td_tensor_shape(w->tensor[a]);
    const td_tensor *both[] = {w->tensor[a], w->tensor[b]};
    char part[64];
    switch (random_below(&w->r, 9)) {
    case 0:
        snprintf(out, bytes, "add %s %s %s", w->name[a], w->name[b], words);
        return td_tensor_add(w->tensor[a], w->tensor[b], words, &t) ? NULL : t;
    case 1:
        snprintf(out, bytes, "mul %s %s %s", w->name[a], w->name[b], words);
        return td_tensor_mul(w->tensor[a], w->tensor[b], words, &t) ? NULL : t;
    case 2:
        snprintf(out, bytes, "scale %s 0.5 %s", w->name[a], words);
        return td_tensor_scale(w->tensor[a], 0.5, words, &t) ? NULL : t;
    case 3:
        snprintf(out, bytes, "clamp %s 0 20", w->name[a]);
        return td_tensor_clamp(w->tensor[a], 0, 20, &t) ? NULL : t;
    case 4:
        snprintf(out, bytes, "transpose %s", w->name[a]);
        return td_tensor_transpose(w->tensor[a], NULL, &t) ? NULL : t;
    case 5:
        snprintf(out, bytes, "concat %s %s axis 0", w->name[a], w->name[b]);
        return td_tensor_concat(both, 2, 0, &t) ? NULL : t;
    case 6:
        snprintf(out, bytes, "convert %s \"i8 scale=0.5\"", w->name[a]);
        return td_tensor_convert(w->tensor[a], "i8 scale=0.5", &t) ? NULL : t;
    case 7:
        snprintf(out, bytes, "convert %s \"f32\"", w->name[a]);
        return td_tensor_convert(w->tensor[a], "f32", &t) ? NULL : t;
    default:
        snprintf(part, sizeof part, "%llu:, :%llu", (unsigned long long)random_below(&w->r, shape.dim[0]),
                 (unsigned long long)(random_chance(&w->r, 50) ? shape.dim[1] : 1));
        snprintf(out, bytes, "slice %s \"%s\"", w->name[a], part);
        return td_tensor_slice(w->tensor[a], part, &t) ? NULL : t;
    }
}

static void step_tensor(world *w)
{
    char text[128];
    td_tensor *t = make_step(w, text, sizeof text);
    if (!t)
        return;
    add_line(w, "tensor t%zu = %s", w->tensors, text);
    name_tensor(w, t);
}

/* A load of a tensor, or of a chain in parentheses. */
static void step_load(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES), l = (size_t)random_below(&w->r, LAYOUTS);
    const uint64_t at = random_below(&w->r, 40);
    const bool chain = random_chance(&w->r, 60);
    char step[128], text[160], as[32] = "";
    size_t t = pick(w);
    td_tensor *made = chain ? make_step(w, step, sizeof step) : NULL, *more = NULL;
    if (chain && !made)
        return;
    const td_tensor *from = made ? made : w->tensor[t];
    snprintf(text, sizeof text, "%s", made ? "" : w->name[t]);
    if (made && td_tensor_clamp(made, 1, 9, &more) == TD_OK) {
        snprintf(text, sizeof text, "(clamp (%s) 1 9)", step);
        from = more;
    } else if (made)
        snprintf(text, sizeof text, "(%s)", step);
    if (random_chance(&w->r, 30))
        snprintf(as, sizeof as, "u8 scale=0.25");
    td_layout *layout = place(l, at);
    char written[160];
    print_layout(l, written, sizeof written);
    if (layout && td_backdoor_load_tensor(w->naive[m], from, layout, as) == TD_OK)
        add_line(w, "load %s %s %s%s%s%s at %llu over", memory_name[m], text, written, *as ? " as \"" : "", as,
                 *as ? "\"" : "", (unsigned long long)at);
    td_layout_destroy(&layout);
    td_tensor_destroy(&made);
    td_tensor_destroy(&more);
}

/* Rows of a tensor, in a loop: what views and joined loads are for. */
static void step_loop(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES), l = (size_t)random_below(&w->r, LAYOUTS), t = pick(w);
    const td_shape shape = td_tensor_shape(w->tensor[t]);
    const uint64_t rows = 1 + random_below(&w->r, 2), count = shape.dim[0] / rows, step = 1 + random_below(&w->r, 16),
                   at = random_below(&w->r, 20);
    const bool clamps = random_chance(&w->r, 40);
    const size_t bytes = (size_t)(depth[m] * td_memory_word_bytes(w->naive[m]));
    void *before = malloc(bytes);
    bool good = count > 0 && before;
    if (before)
        memcpy(before, td_memory_data(w->naive[m]), bytes);
    for (uint64_t i = 0; i < count && good; i++) {
        char part[64];
        td_tensor *slice = NULL, *clamped = NULL;
        td_layout *layout = place(l, at + step * i);
        snprintf(part, sizeof part, "%llu:%llu", (unsigned long long)(rows * i), (unsigned long long)(rows * i + rows));
        good = layout && td_tensor_slice(w->tensor[t], part, &slice) == TD_OK;
        if (good && clamps)
            good = td_tensor_clamp(slice, 2, 5, &clamped) == TD_OK;
        good = good && td_backdoor_load_tensor(w->naive[m], clamps ? clamped : slice, layout, NULL) == TD_OK;
        td_tensor_destroy(&slice);
        td_tensor_destroy(&clamped);
        td_layout_destroy(&layout);
    }
    if (good) {
        char written[160], slice[96];
        print_layout(l, written, sizeof written);
        snprintf(slice, sizeof slice, clamps ? "(clamp %s[%llu*i:%llu*i+%llu] 2 5)" : "%s[%llu*i:%llu*i+%llu]",
                 w->name[t], (unsigned long long)rows, (unsigned long long)rows, (unsigned long long)rows);
        add_line(w, "for i in 0..%llu:", (unsigned long long)count);
        add_line(w, "  load %s %s %s at %llu + %llu*i over", memory_name[m], slice, written, (unsigned long long)at,
                 (unsigned long long)step);
    } else if (before)
        memcpy(td_memory_data(w->naive[m]), before, bytes);
    free(before);
}

static void step_fill(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES);
    const uint64_t first = random_below(&w->r, depth[m]), count = 1 + random_below(&w->r, 40);
    if (td_memory_fill(w->naive[m], "random seed=3", first, count) == TD_OK)
        add_line(w, "fill %s random seed=3 from %llu count %llu", memory_name[m], (unsigned long long)first,
                 (unsigned long long)count);
}

static void step_write(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES);
    const uint64_t address = random_below(&w->r, depth[m]), value = random_next(&w->r) & 0xffffffff;
    if (td_backdoor_write(w->naive[m], &address, 1, &value, NULL) == TD_OK)
        add_line(w, "write %s %llu 0x%llx", memory_name[m], (unsigned long long)address, (unsigned long long)value);
}

static void step_dump(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES), l = (size_t)random_below(&w->r, LAYOUTS);
    const uint64_t at = random_below(&w->r, 40);
    const char *dtype = dtypes[random_below(&w->r, 3)];
    const td_shape shape = {2, {1 + random_below(&w->r, 8), 1 + random_below(&w->r, 8)}};
    td_layout *layout = place(l, at);
    td_tensor *t = NULL;
    char written[160];
    print_layout(l, written, sizeof written);
    if (layout && td_tensor_create(dtype, shape, &t) == TD_OK &&
        td_backdoor_dump_tensor(w->naive[m], t, layout, NULL) == TD_OK) {
        add_line(w, "tensor t%zu = dump %s %s %llux%llu %s at %llu", w->tensors, memory_name[m], dtype,
                 (unsigned long long)shape.dim[0], (unsigned long long)shape.dim[1], written, (unsigned long long)at);
        name_tensor(w, t);
        t = NULL;
    }
    td_tensor_destroy(&t);
    td_layout_destroy(&layout);
}

/* Into a tensor of the caller, which later steps see. */
static void step_dump_into(world *w)
{
    const size_t t = (size_t)random_below(&w->r, w->bound);
    td_layout *layout = place(0, 3);
    if (layout && td_backdoor_dump_tensor(w->naive[1], w->tensor[t], layout, NULL) == TD_OK)
        add_line(w, "dump n %s \"r c -> r c\" at 3", w->name[t]);
    td_layout_destroy(&layout);
}

static void step_checkpoint(world *w)
{
    const size_t m = (size_t)random_below(&w->r, MEMORIES), l = (size_t)random_below(&w->r, LAYOUTS), t = pick(w);
    const uint64_t at = random_below(&w->r, 40);
    td_layout *layout = place(l, at);
    td_report *report = NULL;
    char written[160];
    print_layout(l, written, sizeof written);
    if (w->checks < MOST_CHECKS && layout &&
        td_backdoor_compare_tensor(w->naive[m], w->tensor[t], layout, NULL, NULL, &report) == TD_OK) {
        add_line(w, "checkpoint c%zu %s %s %s at %llu", w->checks, memory_name[m], w->name[t], written,
                 (unsigned long long)at);
        w->mismatches[w->checks++] = td_report_mismatches(report);
    }
    td_report_destroy(&report);
    td_layout_destroy(&layout);
}

/* -- a case -------------------------------------------------------------------------------------------------------- */

static bool fail(const world *w, const char *what)
{
    printf("%s\n%s\n%s\n", what, td_last_error(), w->text);
    return false;
}

static void begin(world *w, td_tensor **start)
{
    for (size_t m = 0; m < MEMORIES; m++) {
        td_memory_create(memory_name[m], width[m], depth[m], &w->naive[m]);
        td_memory_create(memory_name[m], width[m], depth[m], &w->real[m]);
        td_memory_fill(w->naive[m], "random seed=1", 0, depth[m]);
    }
    for (size_t i = 0; i < 3; i++) {
        td_tensor *t = NULL;
        const td_shape shape = {2, {1 + random_below(&w->r, 12), 1 + random_below(&w->r, 8)}};
        td_tensor_create(dtypes[i == 0 ? 3 : random_below(&w->r, 5)], shape, &t);
        td_tensor_fill_random(t, i + random_below(&w->r, 1000));
        td_tensor_slice(t, "...", &start[i]);
        name_tensor(w, t);
    }
    w->bound = w->tensors;
}

static void reset(world *w, td_tensor *const *start, td_tensor *const *bound)
{
    for (size_t m = 0; m < MEMORIES; m++)
        td_memory_fill(w->real[m], "random seed=1", 0, depth[m]);
    for (size_t i = 0; i < w->bound; i++)
        memcpy(td_tensor_data(bound[i]), td_tensor_data(start[i]),
               (size_t)td_tensor_elems(start[i]) * td_tensor_elem_bytes(start[i]));
}

static bool same_bytes(const td_tensor *a, const td_tensor *b)
{
    return td_tensor_elems(a) == td_tensor_elems(b) && td_tensor_elem_bytes(a) == td_tensor_elem_bytes(b) &&
           memcmp(td_tensor_data_const(a), td_tensor_data_const(b),
                  (size_t)td_tensor_elems(a) * td_tensor_elem_bytes(a)) == 0;
}

static bool compare(const world *w, td_program *p, td_tensor *const *bound, const td_checkpoints *out)
{
    for (size_t m = 0; m < MEMORIES; m++)
        if (memcmp(td_memory_data(w->naive[m]), td_memory_data(w->real[m]),
                   (size_t)depth[m] * td_memory_word_bytes(w->real[m])) != 0)
            return fail(w, "the memories differ");
    for (size_t i = 0; i < w->bound; i++)
        if (!same_bytes(w->tensor[i], bound[i]))
            return fail(w, "the caller's tensors differ");
    for (size_t i = w->bound; i < w->tensors && !w->written; i++) {
        const td_tensor *t = NULL;
        if (td_program_tensor(p, w->name[i], &t))
            return fail(w, w->name[i]);
        if (!same_bytes(w->tensor[i], t))
            return fail(w, "tensors differ");
    }
    if (td_checkpoints_count(out) != w->checks)
        return fail(w, "the checkpoints are not all there");
    for (size_t i = 0; i < w->checks; i++)
        if (td_report_mismatches(td_checkpoints_report(out, i)) != w->mismatches[i])
            return fail(w, "mismatches differ");
    return true;
}

/* Ends with a step that is refused while it runs: everything is as it was. */
static bool run_refused(world *w, td_program *p, td_tensor *const *start, td_tensor *const *bound)
{
    td_memory *before[MEMORIES] = {0};
    td_checkpoints *out = NULL;
    const bool late = random_chance(&w->r, 50);
    bool good = td_program_add(p, late ? "write n 3 0x7f7f\ntensor big = dump n i8 1x2 \"r c -> r c\" at 3\n"
                                         "load m (add big big error) \"r c -> r c\" over"
                                       : "tensor big = fill i8 1x2 constant=100\n"
                                         "load m (add big big error) \"r c -> r c\" over") == TD_OK;
    reset(w, start, bound);
    for (size_t m = 0; m < MEMORIES; m++)
        td_memory_snapshot(w->real[m], &before[m]);
    good = good && td_program_run(p, NULL, NULL, &out) == TD_RANGE && !out;
    for (size_t m = 0; m < MEMORIES; m++) {
        good = good && memcmp(td_memory_data(before[m]), td_memory_data(w->real[m]),
                              (size_t)depth[m] * td_memory_word_bytes(w->real[m])) == 0;
        td_memory_destroy(&before[m]);
    }
    for (size_t i = 0; i < w->bound; i++)
        good = good && same_bytes(start[i], bound[i]);
    return good ? true : fail(w, "a refused run has changed something, or was not refused");
}

static bool run_case(uint64_t number, bool shows)
{
    static void (*const steps[])(world *) = {step_make, step_tensor,    step_tensor,    step_load,
                                             step_load, step_loop,      step_fill,      step_write,
                                             step_dump, step_dump_into, step_checkpoint};
    world *w = calloc(1, sizeof *w);
    td_tensor *start[3] = {0}, *bound[3] = {0};
    td_program *p = NULL;
    td_checkpoints *out = NULL;
    if (!w)
        return false;
    w->r.state = number;
    begin(w, start);
    const size_t count = 1 + (size_t)random_below(&w->r, 24);
    for (size_t i = 0; i < count && w->tensors + 1 < MOST_TENSORS && w->used + 1024 < TEXT_BYTES; i++) {
        const size_t step = (size_t)random_below(&w->r, sizeof steps / sizeof *steps);
        w->written |= steps[step] == step_dump_into;
        steps[step](w);
    }
    if (shows)
        printf("%s", w->text);
    bool good = td_program_create(w->text, &p) == TD_OK || fail(w, "not read");
    for (size_t i = 0; i < w->bound && good; i++) {
        td_tensor_slice(start[i], "...", &bound[i]);
        good = td_program_bind_tensor(p, w->name[i], bound[i]) == TD_OK;
    }
    for (size_t m = 0; m < MEMORIES && good; m++)
        good = td_program_bind_memory(p, memory_name[m], w->real[m]) == TD_OK;
    if (good)
        p->passes = random_chance(&w->r, 70) ? UINT32_MAX : (unsigned)random_next(&w->r);
    for (int run = 0; run < 2 && good; run++) {
        reset(w, start, bound);
        good = td_program_run(p, NULL, NULL, &out) == TD_OK || fail(w, "refused");
        good = good && compare(w, p, bound, out);
        td_checkpoints_destroy(&out);
    }
    if (good && random_chance(&w->r, 12))
        good = run_refused(w, p, start, bound);
    td_program_destroy(&p);
    for (size_t i = 0; i < w->tensors; i++)
        td_tensor_destroy(&w->tensor[i]);
    for (size_t i = 0; i < 3; i++) {
        td_tensor_destroy(&start[i]);
        td_tensor_destroy(&bound[i]);
    }
    for (size_t m = 0; m < MEMORIES; m++) {
        td_memory_destroy(&w->naive[m]);
        td_memory_destroy(&w->real[m]);
    }
    free(w);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t cases = 2000, seed = (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--cases") == 0)
            cases = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(strtoull(argv[i + 1], NULL, 0), true) ? 0 : 1;
    random_state r = {seed};
    for (uint64_t i = 0; i < cases; i++) {
        const uint64_t one = random_next(&r);
        if (!run_case(one, false)) {
            printf("prop_program --case 0x%llx\n", (unsigned long long)one);
            return 1;
        }
    }
    printf("%llu programs, seed %llu\n", (unsigned long long)cases, (unsigned long long)seed);
    return 0;
}
