/* Memories that lie over others, against places that are calculated here, bit by bit: random organisations of tiles,
 * slices, columns, copies, orders of rows and spare bits; then random operations on the memory and on a plain one
 * beside it. After each, every bit of the plain memory must be found at its place in the arrays, every other bit of
 * the arrays must be as it was, and what is read must be what the plain memory gives. Places that the library names, of
 * bits in the arrays and back, must be those that are calculated here.
 *
 *     prop_over [--cases N] [--seed S]
 *     prop_over --case S                   one case, as the failure line says */
#include "cases.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Axes of the rows (the first three, slowest first), of the bits (the next three), and copies. */
enum { T, R, P, S, K, L, M, AXES };
static const char axis_name[] = "trpsklm";

#define GROUPS 3 /* banks, words, lanes */

typedef struct organisation {
    uint64_t size[AXES];
    int group[AXES], order[GROUPS][AXES], count[GROUPS];
    uint64_t width, depth; /* of the memory */
    uint64_t array_width, array_depth, arrays;
    uint64_t lsb, slot, base;
    bool msb, reversed, hashed;
    char pattern[200], options[200], address[100];
} organisation;

typedef struct world {
    organisation o;
    td_memory *memory, *plain;
    td_memory **array, **inner, **model; /* the model: what the arrays must hold */
    uint64_t inners;
} world;

static uint64_t product(const organisation *o, int group)
{
    uint64_t all = 1;
    for (int i = 0; i < o->count[group]; i++)
        all *= o->size[o->order[group][i]];
    return all;
}

static void add_text(char *to, const char *text)
{
    strcat(to, text);
}

static void write_group(organisation *o, int group)
{
    add_text(o->pattern, " (");
    for (int i = 0; i < o->count[group]; i++) {
        const char name[3] = {axis_name[o->order[group][i]], ' ', 0};
        add_text(o->pattern, name);
    }
    add_text(o->pattern, ")");
}

/* Every axis into a group, at a random place of its order. */
static void draw_groups(random_state *r, organisation *o)
{
    static const int likely[AXES] = {0, 1, 2, 0, 2, 2, 0};
    for (int a = 0; a < AXES; a++) {
        const int group = random_chance(r, 70) ? likely[a] : (int)random_below(r, GROUPS);
        int at = (int)random_below(r, (uint64_t)o->count[group] + 1);
        memmove(&o->order[group][at + 1], &o->order[group][at], sizeof(int) * (size_t)(o->count[group] - at));
        o->order[group][at] = a;
        o->count[group]++;
        o->group[a] = group;
    }
}

static void draw(random_state *r, organisation *o)
{
    static const uint64_t columns[] = {1, 1, 2, 3, 4, 8};
    memset(o, 0, sizeof *o);
    o->size[T] = 1 + random_below(r, 4);
    o->size[R] = 1 + random_below(r, 40);
    o->size[P] = columns[random_below(r, 6)];
    o->size[S] = 1 + random_below(r, 4);
    o->size[K] = random_chance(r, 50) ? 8 * (1 + random_below(r, 3)) : 1 + random_below(r, 40);
    o->size[L] = random_chance(r, 70) ? 1 : 1 + random_below(r, 5);
    o->size[M] = random_chance(r, 90) ? 1 : 2;
    draw_groups(r, o);
    o->depth = o->size[T] * o->size[R] * o->size[P];
    o->width = o->size[S] * o->size[K] * o->size[L];
    o->arrays = product(o, 0);
    o->slot = 1 + (random_chance(r, 10) ? random_below(r, 3) : 0);
    o->lsb = random_chance(r, 20) ? random_below(r, 9) : 0;
    o->msb = random_chance(r, 15);
    o->array_width = o->lsb + product(o, 2) * o->slot + (random_chance(r, 20) ? random_below(r, 20) : 0);
    const uint64_t words = product(o, 1);
    o->base = random_chance(r, 30) ? random_below(r, 5) : 0;
    o->reversed = random_chance(r, 15);
    o->hashed = !o->reversed && random_chance(r, 15);
    uint64_t room = words;
    while (o->hashed && (room & (room - 1))) /* a Gray code stays below the next power of two */
        room += room & -room;
    o->array_depth = o->base + room + random_below(r, 4);
    snprintf(o->pattern, sizeof o->pattern, "(t r p) (s k l) ->");
    for (int g = 0; g < GROUPS; g++)
        write_group(o, g);
    for (int a = 0; a < AXES; a++) {
        char text[40];
        snprintf(text, sizeof text, "%c=%llu ", axis_name[a], (unsigned long long)o->size[a]);
        add_text(o->options, text);
    }
    char more[60];
    snprintf(more, sizeof more, "lsb=%llu slot=%llu fill=keep%s", (unsigned long long)o->lsb,
             (unsigned long long)o->slot, o->msb ? " lanes=msb" : "");
    add_text(o->options, more);
    if (o->reversed)
        snprintf(o->address, sizeof o->address, "%llu - index", (unsigned long long)(o->base + words - 1));
    else if (o->hashed)
        snprintf(o->address, sizeof o->address, "%llu + (index ^ (index >> 1))", (unsigned long long)o->base);
    else
        snprintf(o->address, sizeof o->address, "%llu + index", (unsigned long long)o->base);
}

