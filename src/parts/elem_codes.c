/* See elem_codes.h. */
#include "parts/elem_codes.h"

#include "parts/scale.h"

#include <string.h>

/* What the kernels have to know of the dtype. */
static void describe(td_dtype t, td_quant *q)
{
    q->bits = t.bits;
    q->high = (int32_t)td_dtype_max_bits(t);
    if (t.kind == TD_KIND_FLOAT) {
        const float least = (float)td_dtype_to_real(t, (uint64_t)1 << t.man_bits),
                    most = (float)td_dtype_to_real(t, td_dtype_max_bits(t));
        q->form = t.man_bits && t.exp_bits ? TD_QUANT_FLOAT : TD_QUANT_TABLE;
        q->finite = (uint32_t)td_dtype_max_bits(t);
        q->man_bits = t.man_bits;
        memcpy(&q->least_bits, &least, sizeof least);
        memcpy(&q->most_bits, &most, sizeof most);
        return;
    }
    q->form = TD_QUANT_INT;
    q->unit = (float)td_dtype_to_real(t, 1);
    q->low = t.kind == TD_KIND_UINT ? 0 : -q->high - 1;
}

bool td_codes_find(const td_packing *k, bool back, td_quant *q)
{
    const td_dtype t = k->elem;
    const bool is_float = t.kind == TD_KIND_FLOAT;
    if (t.bytes != 1 || k->rule == TD_RULE_SHARED || (is_float && t.flavor == TD_FLAVOR_SCALE))
        return false;
    describe(t, q);
    if (back)
        return true;
    if (k->rule == TD_RULE_GGML || k->round != TD_ROUND_EVEN)
        return false;
    q->divides = td_scaler_divides(k);
    q->powers = k->rule <= TD_RULE_NEAREST;
    if (is_float) {
        return (t.bits == 4 && t.man_bits == 1) || (t.bits == 6 && t.man_bits >= 2 && t.man_bits <= 3) ||
               (t.bits == 8 && t.man_bits >= 2 && t.man_bits <= 3);
    }
    q->low += k->symmetric && t.kind == TD_KIND_INT;
    return t.frac_bits == 0 && q->divides;
}

void td_codes_values(const td_convert *elems, td_quant *q)
{
    unsigned char codes[256];
    for (size_t i = 0; i < 256; i++)
        codes[i] = (unsigned char)i;
    td_convert_run(elems, q->table, codes, 256, 0, 1);
    for (size_t i = 0; i < 256; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &q->table[i], sizeof bits);
        q->half[0][i] = (unsigned char)(bits >> 16);
        q->half[1][i] = (unsigned char)(bits >> 24);
    }
}

bool td_codes_scales(td_dtype scale, const td_convert *decode, td_quant *q)
{
    if (scale.bits != 8)
        return false;
    describe(scale, q);
    if (scale.kind == TD_KIND_FLOAT && scale.flavor == TD_FLAVOR_SCALE)
        q->form = TD_QUANT_TABLE;
    q->extra = 1;
    td_codes_values(decode, q);
    return true;
}
