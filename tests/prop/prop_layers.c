/* Memories in layers, against bits that are calculated here: random organisations in macros, with a code above them or
 * in every macro, perhaps with a codec and an order of words between, and random layouts of tensors. The model is the
 * bits of the macros alone. Every operation is done to the memory on top and to the model: words are gathered from the
 * model bit by bit, decoded by the definition of the code (code_oracle.h), and back. After each operation every bit of
 * every macro must be that of the model; what is read must be what the model gives; what cannot be corrected must be
 * refused with nothing changed, and what was corrected must be counted. In some cases the macros lie elsewhere, as
 * those of a simulated design do, and words cross in chunks (layers_bridge.c).
 *
 *     prop_layers [--cases N] [--seed S]
 *     prop_layers --case S                  one case, as the failure line says */
#include "cases.h"
#include "layers.h"

/* The counts, of a code above the macros. */
static bool check_counts(world *w)
{
    td_code_result result;
    if (w->in_macros)
        return true;
    if (td_memory_code_result(w->top, &result, 0))
        return layers_complain(w, "no counts");
    return (result.words == w->counted.words && result.corrected == w->counted.corrected &&
            !!result.uncorrectable == !!w->counted.uncorrectable) ||
           layers_complain(w, "the counts are wrong");
}

/* -- operations ---------------------------------------------------------------------------------------------------- */

/* Words that an operation is about, in runs that follow each other. */
typedef struct list {
    uint64_t word[MOST_WORDS];
    size_t count;
} list;

static size_t run_of(const list *l, size_t i)
{
    size_t n = 1;
    while (i + n < l->count && l->word[i + n] == l->word[i] + n)
        n++;
    return n;
}

/* What a read of these words comes to; counts what the library counts. Runs before the first bad one are read whole. */
static bool reads(world *w, const list *l)
{
    unsigned char data[MOST_BYTES];
    for (size_t i = 0, n; i < l->count; i += n) {
        n = run_of(l, i);
        bool bad = false;
        for (size_t j = i; j < i + n; j++) {
            unsigned mended = 0;
            bad |= layers_get_word(w, l->word[j], data, &mended) == BAD;
            w->counted.corrected += w->check ? mended : 0;
            w->counted.words += w->check;
        }
        w->counted.uncorrectable += bad;
        if (bad)
            return false;
    }
    return true;
}

/* The same before a write of whole words. */
static bool prepares(const world *w, const list *l)
{
    unsigned char data[MOST_BYTES];
    bool good = true;
    for (size_t i = 0, n; i < l->count && good; i += n) {
        n = run_of(l, i);
        if (layers_rows_whole(w, l->word[i], n))
            continue;
        for (size_t j = i; j < i + n; j++) {
            unsigned mended = 0;
            good &= layers_get_word(w, l->word[j], data, &mended) != BAD;
        }
    }
    return good;
}

static list draw_list(const world *w, random_state *r, size_t most)
{
    list l = {.count = 1 + (size_t)random_below(r, most)};
    for (size_t i = 0; i < l.count; i++)
        l.word[i] = i && random_chance(r, 70) ? (l.word[i - 1] + 1) % w->depth : random_below(r, w->depth);
    return l;
}

static bool expect(world *w, td_status status, bool good)
{
    if (good)
        return status == TD_OK || layers_complain(w, "it was refused");
    return (status == TD_UNCORRECTABLE && strstr(td_last_error(), "the syndrome 0x")) ||
           layers_complain(w, "it went through");
}