typedef struct place {
    uint64_t array, word, bit;
} place;

static uint64_t number(const organisation *o, int group, const uint64_t *at)
{
    uint64_t n = 0;
    for (int i = 0; i < o->count[group]; i++)
        n = n * o->size[o->order[group][i]] + at[o->order[group][i]];
    return n;
}

/* Where bit k of word w lies, in copy m. */
static place find(const organisation *o, uint64_t w, uint64_t k, uint64_t m)
{
    const uint64_t at[AXES] = {[T] = w / (o->size[R] * o->size[P]),
                               [R] = w / o->size[P] % o->size[R],
                               [P] = w % o->size[P],
                               [S] = k / (o->size[K] * o->size[L]),
                               [K] = k / o->size[L] % o->size[K],
                               [L] = k % o->size[L],
                               [M] = m};
    const uint64_t index = number(o, 1, at), lane = number(o, 2, at), lanes = product(o, 2);
    place p = {.array = number(o, 0, at), .bit = o->lsb + (o->msb ? lanes - 1 - lane : lane) * o->slot};
    p.word = o->base + (o->reversed ? product(o, 1) - 1 - index : o->hashed ? index ^ index >> 1 : index);
    return p;
}

static unsigned get(const td_memory *m, uint64_t word, uint64_t bit)
{
    uint64_t bytes = td_memory_word_bytes(m), byte = 0;
    unsigned char *all = malloc(bytes);
    td_backdoor_read(m, &word, 1, all);
    byte = all[bit / 8];
    free(all);
    return (unsigned)(byte >> bit % 8) & 1;
}

/* The storage of a memory of the library. */
static unsigned char *byte_of(td_memory *m, uint64_t word, uint64_t bit)
{
    return (unsigned char *)td_memory_data(m) + word * td_memory_word_bytes(m) + bit / 8;
}

static unsigned get_fast(td_memory *m, uint64_t word, uint64_t bit)
{
    return td_memory_data(m) ? (unsigned)*byte_of(m, word, bit) >> bit % 8 & 1u : get(m, word, bit);
}

static void put(td_memory *m, uint64_t word, uint64_t bit, unsigned value)
{
    unsigned char *byte = byte_of(m, word, bit);
    *byte = (unsigned char)((*byte & ~(1u << bit % 8)) | value << bit % 8);
}

static bool complain(const world *w, const char *what)
{
    printf("%s: %llu words of %llu bits over %llu arrays of %llu x %llu%s, \"%s\" \"%s\" \"%s\"; %s\n", what,
           (unsigned long long)w->o.depth, (unsigned long long)w->o.width, (unsigned long long)w->o.arrays,
           (unsigned long long)w->o.array_depth, (unsigned long long)w->o.array_width,
           w->inners ? " that lie over others" : "", w->o.pattern, w->o.options, w->o.address, td_last_error());
    return false;
}

/* The model follows the plain memory, and the arrays must be the model. */
static bool check_arrays(world *w, const char *what)
{
    for (uint64_t word = 0; word < w->o.depth; word++)
        for (uint64_t bit = 0; bit < w->o.width; bit++)
            for (uint64_t m = 0; m < w->o.size[M]; m++) {
                const place p = find(&w->o, word, bit, m);
                put(w->model[p.array], p.word, p.bit, get_fast(w->plain, word, bit));
            }
    const size_t bytes = td_memory_word_bytes(w->model[0]);
    unsigned char *row = malloc(bytes);
    bool good = true;
    for (uint64_t a = 0; a < w->o.arrays && good; a++)
        for (uint64_t word = 0; word < w->o.array_depth && good; word++) {
            good =
                !td_backdoor_read(w->array[a], &word, 1, row) && memcmp(row, byte_of(w->model[a], word, 0), bytes) == 0;
        }
    free(row);
    return good || complain(w, what);
}

