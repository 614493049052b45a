/* Compiles the places of the lanes of a unit into the program that the kernels of kernels/pack_words.h run: elements
 * are cut where eight bytes of the unit end, and what one group of containers has in one chunk becomes one step. Called
 * by stage.c. Fails only for want of memory. */
#include "kernels/bits.h"
#include "plan/stage.h"

#include <stdlib.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where the kernels find the group and the chunk of a step. The last eight bytes of a unit may begin in the chunk
 * before its last. */
static void find_places(const td_word_code *code, td_word_step *step)
{
    const uint32_t total = code->lanes * code->size, left = total - 8 * step->group;
    step->elem_at = 8 * step->group;
    if (code->reversed) {
        step->elem_at = left >= 8 ? left - 8 : 0;
        step->elem_shift = (uint8_t)(left >= 8 ? 0 : 64 - 8 * left);
    }
    step->load_at = 8 * step->chunk;
    step->pull = step->put;
    if (code->bytes >= 8 && code->bytes < step->load_at + 8) {
        step->pull = step->put << (8 * (step->load_at + 8 - code->bytes));
        step->load_at = code->bytes - 8;
    }
}

static void begin_step(td_word_code *code, uint32_t group, uint32_t chunk)
{
    code->step[code->step_count++] = (td_word_step){.group = group, .chunk = chunk};
}

/* One step per group and chunk that have bits in common, and one for those that have none: parts come by both. */
static void make_steps(td_word_code *code)
{
    const uint32_t groups = (code->lanes * code->size + 7) / 8;
    uint32_t group = 0, chunk = 0;
    begin_step(code, 0, 0);
    for (uint32_t i = 0; i < code->part_count; i++) {
        const td_word_part *part = &code->part[i];
        const uint32_t byte = part->lane * code->size;
        while (group < byte / 8 || chunk < part->chunk) {
            group += group < byte / 8;
            chunk += chunk < part->chunk;
            begin_step(code, group, chunk);
        }
        td_word_step *step = &code->step[code->step_count - 1];
        step->take |= td_low_bits(part->bits) << (8 * (byte % 8) + part->elem_bit);
        step->put |= td_low_bits(part->bits) << part->shift;
    }
    while (group + 1 < groups || chunk + 1 < code->chunks) {
        group += group + 1 < groups;
        chunk += chunk + 1 < code->chunks;
        begin_step(code, group, chunk);
    }
    for (uint32_t i = 0; i < code->step_count; i++)
        find_places(code, &code->step[i]);
}

/* Lanes of equal steps in one chunk. */
static void find_even(td_word_code *code)
{
    const td_word_part *part = code->part;
    const unsigned slot = code->lanes > 1 && code->part_count > 1 ? (unsigned)(part[1].shift - part[0].shift) : 0;
    code->even = code->chunks == 1 && code->part_count == code->lanes;
    for (uint32_t i = 0; i < code->part_count && code->even; i++)
        code->even = part[i].bits == code->bits && part[i].shift == part[0].shift + i * slot;
    code->first_bit = code->part_count ? part[0].shift : 0;
    code->slot = (uint8_t)slot;
}

/* The bits that no lane has are kept, unless there are none but those that may be cleared. */
static td_status find_kept(td_word_code *code, const unsigned char *full, size_t full_bytes)
{
    uint64_t *keep = full ? calloc(code->chunks, sizeof *keep) : NULL;
    if (!full)
        return TD_OK;
    if (!keep)
        return td_fail_alloc(code->chunks * sizeof *keep);
    for (uint32_t i = 0; i < code->step_count; i++)
        keep[code->step[i].chunk] |= code->step[i].put;
    bool whole = true;
    for (uint32_t b = 0; b < code->bytes; b++)
        whole &= (unsigned char)(keep[b / 8] >> (8 * (b % 8))) == full[b % full_bytes];
    for (uint32_t i = 0; i < code->chunks; i++)
        keep[i] = ~keep[i];
    if (whole)
        free(keep);
    else
        code->keep = keep;
    return TD_OK;
}

