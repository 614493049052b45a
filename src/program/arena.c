/* Memory of many small things that are freed together: the forms of a text, the ops of a graph. parse.c and elaborate.c
 * take from it. It refuses nothing but what the system refuses. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)16 << 10)

struct td_arena_block {
    struct td_arena_block *next;
    size_t room;
    _Alignas(16) unsigned char bytes[];
};

void *td_arena_get(td_arena *arena, size_t bytes)
{
    const size_t needed = (bytes + 15) / 16 * 16;
    if (!arena->block || arena->block->room - arena->used < needed) {
        const size_t room = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
        struct td_arena_block *block = malloc(sizeof *block + room);
        if (!block) {
            td_fail_alloc(sizeof *block + room);
            return NULL;
        }
        block->next = arena->block;
        block->room = room;
        arena->block = block;
        arena->used = 0;
    }
    unsigned char *at = arena->block->bytes + arena->used;
    arena->used += needed;
    return memset(at, 0, needed);
}

char *td_arena_copy(td_arena *arena, const char *text, size_t length)
{
    char *copy = td_arena_get(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void td_arena_free(td_arena *arena)
{
    while (arena->block) {
        struct td_arena_block *next = arena->block->next;
        free(arena->block);
        arena->block = next;
    }
    arena->used = 0;
}