/* -- places -------------------------------------------------------------------------------------------------------- */

/* The macro of a place: the array itself, or the one of its two halves. */
static place in_macro(const world *w, place p)
{
    const uint64_t half = (w->o.array_depth + 1) / 2;
    return w->inners ? (place){2 * p.array + p.word / half, p.word % half, p.bit} : p;
}

static bool is_at(const world *w, const td_macro_bit *found, place wanted)
{
    td_memory *const *macros = w->inners ? w->inner : w->array;
    return found->number == wanted.array && found->row == wanted.word && found->column == wanted.bit &&
           found->macro == macros[wanted.array] && td_memory_macro(w->memory, found->number) == found->macro;
}

/* One bit down, in all of its copies, which have no order here; and up again from each. */
static bool check_bit(world *w, uint64_t word, uint64_t bit)
{
    bool good = true;
    td_macro_bit found[2];
    for (uint64_t m = 0; m < w->o.size[M] && good; m++)
        good = !td_memory_macro_bit(w->memory, word, bit, m, &found[m]);
    for (uint64_t m = 0; m < w->o.size[M] && good; m++) {
        const place p = in_macro(w, find(&w->o, word, bit, m));
        td_where_question q = {.banks = &w->memory, .bank_count = 1, .in_macro = 1, .macro = p.array};
        td_where *where = NULL;
        td_where_run run = {0};
        q.word = p.word;
        q.lsb = p.bit;
        q.bits = 1;
        good = (is_at(w, &found[0], p) || (w->o.size[M] > 1 && is_at(w, &found[1], p))) && !td_where_find(&q, &where) &&
               !td_where_at(where, 0, &run) && run.kind == TD_WHERE_DATA && run.memory == w->memory &&
               run.word == word && run.bit == bit;
        td_where_destroy(&where);
    }
    return good || complain(w, "a bit lies elsewhere");
}

/* A bit of an array that no bit of the memory has. */
static bool check_spare(world *w, random_state *r)
{
    const place p = {random_below(r, w->o.arrays), random_below(r, w->o.array_depth),
                     random_below(r, w->o.array_width)};
    const place m = in_macro(w, p);
    bool used = false, good = true;
    for (uint64_t word = 0; word < w->o.depth && !used; word++)
        for (uint64_t bit = 0; bit < w->o.width && !used; bit++)
            for (uint64_t copy = 0; copy < w->o.size[M] && !used; copy++) {
                const place at = find(&w->o, word, bit, copy);
                used = at.array == p.array && at.word == p.word && at.bit == p.bit;
            }
    td_where_question q = {.banks = &w->memory, .bank_count = 1, .in_macro = 1, .macro = m.array};
    td_where *where = NULL;
    td_where_run run = {0};
    q.word = m.word;
    q.lsb = m.bit;
    q.bits = 1;
    good = !td_where_find(&q, &where) && !td_where_at(where, 0, &run) && (run.kind == TD_WHERE_DATA) == used;
    td_where_destroy(&where);
    return good || complain(w, "a spare bit");
}

static bool check_places(world *w, random_state *r)
{
    bool good =
        td_memory_macros(w->memory) == (w->inners ? 2 : 1) * w->o.arrays && td_memory_copies(w->memory) == w->o.size[M];
    if (!good)
        return complain(w, "macros or copies");
    for (int i = 0; i < 60 && good; i++)
        good = check_bit(w, random_below(r, w->o.depth), random_below(r, w->o.width));
    for (int i = 0; i < 4 && good; i++)
        good = check_spare(w, r);
    return good;
}

/* The design writes into the arrays; the plain memory follows. */
static bool disturb(world *w, random_state *r)
{
    for (int i = 0; i < 20; i++) {
        const uint64_t word = random_below(r, w->o.depth), bit = random_below(r, w->o.width);
        const unsigned value = (unsigned)random_below(r, 2);
        put(w->plain, word, bit, value);
        for (uint64_t m = 0; m < w->o.size[M]; m++) {
            const place p = find(&w->o, word, bit, m);
            put(w->model[p.array], p.word, p.bit, value);
            if (td_backdoor_write(w->array[p.array], &p.word, 1, byte_of(w->model[p.array], p.word, 0), NULL))
                return complain(w, "a write to an array was refused");
        }
    }
    return true;
}

/* -- operations, on both memories ---------------------------------------------------------------------------------- */

static bool same(world *w, td_status one, td_status other, const char *what)
{
    return one == other || complain(w, what);
}

