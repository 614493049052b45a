/* A map file as text: it is refused with a message, or every byte that it gives an address can be written and read
 * back, and what it says of itself is text. Numbers that would make large memories are left out.
 *
 *     TEXT */
#include "fuzz.h"
#include "tensordoor.h"

#include <stdbool.h>

enum { MAX_NUMBER = 4096, MAX_PRODUCT = 1 << 18, BYTES = 64 };

/* The memories of a map cost the product of their numbers; here it must stay small. Bases may be large. */
static bool is_small(const char *text)
{
    double product = 1;
    for (const char *at = text; *at; at++) {
        char *end = NULL;
        if (*at == '\n')
            product = 1;
        if (*at < '0' || *at > '9')
            continue;
        const unsigned long long number = strtoull(at, &end, 0);
        const bool base = at - text >= 5 && strncmp(at - 5, "base ", 5) == 0;
        product *= number > 1 && !base ? (double)number : 1;
        if (product > MAX_PRODUCT || (number > MAX_NUMBER && !base))
            return false;
        at = end > at ? end - 1 : at;
    }
    return true;
}

static void use(td_map *map)
{
    char *text = NULL;
    REQUIRE(td_map_text(map, &text) == TD_OK && text);
    td_free(text);
    for (size_t i = 0; i < td_map_count(map); i++) {
        td_map_entry e, found;
        unsigned char bytes[BYTES], back[BYTES];
        uint64_t word = 0, lsb = 0;
        REQUIRE(td_map_at(map, i, &e) == TD_OK && e.memory && e.array_count);
        REQUIRE(td_map_find(map, e.name, &found) == TD_OK && found.memory == e.memory);
        if (!e.addressed)
            continue;
        const size_t count = e.bytes < BYTES ? (size_t)e.bytes : BYTES;
        for (size_t b = 0; b < count; b++)
            bytes[b] = td_memory_width_bits(e.memory) % 8 ? 0 : (unsigned char)(17 * b + i);
        REQUIRE(td_map_locate(map, e.base + e.bytes - 1, &found, &word, &lsb) == TD_OK && found.memory == e.memory);
        REQUIRE(word == td_memory_depth_words(e.memory) - 1);
        const td_status status = td_map_write(map, e.base, bytes, count);
        REQUIRE(status == TD_OK || td_last_error()[0]);
        if (!status)
            REQUIRE(td_map_read(map, e.base, back, count) == TD_OK && memcmp(bytes, back, count) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    td_map *map = NULL;
    REQUIRE(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (is_small(text)) {
        if (td_map_create(text, NULL, 0, &map) == TD_OK)
            use(map);
        else
            REQUIRE(td_last_error()[0] && !map);
    }
    td_map_destroy(&map);
    free(text);
    return 0;
}