/* The tables for vectors of 16 bytes from those for 64; the bytes of containers one by one. */
static void make_halves(const td_word_code *code, td_word_vectors *v)
{
    td_word_halves *h = &v->half;
    if (v->room > 16)
        return;
    h->units = (uint8_t)(16 / v->room);
    memset(h->bytes_of, 0x80, sizeof h->bytes_of);
    for (unsigned i = 0; i < 16; i++) {
        const unsigned unit = i / code->lanes, container = i % code->lanes,
                       lane = code->reversed ? code->lanes - 1 - container : container;
        const unsigned bit = code->first_bit + lane * code->slot, byte = unit * code->bytes + bit / 8;
        h->elem_of[i] = v->lane_mask >> i & 1 ? v->elem_of[i] : 0x80;
        h->room_of_word[i] = i < h->units * code->bytes ? v->room_of_word[i] : 0x80;
        if (unit >= h->units)
            continue;
        h->bytes_of[i / 8][2 * (i % 8)] = (uint8_t)byte;
        if (bit % 8 + code->bits > 8)
            h->bytes_of[i / 8][2 * (i % 8) + 1] = (uint8_t)(byte + 1);
        h->factor[i / 8][i % 8] = (uint16_t)(1u << (8 - bit % 8));
    }
}

/* Where the bytes of a vector of 64 come from and go to. Units that are not even, or of wider containers, have none. */
static td_status make_vectors(td_word_code *code)
{
    const unsigned lanes = code->lanes, bytes = code->bytes;
    if (!code->even || code->size != 1 || lanes > 64)
        return TD_OK;
    td_word_vectors *v = calloc(1, sizeof *v);
    if (!v)
        return td_fail_alloc(sizeof *v);
    unsigned room = 1;
    while (room < lanes || room < bytes)
        room *= 2;
    v->room = (uint8_t)room;
    v->units = (uint8_t)(64 / room);
    v->packs = code->slot <= 8;
    while (v->levels < 3 && 1u << v->levels < lanes)
        v->levels++;
    for (unsigned i = 0; i < 64; i++) {
        const unsigned unit = i / room, lane = i % room, container = code->reversed ? lanes - 1 - lane : lane;
        const unsigned byte =
            room < 8 ? lane : i % 8; /* where lanes take more than eight bytes, each eight have the word */
        if (lane < lanes) {
            v->lane_mask |= (uint64_t)1 << i;
            v->elem_of[i] = (uint8_t)(unit * lanes + container);
            v->room_of_elem[unit * lanes + container] = (uint8_t)i;
            v->bit_of[i] = (uint8_t)((code->first_bit + lane * code->slot + (room < 8 ? 8 * (i % 8 - lane) : 0)) % 64);
        }
        if (byte < bytes) {
            v->word_mask |= (uint64_t)1 << i;
            v->word_of[i] = (uint8_t)(unit * bytes + byte);
        }
        if (lane < bytes)
            v->room_of_word[unit * bytes + lane] = (uint8_t)i;
    }
    for (unsigned q = 0; q < 8; q++)
        v->shift[q] = code->first_bit + (room > 8 ? 8 * code->slot * (q % (room / 8)) : 0);
    for (unsigned i = 0; i < v->units * bytes && code->keep; i++)
        v->kept[i / 8] |= (code->keep[0] >> (8 * (i % bytes)) & 255) << (8 * (i % 8));
    make_halves(code, v);
    code->vectors = v;
    return TD_OK;
}

td_status td_word_code_make(const td_piece *place, size_t count, const unsigned char *full, size_t full_bytes,
                            td_word_code *code)
{
    code->part = calloc(2 * count + 1, sizeof *code->part); /* no piece is in more than two chunks */
    code->chunks = (code->bytes + 7) / 8;
    code->step = calloc(3 * count + code->chunks + 1, sizeof *code->step);
    if (!code->part || !code->step)
        return td_fail_alloc((2 * count + 1) * sizeof *code->part + (3 * count + 1) * sizeof *code->step);
    code->lanes = 0;
    for (size_t i = 0; i < count; i++) {
        code->lanes += place[i].elem_bit == 0;
        for (uint64_t done = 0; done < place[i].bits;) {
            const uint64_t bit = (uint64_t)place[i].memory + done;
            const td_word_part part = {.lane = code->lanes - 1,
                                       .chunk = (uint32_t)(bit / 64),
                                       .shift = (uint8_t)(bit % 64),
                                       .elem_bit = (uint8_t)(place[i].elem_bit + done),
                                       .bits = (uint8_t)least(64 - bit % 64, place[i].bits - done)};
            code->part[code->part_count++] = part;
            done += part.bits;
        }
    }
    make_steps(code);
    find_even(code);
    const td_status status = find_kept(code, full, full_bytes);
    return status ? status : make_vectors(code);
}

void td_word_code_free(td_word_code *code)
{
    free(code->part);
    free(code->step);
    free(code->keep);
    free(code->vectors);
    free(code->packs);
    free(code->unpacks);
    *code = (td_word_code){0};
}