static bool write_words(world *w, random_state *r)
{
    const size_t bytes = td_memory_word_bytes(w->plain), count = 1 + (size_t)random_below(r, 6);
    uint64_t address[6];
    unsigned char *words = calloc(2 * count, bytes), *masks = words + count * bytes;
    for (size_t i = 0; i < count; i++) {
        address[i] = i && random_chance(r, 60) ? (address[i - 1] + 1) % w->o.depth : random_below(r, w->o.depth);
        for (uint64_t bit = 0; bit < w->o.width; bit++) {
            words[i * bytes + bit / 8] |= (unsigned char)(random_below(r, 2) << bit % 8);
            masks[i * bytes + bit / 8] |= (unsigned char)(random_below(r, 2) << bit % 8);
        }
    }
    const bool masked = random_chance(r, 50);
    const bool good = same(w, td_backdoor_write(w->memory, address, count, words, masked ? masks : NULL),
                           td_backdoor_write(w->plain, address, count, words, masked ? masks : NULL), "a write");
    free(words);
    return good;
}

static bool read_words(world *w, random_state *r)
{
    const size_t bytes = td_memory_word_bytes(w->plain);
    const uint64_t first = random_below(r, w->o.depth);
    uint64_t address[5];
    const size_t count = w->o.depth - first < 5 ? (size_t)(w->o.depth - first) : 5;
    unsigned char *one = calloc(2 * count, bytes), *other = one + count * bytes;
    for (size_t i = 0; i < count; i++)
        address[i] = first + i;
    bool good = same(w, td_backdoor_read(w->memory, address, count, one),
                     td_backdoor_read(w->plain, address, count, other), "a read");
    good = good && (memcmp(one, other, count * bytes) == 0 || complain(w, "read words"));
    free(one);
    return good;
}

static bool fill_words(world *w, random_state *r)
{
    const uint64_t first = random_below(r, w->o.depth), count = 1 + random_below(r, w->o.depth - first);
    char what[60];
    snprintf(what, sizeof what, "random seed=%llu", (unsigned long long)random_below(r, 1000));
    return same(w, td_memory_fill(w->memory, what, first, count), td_memory_fill(w->plain, what, first, count),
                "a filling");
}

/* Elements of one bit, or of whole bytes of which words are made. */
static uint64_t draw_bits(const organisation *o, random_state *r)
{
    static const uint64_t sizes[] = {8, 16, 32, 64};
    const uint64_t bits = sizes[random_below(r, 4)];
    return o->width % bits || random_chance(r, 25) ? 1 : bits;
}

/* A tensor of whole words or of a part of their lanes, some rows of it, in their order or transposed, dumped again and
 * compared. */
static bool move_tensor(world *w, random_state *r)
{
    const uint64_t bits = draw_bits(&w->o, r), most = w->o.width / bits;
    const uint64_t lanes = random_chance(r, 60) ? most : 1 + random_below(r, most),
                   rows = random_chance(r, 30) ? w->o.depth : 1 + random_below(r, w->o.depth);
    const uint64_t stride = rows > 1 && random_chance(r, 50) ? 1 + random_below(r, (w->o.depth - 1) / (rows - 1)) : 1;
    const uint64_t first = random_below(r, w->o.depth - (rows - 1) * stride);
    const bool transposed = random_chance(r, 30);
    td_tensor *tensor = NULL, *one = NULL, *other = NULL;
    td_layout *layout = NULL;
    td_report *report = NULL;
    char address[80], dtype[24];
    snprintf(address, sizeof address, "%llu + %llu*r", (unsigned long long)first, (unsigned long long)stride);
    snprintf(dtype, sizeof dtype, "u%llu", (unsigned long long)bits);
    const td_shape shape = transposed ? (td_shape){2, {lanes, rows}} : (td_shape){2, {rows, lanes}};
    bool good = !td_tensor_create(dtype, shape, &tensor) && !td_tensor_create(dtype, shape, &one) &&
                !td_tensor_create(dtype, shape, &other) && !td_tensor_fill_random(tensor, random_next(r)) &&
                !td_layout_create(transposed ? "c r -> r c" : "r c -> r c", random_chance(r, 30) ? "fill=keep" : "",
                                  address, &layout);
    good = good && same(w, td_backdoor_dump_tensor(w->memory, one, layout, NULL),
                        td_backdoor_dump_tensor(w->plain, other, layout, NULL), "a dump");
    good =
        good && (memcmp(td_tensor_data(one), td_tensor_data(other), (size_t)(rows * lanes * ((bits + 7) / 8))) == 0 ||
                 complain(w, "dumped elements"));
    good = good && same(w, td_backdoor_load_tensor(w->memory, tensor, layout, NULL),
                        td_backdoor_load_tensor(w->plain, tensor, layout, NULL), "a load");
    good = good &&
           (!td_backdoor_compare_tensor(w->memory, tensor, layout, NULL, NULL, &report) || complain(w, "a comparison"));
    good = good && (td_report_passed(report) || complain(w, "compared elements"));
    td_report_destroy(&report);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&one);
    td_tensor_destroy(&other);
    return good;
}