static bool write_words(world *w, random_state *r)
{
    const size_t bytes = td_memory_word_bytes(w->top);
    const list l = draw_list(w, r, 6);
    unsigned char words[6 * MOST_BYTES] = {0}, masks[6 * MOST_BYTES] = {0}, data[MOST_BYTES];
    const bool masked = random_chance(r, 50);
    unsigned mended = 0;
    snprintf(w->what, sizeof w->what, "a %s write of %zu words from %llu", masked ? "masked" : "whole", l.count,
             (unsigned long long)l.word[0]);
    for (size_t i = 0; i < l.count; i++) {
        layers_draw_bits(r, w->width, words + i * bytes);
        layers_draw_bits(r, w->width, masks + i * bytes);
    }
    const bool good = masked ? reads(w, &l) : prepares(w, &l);
    if (!expect(w, layers_write(w, l.word, l.count, words, masked ? masks : NULL), good))
        return false;
    for (size_t i = 0; i < l.count && good; i++) {
        (void)layers_get_word(w, l.word[i], data, &mended);
        for (uint64_t b = 0; b < w->width; b++)
            if (!masked || oracle_bit(masks + i * bytes, b))
                oracle_set(data, b, oracle_bit(words + i * bytes, b));
        layers_put_word(w, l.word[i], data);
    }
    return true;
}

static bool read_words(world *w, random_state *r)
{
    const size_t bytes = td_memory_word_bytes(w->top);
    const list l = draw_list(w, r, 6);
    unsigned char words[6 * MOST_BYTES], data[MOST_BYTES];
    unsigned mended = 0;
    snprintf(w->what, sizeof w->what, "a read of %zu words from %llu", l.count, (unsigned long long)l.word[0]);
    memset(words, 0xee, sizeof words);
    const bool good = reads(w, &l);
    if (!expect(w, layers_read(w, l.word, l.count, words), good))
        return false;
    for (size_t i = 0; i < l.count; i++) {
        (void)layers_get_word(w, l.word[i], data, &mended);
        for (uint64_t b = 0; b < w->width && good; b++)
            if (oracle_bit(words + i * bytes, b) != oracle_bit(data, b))
                return layers_complain(w, "a word is wrong");
        if (!good && words[i * bytes] != 0xee)
            return layers_complain(w, "a refused read gave words");
    }
    return true;
}

/* A tensor of rows of lanes: row i in word first + i * step. */
typedef struct placed {
    td_tensor *tensor;
    td_layout *layout;
    uint64_t rows, lanes, bits, lsb;
    bool msb, keep;
    list words, spans; /* in order of the rows, and of the addresses */
} placed;

static bool draw_tensor(const world *w, random_state *r, placed *p)
{
    char dtype[8], address[60], options[60];
    *p = (placed){.bits = 1 + random_below(r, w->width < 16 ? w->width : 16), .msb = random_chance(r, 30)};
    p->lsb = random_chance(r, 30) ? random_below(r, w->width - p->bits + 1) : 0;
    p->lanes = 1 + random_below(r, (w->width - p->lsb) / p->bits);
    p->keep = random_chance(r, 50);
    const uint64_t step = 1 + random_below(r, 2), most = (w->depth + step - 1) / step;
    p->rows = 1 + random_below(r, most);
    const uint64_t first = random_below(r, w->depth - (p->rows - 1) * step);
    const bool down = random_chance(r, 30);
    snprintf(dtype, sizeof dtype, "u%llu", (unsigned long long)p->bits);
    snprintf(options, sizeof options, "lsb=%llu fill=%s%s", (unsigned long long)p->lsb, p->keep ? "keep" : "zero",
             p->msb ? " lanes=msb" : "");
    if (down)
        snprintf(address, sizeof address, "%llu - %llu*r", (unsigned long long)(first + (p->rows - 1) * step),
                 (unsigned long long)step);
    else
        snprintf(address, sizeof address, "%llu + %llu*r", (unsigned long long)first, (unsigned long long)step);
    p->words.count = p->spans.count = (size_t)p->rows;
    for (uint64_t i = 0; i < p->rows; i++) {
        p->spans.word[i] = first + i * step;
        p->words.word[i] = first + (down ? p->rows - 1 - i : i) * step;
    }
    return !td_layout_create("r c -> r c", options, address, &p->layout) &&
           !td_tensor_create(dtype, (td_shape){2, {p->rows, p->lanes}}, &p->tensor) &&
           !td_tensor_fill_random(p->tensor, random_next(r));
}

static uint64_t element(const placed *p, uint64_t row, uint64_t lane)
{
    uint64_t bits = 0;
    (void)td_tensor_get_bits(p->tensor, row * p->lanes + lane, &bits);
    return bits;
}

