/* Layouts whose elements have copies, longer than the masks that a plan holds copies against each other with: repeats
 * in words, lanes and banks, and overlapping windows, with slots, beats, lanes from the top and addresses. Called by
 * generate(), which finds the memory. */
#include "generate.h"

#include <stdio.h>

#define PRINT(member, ...) snprintf(g->member, sizeof g->member, __VA_ARGS__)

typedef unsigned long long number;

static void take_dims(generated *g, size_t rank, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t dim[] = {a, b, c};
    g->in.rank = rank;
    for (size_t i = 0; i < rank; i++)
        g->in.dim[i] = dim[i];
}

/* Repeats: returns the lanes of a vector. */
static uint64_t write_repeats(random_state *r, generated *g, char *sizes, size_t size)
{
    const uint64_t rows = 1 + random_below(r, 12), cols = 1 + random_below(r, 500), k = 2 + random_below(r, 3);
    snprintf(sizes, size, "k=%llu", (number)k);
    take_dims(g, 2, rows, cols, 0);
    switch (random_below(r, 5)) {
    case 0:
        PRINT(pattern, "r c -> (r k) c");
        return cols;
    case 1:
        PRINT(pattern, "r c -> (k r) c");
        return cols;
    case 2:
        PRINT(pattern, "r c -> r (c k)");
        return cols * k;
    case 3:
        PRINT(pattern, "r c -> k c r");
        return rows;
    default:
        PRINT(pattern, "r c -> (c k) r");
        return rows;
    }
}

/* Windows in one or two dimensions. */
static uint64_t write_windows(random_state *r, generated *g, char *sizes, size_t size)
{
    const number s = 1 + random_below(r, 3), d = 1 + random_below(r, 2), i = 1 + random_below(r, 4),
                 j = 1 + random_below(r, 3), h = 1 + random_below(r, 20), w = 1 + random_below(r, 20),
                 c = 1 + random_below(r, 24), t = 1 + random_below(r, 2), k = 1 + random_below(r, 2);
    const uint64_t high = s * (h - 1) + d * (i - 1) + 1, wide = t * (w - 1) + j;
    const bool repeats = k > 1 && random_chance(r, 50);
    snprintf(sizes, size, "i=%llu j=%llu", i, j);
    if (repeats)
        snprintf(sizes, size, "i=%llu j=%llu k=%llu", i, j, k);
    switch (random_below(r, 3)) {
    case 0:
        take_dims(g, 3, c, high, wide);
        PRINT(pattern, "c (%llu*h + %llu*i) (%llu*w + j) -> (h w%s) (c i j)", s, d, t, repeats ? " k" : "");
        return c * i * j;
    case 1:
        take_dims(g, 3, high, wide, c);
        PRINT(pattern, "(%llu*h + %llu*i) (%llu*w + j) c -> (h%s i w) (j c)", s, d, t, repeats ? " k" : "");
        return c * j;
    default:
        take_dims(g, 3, high, c, wide);
        PRINT(pattern, "(%llu*h + %llu*i) c (%llu*w + j) -> (c w j) (i%s h)", s, d, t, repeats ? " k" : "");
        return i * h * (repeats ? k : 1);
    }
}

void generate_copies(random_state *r, generated *g)
{
    static const char *const addresses[] = {"", "", "", "index ^ 1", "3*index + 2", "index / 4 * 4 + (3 - index % 4)"};
    static const unsigned widths[] = {1, 3, 4, 5, 8, 8, 12, 16, 32, 33};
    char sizes[64];
    const unsigned bits = widths[random_below(r, sizeof widths / sizeof widths[0])];
    const uint64_t lanes =
        random_chance(r, 50) ? write_repeats(r, g, sizes, sizeof sizes) : write_windows(r, g, sizes, sizeof sizes);
    const uint64_t slot = bits + (random_chance(r, 25) ? random_below(r, 9) : 0);
    const uint64_t beats = random_chance(r, 15) && lanes * slot % 2 == 0 ? 2 : 1;
    const uint64_t lsb = random_chance(r, 15) ? random_below(r, 10) : 0;
    PRINT(dtype, "%c%u", bits == 1 || random_chance(r, 50) ? 'u' : 'i', bits);
    PRINT(options, "%s slot=%llu lsb=%llu%s%s%s", sizes, (number)slot, (number)lsb,
          random_chance(r, 20) ? " lanes=msb" : "", beats == 2 ? " beats=2" : "",
          random_chance(r, 20) ? " fill=keep" : "");
    PRINT(address, "%s", addresses[random_below(r, sizeof addresses / sizeof addresses[0])]);
    g->in.width = lsb + lanes * slot / beats + (random_chance(r, 30) ? random_below(r, 40) : 0);
}
