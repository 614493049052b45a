/* The macros of a case as arrays that lie elsewhere: w->array are copies then, w->far has the words, and every call
 * goes in the steps of tensordoor_bridge.h with chunks of a random length. Before each call the copies hold random
 * bits, so that a word which has not crossed is wrong afterwards. */
#include "layers.h"

#include "tensordoor_bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHUNK 300

static size_t far_bytes(const world *w, uint64_t macro)
{
    return (size_t)(w->o.rows * td_memory_word_bytes(w->array[macro]));
}

bool layers_go_far(world *w, random_state *r)
{
    const size_t per = (td_memory_word_bytes(w->array[0]) + 3) / 4, least = TD_TRANSFER_HEAD + 1 + per;
    w->chunk_words = random_chance(r, 30) ? least : least + random_below(r, MOST_CHUNK - least);
    for (uint64_t m = 0; m < w->o.t * w->o.s; m++) {
        w->far[m] = malloc(far_bytes(w, m));
        if (!w->far[m])
            return false;
        memcpy(w->far[m], td_memory_data(w->array[m]), far_bytes(w, m));
    }
    return true;
}

static void spoil(world *w)
{
    char fill[40];
    for (uint64_t m = 0; m < w->o.t * w->o.s; m++) {
        snprintf(fill, sizeof fill, "random seed=%llu", (unsigned long long)(1 + w->spoiled % 1000));
        (void)td_memory_fill(w->array[m], fill, 0, w->o.rows);
    }
    w->spoiled++;
}

static void visit(world *w, uint64_t macro, uint32_t *chunk, size_t runs, bool write)
{
    const size_t bytes = td_memory_word_bytes(w->array[macro]), per = (bytes + 3) / 4;
    for (; runs; runs--) {
        uint32_t at = chunk[0], count = chunk[1], step = chunk[2];
        chunk += TD_TRANSFER_HEAD;
        for (; count; count--, at += step, chunk += per) {
            at = step ? at : *chunk++;
            unsigned char *word = w->far[macro] + at * bytes;
            if (write) {
                memcpy(word, chunk, bytes);
            } else {
                memset(chunk, 0, 4 * per);
                memcpy(chunk, word, bytes);
            }
        }
    }
}

static void bring_in(world *w)
{
    uint32_t chunk[MOST_CHUNK];
    size_t runs = 0;
    for (uint64_t m = 0; m < w->o.t * w->o.s; m++)
        while ((runs = td_transfer_in(w->array[m], chunk, w->chunk_words)) > 0)
            visit(w, m, chunk, runs, false);
}

static void take_out(world *w)
{
    uint32_t chunk[MOST_CHUNK];
    size_t runs = 0;
    int unknown = 0;
    for (uint64_t m = 0; m < w->o.t * w->o.s; m++)
        while ((runs = td_transfer_out(w->array[m], chunk, w->chunk_words, &unknown)) > 0)
            visit(w, m, chunk, runs, true);
}

td_status layers_read(world *w, const uint64_t *address, size_t count, void *words)
{
    if (!w->is_far)
        return td_backdoor_read(w->top, address, count, words);
    spoil(w);
    td_status status = td_transfer_words(w->top, address, count);
    if (status)
        return status;
    bring_in(w);
    return td_backdoor_read(w->top, address, count, words);
}

td_status layers_write(world *w, const uint64_t *address, size_t count, const void *words, const void *masks)
{
    if (!w->is_far)
        return td_backdoor_write(w->top, address, count, words, masks);
    spoil(w);
    td_status status = td_transfer_words(w->top, address, count);
    if (status)
        return status;
    if (masks || td_transfer_shared(w->top))
        bring_in(w);
    status = td_backdoor_write(w->top, address, count, words, masks);
    if (!status)
        take_out(w);
    return status;
}

td_status layers_load(world *w, const td_tensor *tensor, const td_layout *layout)
{
    int partial = 0, borrowed = 0;
    if (!w->is_far)
        return td_backdoor_load_tensor(w->top, tensor, layout, NULL);
    spoil(w);
    td_status status = td_transfer_tensor(w->top, tensor, layout, NULL, TD_TRANSFER_LOAD, &partial, &borrowed);
    if (status)
        return status;
    if (partial)
        bring_in(w);
    status = td_transfer_load(w->top, tensor, layout, NULL);
    if (!status)
        take_out(w);
    return status;
}

td_status layers_dump(world *w, td_tensor *tensor, const td_layout *layout)
{
    int partial = 0, borrowed = 0;
    if (!w->is_far)
        return td_backdoor_dump_tensor(w->top, tensor, layout, NULL);
    spoil(w);
    const td_transfer_use use = w->spoiled % 2 ? TD_TRANSFER_DUMP_KNOWN : TD_TRANSFER_DUMP;
    td_status status = td_transfer_tensor(w->top, tensor, layout, NULL, use, &partial, &borrowed);
    if (status)
        return status;
    bring_in(w);
    return td_transfer_dump(w->top, tensor, layout, NULL);
}

td_status layers_compare(world *w, const td_tensor *golden, const td_layout *layout, td_report **report)
{
    int partial = 0;
    td_status status = TD_OK;
    if (w->is_far) {
        spoil(w);
        status = td_transfer_layout(&w->top, 1, golden, layout, NULL, &partial);
        if (status)
            return status;
        bring_in(w);
    }
    return td_backdoor_compare_tensor(w->top, golden, layout, NULL, NULL, report);
}

bool layers_begin_change(world *w)
{
    if (!w->is_far)
        return true;
    spoil(w);
    if (td_transfer_all(&w->top, 1))
        return false;
    bring_in(w);
    return true;
}

void layers_end_change(world *w)
{
    if (w->is_far)
        take_out(w);
}

const unsigned char *layers_row(const world *w, uint64_t macro, uint64_t row)
{
    const unsigned char *words = w->is_far ? w->far[macro] : td_memory_data(w->array[macro]);
    return words + row * td_memory_word_bytes(w->array[macro]);
}

void layers_flip_stored(world *w, uint64_t macro, uint64_t row, uint64_t bit)
{
    unsigned char *word = w->far[macro] + row * td_memory_word_bytes(w->array[macro]);
    word[bit / 8] ^= (unsigned char)(1u << bit % 8);
}