static uint64_t lane_bit(const placed *p, uint64_t lane)
{
    return p->lsb + (p->msb ? p->lanes - 1 - lane : lane) * p->bits;
}

static uint64_t lane_value(const placed *p, const unsigned char *data, uint64_t lane)
{
    uint64_t value = 0;
    for (uint64_t b = 0; b < p->bits; b++)
        value |= (uint64_t)oracle_bit(data, lane_bit(p, lane) + b) << b;
    return value;
}

static bool load_tensor(world *w, const placed *p)
{
    unsigned char data[MOST_BYTES];
    unsigned mended = 0;
    snprintf(w->what, sizeof w->what, "a load by \"%s\" \"%s\"", td_layout_options(p->layout),
             td_layout_address(p->layout));
    const bool good = p->keep ? reads(w, &p->spans) : prepares(w, &p->spans);
    if (!expect(w, layers_load(w, p->tensor, p->layout), good))
        return false;
    for (uint64_t i = 0; i < p->rows && good; i++) {
        if (p->keep)
            (void)layers_get_word(w, p->words.word[i], data, &mended);
        else
            memset(data, 0, sizeof data);
        for (uint64_t lane = 0; lane < p->lanes; lane++)
            for (uint64_t b = 0; b < p->bits; b++)
                oracle_set(data, lane_bit(p, lane) + b, element(p, i, lane) >> b & 1);
        layers_put_word(w, p->words.word[i], data);
    }
    return true;
}

static bool dump_tensor(world *w, const placed *p)
{
    unsigned char data[MOST_BYTES];
    unsigned mended = 0;
    uint64_t *before = malloc((size_t)(p->rows * p->lanes) * sizeof *before);
    snprintf(w->what, sizeof w->what, "a dump by \"%s\" \"%s\"", td_layout_options(p->layout),
             td_layout_address(p->layout));
    for (uint64_t i = 0; i < p->rows * p->lanes; i++)
        before[i] = element(p, 0, i);
    const bool good = reads(w, &p->spans);
    bool right = expect(w, layers_dump(w, p->tensor, p->layout), good);
    for (uint64_t i = 0; i < p->rows && right; i++) {
        (void)layers_get_word(w, p->words.word[i], data, &mended);
        for (uint64_t lane = 0; lane < p->lanes && right; lane++)
            if (element(p, i, lane) != (good ? lane_value(p, data, lane) : before[i * p->lanes + lane]))
                right = layers_complain(w, "an element is wrong");
    }
    free(before);
    return right;
}

static bool compare_tensor(world *w, const placed *p)
{
    unsigned char data[MOST_BYTES];
    unsigned mended = 0;
    uint64_t differ = 0;
    td_report *report = NULL;
    snprintf(w->what, sizeof w->what, "a comparison by \"%s\" \"%s\"", td_layout_options(p->layout),
             td_layout_address(p->layout));
    const bool good = reads(w, &p->spans);
    if (!expect(w, layers_compare(w, p->tensor, p->layout, &report), good))
        return false;
    for (uint64_t i = 0; i < p->rows; i++) {
        (void)layers_get_word(w, p->words.word[i], data, &mended);
        for (uint64_t lane = 0; lane < p->lanes; lane++)
            differ += element(p, i, lane) != lane_value(p, data, lane);
    }
    const bool right = !good || td_report_mismatches(report) == differ;
    td_report_destroy(&report);
    return right || layers_complain(w, "the mismatches are wrong");
}

static bool use_tensor(world *w, random_state *r)
{
    placed p;
    bool good = draw_tensor(w, r, &p) || layers_complain(w, "a tensor was not made");
    if (good)
        good = random_chance(r, 40)   ? load_tensor(w, &p)
               : random_chance(r, 60) ? dump_tensor(w, &p)
                                      : compare_tensor(w, &p);
    td_tensor_destroy(&p.tensor);
    td_layout_destroy(&p.layout);
    return good;
}

