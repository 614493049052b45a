/* The code object: its life, and what it says of itself. A text is read (text.c), becomes columns (columns.c) and then
 * the maps that words go through (map.c). It refuses words that the code's subwords do not divide. */
#include "codes/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of bits of a word that the subwords fill, next to what was asked for. */
static td_status check_width(const td_code_spec *spec, uint64_t data_bits)
{
    const uint64_t k = spec->subword_bits;
    if (data_bits % k == 0)
        return TD_OK;
    const uint64_t below = data_bits / k * k, above = below + k;
    if (below)
        return td_fail(TD_OPTION,
                       "%" PRIu64 " data bits are no whole subwords of %" PRIu64 "; pass %" PRIu64 " or %" PRIu64
                       " bits, or hsiao subword=N with an N that divides %" PRIu64,
                       data_bits, k, below, above, data_bits);
    return td_fail(TD_OPTION,
                   "%" PRIu64 " data bits are less than a subword of %" PRIu64 "; pass %" PRIu64
                   " bits, or hsiao, which has any width",
                   data_bits, k, above);
}

static td_status check_constant(td_code *code, const td_code_spec *spec)
{
    const uint32_t bits = code->subword_bits + code->check_bits;
    for (uint32_t bit = bits; bit < 64 * TD_CODE_MASK_WORDS; bit++)
        if (td_code_mask_bit(&spec->constant, bit))
            return td_fail(TD_OPTION,
                           "xor= has bit %" PRIu32 " set, and a coded subword has %" PRIu32 " bits, %" PRIu32
                           " of data and %" PRIu32 " check bits above them; clear the bits from %" PRIu32 " up",
                           bit, bits, code->subword_bits, code->check_bits, bits);
    for (uint32_t i = 0; i < code->subword_bits; i++)
        code->constant.bits[i / 64] |= (uint64_t)td_code_mask_bit(&spec->constant, i) << i % 64;
    for (uint32_t j = 0; j < code->check_bits; j++) {
        const uint32_t inverted = spec->odd || (spec->inverted && j % 2 == 1);
        code->constant_check |= (inverted ^ td_code_mask_bit(&spec->constant, code->subword_bits + j)) << j;
    }
    return TD_OK;
}

static td_status fill_code(td_code *code, td_code_spec *spec, uint64_t data_bits)
{
    if (spec->subword_bits == 0)
        spec->subword_bits = data_bits;
    if (spec->subword_bits + spec->address_bits > TD_CODE_COVERED_BITS)
        return td_fail(TD_OPTION,
                       "a subword of %" PRIu64 " data and %" PRIu64 " address bits; a code covers up to %d: pass "
                       "subword= with a divisor of %" PRIu64,
                       spec->subword_bits, spec->address_bits, TD_CODE_COVERED_BITS, data_bits);
    td_status status = check_width(spec, data_bits);
    if (status)
        return status;
    code->data_bits = data_bits;
    code->subword_bits = (uint32_t)spec->subword_bits;
    code->address_bits = (uint32_t)spec->address_bits;
    status = td_code_columns(code, spec);
    if (status)
        return status;
    const uint64_t subwords = data_bits / code->subword_bits;
    code->coded_bits = data_bits + subwords * code->check_bits;
    if (code->coded_bits > TD_CODE_CODED_BITS)
        return td_fail(TD_RANGE, "a coded word of %" PRIu64 " bits; coded words have up to %d: pass fewer data bits",
                       code->coded_bits, TD_CODE_CODED_BITS);
    code->subwords = (uint32_t)subwords;
    code->place = subwords == 1 && spec->place == TD_PLACE_INTERLEAVED ? TD_PLACE_ABOVE : spec->place;
    status = check_constant(code, spec);
    if (!status)
        status = td_code_maps(code);
    if (!status && !(code->text = td_code_spec_print(spec, code)))
        status = td_fail_alloc(TD_MESSAGE_BYTES);
    return status;
}

td_status td_code_create(const char *text, uint64_t data_bits, td_code **out)
{
    if (!text || !out)
        return td_fail(TD_ARGUMENT, "code_create: %s is NULL; pass %s", text ? "out" : "the text",
                       text ? "the address of a td_code pointer" : "a code, such as \"39_32\"");
    if (data_bits < 1 || data_bits > TD_CODE_CODED_BITS)
        return td_fail(TD_ARGUMENT, "code_create \"%.60s\": %" PRIu64 " data bits; a word has 1 to %d", text, data_bits,
                       TD_CODE_CODED_BITS);
    td_code_spec spec;
    td_status status = td_code_spec_read(text, &spec);
    td_code *code = status ? NULL : calloc(1, sizeof *code);
    if (code) {
        code->users = 1;
        status = fill_code(code, &spec, data_bits);
    } else if (!status)
        status = td_fail_alloc(sizeof *code);
    td_code_spec_free(&spec);
    if (status) {
        td_code_destroy(&code);
        td_fail_prefix("code_create \"%.60s\": ", text);
        return status;
    }
    *out = code;
    return TD_OK;
}

td_code *td_code_hold(const td_code *code)
{
    td_code *held = (td_code *)code; /* the count is the one member that changes */
    __atomic_add_fetch(&held->users, 1, __ATOMIC_RELAXED);
    return held;
}

void td_code_destroy(td_code **code)
{
    if (!code || !*code)
        return;
    if (__atomic_sub_fetch(&(*code)->users, 1, __ATOMIC_ACQ_REL)) {
        *code = NULL;
        return;
    }
    td_code_map_free(&(*code)->encode);
    td_code_map_free(&(*code)->check);
    free((*code)->column);
    free((*code)->by_column);
    free((*code)->text);
    free(*code);
    *code = NULL;
}

const char *td_code_text(const td_code *code)
{
    return code ? code->text : "";
}

uint64_t td_code_data_bits(const td_code *code)
{
    return code ? code->data_bits : 0;
}

uint64_t td_code_coded_bits(const td_code *code)
{
    return code ? code->coded_bits : 0;
}

uint64_t td_code_subwords(const td_code *code)
{
    return code ? code->subwords : 0;
}

uint64_t td_code_check_bits(const td_code *code)
{
    return code ? code->check_bits : 0;
}

unsigned td_code_distance(const td_code *code)
{
    return code ? code->distance : 0;
}

int td_code_corrects(const td_code *code)
{
    return code && code->corrects;
}

td_code_bit td_code_locate(const td_code *code, uint64_t coded_bit)
{
    td_code_bit found = {0};
    if (!code || coded_bit >= code->coded_bits)
        return found;
    uint32_t subword = 0;
    const uint32_t bit = td_code_bit_of(code, coded_bit, &subword);
    found.subword = subword;
    found.is_check = bit >= code->subword_bits;
    found.bit = found.is_check ? bit - code->subword_bits : (uint64_t)subword * code->subword_bits + bit;
    return found;
}