static bool run_operations(world *w, random_state *r)
{
    bool good = true;
    for (int i = 0; i < 4 && good; i++) {
        switch (random_below(r, 4)) {
        case 0:
            good = write_words(w, r) && check_arrays(w, "after a write");
            break;
        case 1:
            good = fill_words(w, r) && check_arrays(w, "after a filling");
            break;
        default:
            good = move_tensor(w, r) && check_arrays(w, "after a load");
        }
        good = good && disturb(w, r) && read_words(w, r);
    }
    return good;
}

/* -- the memories -------------------------------------------------------------------------------------------------- */

/* An array, or one that lies over two others of half its depth. */
static bool make_array(world *w, uint64_t a)
{
    td_layout *halves = NULL;
    if (!w->inners)
        return !td_memory_create("array", w->o.array_width, w->o.array_depth, &w->array[a]) &&
               !td_memory_fill(w->array[a], "random seed=3", 0, w->o.array_depth);
    const uint64_t half = (w->o.array_depth + 1) / 2;
    const bool good =
        !td_memory_create("half", w->o.array_width, half, &w->inner[2 * a]) &&
        !td_memory_create("half", w->o.array_width, half, &w->inner[2 * a + 1]) &&
        !td_layout_create("(h w) k -> h w k", "h=2 tail=clip", NULL, &halves) &&
        !td_memory_over("array", w->o.array_width, w->o.array_depth, halves, &w->inner[2 * a], 2, &w->array[a]) &&
        !td_memory_fill(w->array[a], "random seed=3", 0, w->o.array_depth);
    td_layout_destroy(&halves);
    return good;
}

static bool copy_words(td_memory *to, const td_memory *from, uint64_t depth)
{
    bool good = true;
    for (uint64_t word = 0; word < depth && good; word++)
        good = !td_backdoor_read(from, &word, 1, byte_of(to, word, 0));
    return good;
}

static bool make(world *w)
{
    td_layout *layout = NULL;
    bool good = !td_layout_create(w->o.pattern, w->o.options, w->o.address, &layout);
    for (uint64_t a = 0; a < w->o.arrays && good; a++)
        good = make_array(w, a) && !td_memory_create("model", w->o.array_width, w->o.array_depth, &w->model[a]) &&
               copy_words(w->model[a], w->array[a], w->o.array_depth);
    good = good && !td_memory_over("wbuf", w->o.width, w->o.depth, layout, w->array, (size_t)w->o.arrays, &w->memory) &&
           !td_memory_create("plain", w->o.width, w->o.depth, &w->plain) &&
           !td_memory_fill(w->memory, "random seed=9", 0, w->o.depth) &&
           !td_memory_fill(w->plain, "random seed=9", 0, w->o.depth);
    td_layout_destroy(&layout);
    return good || complain(w, "the memory was refused");
}

static bool run_case(uint64_t seed)
{
    random_state r = {seed};
    world w = {0};
    draw_blocks(&r);
    draw(&r, &w.o);
    if (w.o.depth * w.o.width * w.o.size[M] > 20000)
        return true;
    w.inners = random_chance(&r, 15);
    w.array = calloc((size_t)w.o.arrays, sizeof *w.array);
    w.model = calloc((size_t)w.o.arrays, sizeof *w.model);
    w.inner = calloc(2 * (size_t)w.o.arrays, sizeof *w.inner);
    const bool good =
        make(&w) && check_arrays(&w, "after it was made") && check_places(&w, &r) && run_operations(&w, &r);
    td_memory_destroy(&w.memory);
    td_memory_destroy(&w.plain);
    for (uint64_t a = 0; a < w.o.arrays; a++) {
        td_memory_destroy(&w.array[a]);
        td_memory_destroy(&w.model[a]);
        td_memory_destroy(&w.inner[2 * a]);
        td_memory_destroy(&w.inner[2 * a + 1]);
    }
    free(w.array);
    free(w.model);
    free(w.inner);
    return good;
}

int main(int argc, char **argv)
{
    return run_cases("prop_over", 600, run_case, argc, argv);
}