/* Wrong bits in a macro, wherever they lie. */
static bool disturb(world *w, random_state *r)
{
    const uint64_t macro = random_below(r, w->o.t * w->o.s), row = random_below(r, w->o.rows),
                   bit = random_below(r, w->stored_width);
    char text[60];
    td_faults *faults = NULL;
    snprintf(text, sizeof text, "word=%llu bit=%llu", (unsigned long long)row, (unsigned long long)bit);
    snprintf(w->what, sizeof w->what, "a fault \"%s\" in macro %llu", text, (unsigned long long)macro);
    if (w->is_far)
        layers_flip_stored(w, macro, row, bit);
    else if (td_memory_inject(w->array[macro], text, NULL, &faults))
        return layers_complain(w, "it was refused");
    td_faults_destroy(&faults);
    w->bits[macro][row * w->stored_width + bit] ^= 1;
    return true;
}

/* Wrong bits in coded words, by the memory on top; some are taken back. */
static bool inject(world *w, random_state *r)
{
    static const char *const where[] = {"in=any", "in=data", "in=check"};
    td_faults *faults = NULL;
    const uint64_t in = random_below(r, 3),
                   most = in == 1   ? w->code->data
                          : in == 2 ? w->code->checks
                                    : 2,
                   bits = 1 + random_below(r, most < 2 ? most : 2);
    snprintf(w->what, sizeof w->what, "words=%llu bits=%llu %s seed=%llu",
             (unsigned long long)(1 + random_below(r, w->depth < 3 ? w->depth : 3)),
             (unsigned long long)(w->width < bits ? 1 : bits), w->in_macros ? "" : where[in],
             (unsigned long long)random_below(r, 1000));
    if (!layers_begin_change(w) || td_memory_inject(w->top, w->what, NULL, &faults))
        return layers_complain(w, "it was refused");
    const bool undo = random_chance(r, 30);
    for (size_t i = 0; i < td_faults_count(faults) && !undo; i++) {
        const td_fault fault = td_faults_at(faults, i);
        unsigned char coded[MOST_BYTES];
        if (w->in_macros) {
            layers_flip(w, fault.word, fault.bit);
            continue;
        }
        layers_get_coded(w, fault.word, coded);
        oracle_set(coded, fault.bit, !oracle_bit(coded, fault.bit));
        layers_put_coded(w, fault.word, coded);
    }
    if (undo && td_memory_undo(w->top, &faults, NULL))
        return layers_complain(w, "it was not taken back");
    layers_end_change(w);
    td_faults_destroy(&faults);
    return true;
}

/* Every word is written, so that all are right again. */
static bool mend(world *w, random_state *r)
{
    const size_t bytes = td_memory_word_bytes(w->top);
    unsigned char words[MOST_WORDS * MOST_BYTES] = {0};
    list l = {.count = (size_t)w->depth};
    snprintf(w->what, sizeof w->what, "a write of every word");
    for (size_t i = 0; i < l.count; i++) {
        l.word[i] = i;
        layers_draw_bits(r, w->width, words + i * bytes);
    }
    const bool good = prepares(w, &l);
    if (!expect(w, layers_write(w, l.word, l.count, words, NULL), good))
        return false;
    for (size_t i = 0; i < l.count && good; i++)
        layers_put_word(w, i, words + i * bytes);
    return true;
}

static bool run_operations(world *w, random_state *r)
{
    for (int i = 0; i < 12; i++) {
        const uint64_t kind = random_below(r, 10);
        const bool good = kind < 2   ? write_words(w, r)
                          : kind < 4 ? read_words(w, r)
                          : kind < 6 ? use_tensor(w, r)
                          : kind < 7 ? disturb(w, r)
                          : kind < 9 ? inject(w, r)
                                     : mend(w, r);
        if (!good || !layers_check_macros(w) || !check_counts(w))
            return false;
    }
    return true;
}

static bool run_case(uint64_t seed)
{
    static oracle code;
    random_state r = {seed};
    world w = {.code = &code};
    draw_blocks(&r);
    if (!layers_draw(&w, &r))
        return true;
    const bool good = layers_make(&w, &r) && mend(&w, &r) && layers_check_macros(&w) && run_operations(&w, &r);
    layers_free(&w);
    return good;
}

int main(int argc, char **argv)
{
    return run_cases("prop_layers", 1500, run_case, argc, argv);
}
