/* Random memories in layers (layers.h): the code, the organisation, the memories, and what lies in them at first. */
#include "layers.h"

/* A code for words of about `wanted` bits; returns its data bits. */
static uint64_t draw_code(world *w, random_state *r, uint64_t wanted)
{
    static const char *const places[] = {"above", "below", "interleaved"};
    oracle *o = w->code;
    const int place = (int)random_below(r, 3);
    if (random_chance(r, 25)) {
        const bool odd = random_chance(r, 50);
        const unsigned width = 1 + (unsigned)random_below(r, 16);
        memset(o, 0, sizeof *o);
        o->data = width;
        o->checks = 1;
        o->subwords = 1 + (unsigned)(wanted / width);
        for (unsigned i = 0; i < width; i++)
            o->mask[0][i] = true;
        o->constant[width] = odd;
        snprintf(w->text, sizeof w->text, "parity %s width=%u place=%s", odd ? "odd" : "even", width, places[place]);
    } else {
        const oracle_name *name = &oracle_names[random_below(r, sizeof oracle_names / sizeof *oracle_names)];
        const bool inverted = random_chance(r, 40);
        oracle_named(o, name, inverted, 1 + (unsigned)(wanted / name->data / 2));
        const unsigned address = random_chance(r, 30) ? 1 + (unsigned)random_below(r, 6) : 0;
        if (address) { /* the constant moves with the check bits */
            for (unsigned j = 0; j < o->checks; j++)
                o->constant[o->data - address + j] = o->constant[o->data + j];
            o->data -= address;
            o->address = address;
        }
        snprintf(w->text, sizeof w->text, "%s%s address=%u place=%s", inverted ? "inv_" : "", name->name, address,
                 places[place]);
        if (!address)
            snprintf(w->text, sizeof w->text, "%s%s place=%s", inverted ? "inv_" : "", name->name, places[place]);
    }
    o->place = place;
    return (uint64_t)o->subwords * o->data;
}

/* Where the words of `below_width` bits lie; false where it has grown too large. */
static bool draw_organisation(world *w, random_state *r)
{
    organisation *o = &w->o;
    static const uint64_t columns[] = {1, 1, 2, 3, 4};
    o->t = 1 + random_below(r, 3);
    o->r = 1 + random_below(r, 8);
    o->p = columns[random_below(r, 5)];
    o->s = 1;
    for (uint64_t s = 2; s <= 2 + random_below(r, 2); s++)
        if (w->below_width % s == 0)
            o->s = s;
    o->k = w->below_width / o->s;
    o->lsb = random_chance(r, 20) ? random_below(r, 5) : 0;
    o->base = random_chance(r, 20) ? random_below(r, 3) : 0;
    o->reversed = random_chance(r, 30);
    o->columns = o->lsb + o->k * o->p + (random_chance(r, 20) ? random_below(r, 5) : 0);
    o->rows = o->base + o->r + random_below(r, 2);
    w->depth = o->t * o->r * o->p;
    return w->depth <= MOST_WORDS && o->columns <= 8 * MOST_BYTES - 64 && o->t * o->s <= MOST_MACROS;
}

/* With a code in every macro its data are a row, and the memory on top is made of rows. */
bool layers_draw(world *w, random_state *r)
{
    w->in_macros = random_chance(r, 30);
    w->check = random_chance(r, 85);
    w->is_far = random_chance(r, 40);
    const uint64_t bits = draw_code(w, r, 8 + random_below(r, 40));
    if (!w->in_macros) {
        w->width = bits;
        w->below_width = (uint64_t)w->code->subwords * (w->code->data + w->code->checks);
        w->codec = random_chance(r, 30);
        w->ordered = w->codec && random_chance(r, 50);
        const bool fits = draw_organisation(w, r);
        w->stored_width = w->o.columns;
        return fits;
    }
    organisation *o = &w->o; /* rows of `bits`: p words of k bits, and what is left over spare */
    o->t = 1 + random_below(r, 2);
    o->r = 1 + random_below(r, 6);
    o->s = 1 + random_below(r, 3);
    o->p = 1 + random_below(r, bits < 3 ? bits : 3);
    o->k = bits / o->p;
    o->reversed = random_chance(r, 30);
    o->base = random_chance(r, 20) ? random_below(r, 3) : 0;
    o->columns = bits;
    o->rows = o->base + o->r + random_below(r, 2);
    w->width = w->below_width = o->s * o->k;
    w->depth = o->t * o->r * o->p;
    w->stored_width = (uint64_t)w->code->subwords * (w->code->data + w->code->checks);
    return w->depth <= MOST_WORDS && w->width <= 8 * MOST_BYTES - 64 && w->stored_width <= 8 * MOST_BYTES - 64;
}

