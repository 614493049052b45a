/* From the rows of a map of codes to a step (kernels/code.h): which words, sums and terms share a vector. Called once
 * for a map by codes/map.c; a map without such a form is refused, and goes through planes. */
#include "kernels/code.h"

#include <string.h>

#define VECTOR 64
#define MOST_BYTES (VECTOR * TD_CODE_STEP_VECTORS)
#define NONE UINT32_MAX

/* What the bytes of a destination word are: a byte of the source or a sum, else zero. The syndromes are sums too. */
typedef struct parts {
    uint32_t copy[MOST_BYTES], sum[MOST_BYTES];
    const td_code_row *row[VECTOR]; /* of each sum */
    uint32_t sums, terms;           /* terms: of the longest sum */
} parts;

static bool add_sum(const td_code_map *map, const td_code_row *row, parts *p)
{
    for (uint32_t t = 0; t < row->terms; t++)
        if (map->term[row->first_term + t].src >= map->address)
            return false;
    if (p->sums == VECTOR)
        return false;
    p->row[p->sums++] = row;
    p->terms = row->terms > p->terms ? row->terms : p->terms;
    return true;
}

static bool find_parts(const td_code_map *map, parts *p)
{
    p->sums = p->terms = 0;
    if (map->src_bytes > MOST_BYTES || map->dst_bytes > MOST_BYTES || map->early_count || map->late_count ||
        map->rows_in_middle)
        return false;
    memset(p->copy, 0xff, sizeof p->copy);
    memset(p->sum, 0xff, sizeof p->sum);
    for (uint32_t i = 0; i < map->copy_count; i++)
        for (uint32_t k = 0; k < 4; k++)
            p->copy[4 * map->copy[i].dst + k] = 4 * map->copy[i].src + k;
    for (uint32_t r = 0; r < map->row_count; r++) {
        const td_code_row *row = &map->row[r];
        const td_code_term *term = &map->term[row->first_term];
        if (row->terms == 1 && term->identity && !row->constant && term->src < map->address)
            p->copy[row->dst] = term->src;
        else if (row->terms || row->constant) {
            p->sum[row->dst] = p->sums;
            if (!add_sum(map, row, p))
                return false;
        }
    }
    for (uint32_t i = 0; i < map->syndrome_count; i++)
        if (!add_sum(map, &map->row[map->row_count + i], p))
            return false;
    return p->sums && p->terms;
}

static void pick_byte(td_code_pick *pick, uint32_t lane, uint32_t vector, uint32_t byte)
{
    pick->at[lane] = (unsigned char)(byte % VECTOR);
    pick->of[vector] |= (uint64_t)1 << lane;
}

/* Term t of a sum for all words, `planes` terms of it in a vector. False where eight lanes would need two matrices. */
static bool put_term(const td_code_map *map, const parts *p, uint32_t sum, uint32_t t, uint32_t planes,
                     uint32_t (*owner)[8], td_code_step *step)
{
    const td_code_row *row = p->row[sum];
    const td_code_term *term = t < row->terms ? &map->term[row->first_term + t] : NULL;
    const uint64_t affine = term ? term->affine : 0;
    td_code_step_term *to = &step->term[t / planes];
    for (uint32_t w = 0; w < step->words; w++) {
        const uint32_t lane = t % planes * (VECTOR / planes) + sum * step->words + w;
        if (owner[t / planes][lane / 8] && to->affine[lane / 8] != affine)
            return false;
        owner[t / planes][lane / 8] = 1;
        to->affine[lane / 8] = affine;
        if (term) {
            const uint32_t byte = w * (uint32_t)map->src_bytes + term->src;
            pick_byte(&to->pick, lane, byte / VECTOR, byte);
        }
    }
    return true;
}

static void put_out(const td_code_map *map, const parts *p, td_code_step *step)
{
    const uint32_t bytes = step->words * (uint32_t)map->dst_bytes, rest = bytes % VECTOR;
    step->last = rest ? ((uint64_t)1 << rest) - 1 : UINT64_MAX;
    for (uint32_t at = 0; at < bytes; at++) {
        const uint32_t w = at / (uint32_t)map->dst_bytes, byte = at % (uint32_t)map->dst_bytes;
        td_code_pick *pick = &step->out[at / VECTOR];
        if (p->copy[byte] != NONE) {
            const uint32_t src = w * (uint32_t)map->src_bytes + p->copy[byte];
            pick_byte(pick, at % VECTOR, src / VECTOR, src);
        } else if (p->sum[byte] != NONE) {
            pick_byte(pick, at % VECTOR, TD_CODE_STEP_VECTORS, p->sum[byte] * step->words + w);
            step->writes_sums = true;
        }
    }
}

/* Shuffles and the masks that most of them need, of which a processor does one at a time, and what a step takes beside
 * them: with more than three vectors the picks do not stay in registers. */
static uint32_t cost_of(const td_code_step *step)
{
    const uint32_t reads = step->terms * (2 * step->src_vectors - 1) + step->folds;
    const uint32_t writes = step->dst_vectors * 2 * (step->src_vectors + (step->writes_sums ? 1 : 0));
    const uint32_t others = step->src_vectors + step->dst_vectors > 3 ? 8 : 2;
    return (reads + writes + others) * TD_CODE_BLOCK / step->words;
}

/* A step of `words` words; false where there is none with `planes` terms in a vector. */
static bool try_step(const td_code_map *map, const parts *p, uint32_t planes, uint32_t words, td_code_step *step)
{
    uint32_t owner[TD_CODE_STEP_TERMS][8] = {{0}};
    memset(step, 0, sizeof *step);
    step->words = words;
    step->terms = (p->terms + planes - 1) / planes;
    if (!words || step->terms > TD_CODE_STEP_TERMS)
        return false;
    for (uint32_t left = planes; left > 1; left /= 2)
        step->folds++;
    step->src_vectors = (words * (uint32_t)map->src_bytes + VECTOR - 1) / VECTOR;
    step->dst_vectors = (words * (uint32_t)map->dst_bytes + VECTOR - 1) / VECTOR;
    for (uint32_t sum = 0; sum < p->sums; sum++) {
        for (uint32_t t = 0; t < step->terms * planes; t++)
            if (!put_term(map, p, sum, t, planes, owner, step))
                return false;
        memset(step->constant + (size_t)sum * words, p->row[sum]->constant, words);
        memset(step->syndrome + (size_t)sum * words, p->row[sum]->dst == TD_CODE_SYNDROME ? 0xff : 0, words);
    }
    put_out(map, p, step);
    step->cost = cost_of(step);
    return true;
}

bool td_code_step_make(const td_code_map *map, td_code_step *out)
{
    const size_t widest = map->src_bytes > map->dst_bytes ? map->src_bytes : map->dst_bytes;
    parts p;
    td_code_step step;
    out->words = 0;
    if (!find_parts(map, &p))
        return false;
    for (uint32_t planes = 1; planes <= 8; planes *= 2) {
        const uint32_t lanes = VECTOR / planes / p.sums, room = (uint32_t)(MOST_BYTES / widest);
        const uint32_t most = lanes < room ? lanes : room, eights = most / 8 * 8;
        /* Sums that differ do not share eight lanes where words go by eight. */
        for (uint32_t words = most; words; words = words > eights ? eights : 0)
            if (try_step(map, &p, planes, words, &step) && (!out->words || step.cost < out->cost))
                *out = step;
    }
    return out->words;
}