static bool make_layers(world *w, td_layout *layout)
{
    const td_codec codec = {.version = TD_CODEC_VERSION,
                            .encode = layers_codec,
                            .decode = layers_codec,
                            .place = w->ordered ? layers_order : NULL};
    const char *options = w->check ? NULL : "check=off";
    const uint64_t macros = w->o.t * w->o.s, data = (uint64_t)w->code->subwords * w->code->data;
    if (td_code_create(w->text, data, &w->made))
        return false;
    for (uint64_t m = 0; m < macros; m++) {
        if (td_memory_create("array", w->stored_width, w->o.rows, &w->array[m]))
            return false;
        if (w->in_macros && td_memory_coded("macro", w->made, w->array[m], options, &w->macro[m]))
            return false;
    }
    td_memory **lowest = w->in_macros ? &w->top : &w->organised;
    if (td_memory_over("organised", w->below_width, w->depth, layout, w->in_macros ? w->macro : w->array,
                       (size_t)macros, lowest))
        return false;
    if (w->in_macros)
        return true;
    if (w->codec && td_memory_through("through", &codec, w->organised, &w->through))
        return false;
    return !td_memory_coded("top", w->made, w->codec ? w->through : w->organised, options, &w->top);
}

bool layers_make(world *w, random_state *r)
{
    char options[120], address[60];
    td_layout *layout = NULL;
    const organisation *o = &w->o;
    snprintf(options, sizeof options, "t=%llu p=%llu s=%llu lsb=%llu fill=keep", (unsigned long long)o->t,
             (unsigned long long)o->p, (unsigned long long)o->s, (unsigned long long)o->lsb);
    if (o->reversed)
        snprintf(address, sizeof address, "%llu - r", (unsigned long long)(o->base + o->r - 1));
    else
        snprintf(address, sizeof address, "%llu + r", (unsigned long long)o->base);
    snprintf(w->what, sizeof w->what, "making it");
    const bool good =
        !td_layout_create("(t r p) (s k) -> (t s) r (k p)", options, address, &layout) && make_layers(w, layout);
    td_layout_destroy(&layout);
    if (!good)
        return layers_complain(w, "it was refused");
    for (uint64_t m = 0; m < o->t * o->s; m++) { /* random bits everywhere, then words that are right */
        char fill[40];
        unsigned char row[MOST_BYTES];
        snprintf(fill, sizeof fill, "random seed=%llu", (unsigned long long)random_below(r, 1000));
        if (td_memory_fill(w->array[m], fill, 0, o->rows))
            return layers_complain(w, "no filling");
        w->bits[m] = malloc((size_t)(o->rows * w->stored_width));
        for (uint64_t i = 0; i < o->rows; i++) {
            (void)td_backdoor_read(w->array[m], &i, 1, row);
            for (uint64_t b = 0; b < w->stored_width; b++)
                w->bits[m][i * w->stored_width + b] = oracle_bit(row, b);
        }
        for (uint64_t i = 0; i < o->rows && w->in_macros; i++) {
            memset(row, 0, sizeof row);
            layers_draw_bits(r, (uint64_t)w->code->subwords * w->code->data, row);
            if (td_backdoor_write(w->macro[m], &i, 1, row, NULL))
                return layers_complain(w, "no row");
            layers_encode_row(w, m, i, row);
        }
    }
    return !w->is_far || layers_go_far(w, r);
}

void layers_free(world *w)
{
    td_memory_destroy(&w->top);
    td_memory_destroy(&w->through);
    td_memory_destroy(&w->organised);
    for (int m = 0; m < MOST_MACROS; m++) {
        td_memory_destroy(&w->macro[m]);
        td_memory_destroy(&w->array[m]);
        free(w->bits[m]);
        free(w->far[m]);
    }
    td_code_destroy(&w->made);
}
