/* See packing.h. Which words of a packing go together; packing.c calls it behind its parser. Messages name the word
 * that is at fault, what the packing says and what would do. */
#include "parts/packing.h"

#include <inttypes.h>
#include <string.h>

static bool is_plain(td_dtype t, uint8_t kind)
{
    return t.kind == kind && !t.fixed;
}

static bool is_small_float(td_dtype t)
{
    return t.kind == TD_KIND_FLOAT && t.flavor == TD_FLAVOR_IEEE && t.bits <= 32;
}

/* Scales and minimums under super scales are integers; others are floats. */
static bool are_scales(const td_packing *k)
{
    if (!k->supers)
        return is_small_float(k->scale) && (!k->mins || td_dtype_equal(k->min, k->scale));
    return k->scale.kind != TD_KIND_FLOAT && k->scale.bits <= 16 && is_small_float(k->super) &&
           (!k->mins || (k->min.kind != TD_KIND_FLOAT && k->min.bits <= 16));
}

static td_status check_ggml(const td_packing *k, const char *text)
{
    char elem[TD_DTYPE_NAME_BYTES], scale[TD_DTYPE_NAME_BYTES];
    td_dtype_print(k->elem, elem);
    td_dtype_print(k->scale, scale);
    const bool ints = is_plain(k->elem, k->mins ? TD_KIND_UINT : TD_KIND_INT) && k->elem.bits <= 8 && are_scales(k),
               floats = strcmp(elem, "e2m1") == 0 && (strcmp(scale, "e8m0") == 0 || strcmp(scale, "e4m3") == 0) &&
                        !k->mins && !k->supers;
    if ((!ints && !floats) || k->zeros)
        return td_fail(TD_OPTION,
                       "rule=ggml in packing \"%s\" has signed integers of up to 8 bits, or unsigned ones with min=, "
                       "and float scales (with super= integer ones), or elem=e2m1 with scale=e8m0 or scale=e4m3; it "
                       "says elem=%s scale=%s",
                       text, elem, scale);
    if (k->axis_count != 1 || k->block[0] == TD_BLOCK_ALL || k->block[0] > 1024)
        return td_fail(TD_OPTION, "rule=ggml in packing \"%s\" needs one axis and a block of 1 to 1024 elements", text);
    if (k->supers && (k->super_block == 0 || k->super_block % k->block[0]))
        return td_fail(TD_OPTION,
                       "super= in packing \"%s\" spans %" PRIu64 " elements, which is no multiple of "
                       "block=%" PRIu64,
                       text, k->super_block, k->block[0]);
    return TD_OK;
}

static bool is_float(td_dtype t, uint8_t flavor)
{
    return t.kind == TD_KIND_FLOAT && t.flavor == flavor;
}

static td_status check_dtypes(const td_packing *k, const char *text)
{
    char elem[TD_DTYPE_NAME_BYTES], scale[TD_DTYPE_NAME_BYTES];
    td_dtype_print(k->elem, elem);
    td_dtype_print(k->scale, scale);
    if (k->rule == TD_RULE_GGML)
        return check_ggml(k, text);
    if (k->mins || k->supers)
        return td_fail(TD_OPTION, "%s= in packing \"%s\" needs rule=ggml, and it says rule=%s; leave it out",
                       k->mins ? "min" : "super", text, td_packing_rule(k));
    const bool powers = k->rule <= TD_RULE_NEAREST, is_e8m0 = is_float(k->scale, TD_FLAVOR_SCALE),
               counts = k->rule == TD_RULE_GPTQ || k->rule == TD_RULE_AWQ;
    if (powers && !is_e8m0)
        return td_fail(TD_OPTION,
                       "rule=%s in packing \"%s\" makes powers of two, and scale=%s is no e8m0; pass scale=e8m0, or "
                       "rule=absmax",
                       td_packing_rule(k), text, scale);
    if (k->rule == TD_RULE_SHARED) {
        if (k->elem.kind == TD_KIND_UINT && !k->elem.fixed && k->elem.bits >= 2 && k->elem.bits <= 24 &&
            k->scale.kind == TD_KIND_UINT && !k->scale.fixed && k->scale.bits == 8)
            return TD_OK;
        return td_fail(TD_OPTION,
                       "rule=shared in packing \"%s\" has elements of a sign and a magnitude, as u2 to u24, and "
                       "exponents, as u8; it says elem=%s scale=%s",
                       text, elem, scale);
    }
    if (!powers && (k->scale.kind != TD_KIND_FLOAT || is_e8m0 || k->scale.bits > 32))
        return td_fail(TD_OPTION,
                       "rule=%s in packing \"%s\" needs scales that are floats of up to 32 bits with a mantissa; it "
                       "says scale=%s",
                       td_packing_rule(k), text, scale);
    if ((k->rule == TD_RULE_TE || k->rule == TD_RULE_TORCHAO) && k->scale.bits > 8)
        return td_fail(TD_OPTION, "rule=%s in packing \"%s\" needs scales of 8 bits, like e4m3; it says scale=%s",
                       td_packing_rule(k), text, scale);
    if (k->elem.bits > 16 || k->elem.exp_bits > 5 || (k->elem.kind == TD_KIND_UINT && !k->zeros))
        return td_fail(
            TD_OPTION,
            "elem=%s in packing \"%s\": elements have a sign, at most 16 bits and at most 5 of them exponent, "
            "or are unsigned with zero points (zero=%s)",
            elem, text, elem);
    if (counts != k->zeros)
        return td_fail(TD_OPTION, "rule=%s in packing \"%s\" %s", td_packing_rule(k), text,
                       counts ? "makes zero points; add zero= with their dtype"
                              : "makes no zero points; leave zero= out, or pass rule=gptq or rule=awq");
    if (k->zeros && (k->elem.kind != TD_KIND_UINT || k->elem.fixed || k->zero.kind != TD_KIND_UINT || k->zero.fixed ||
                     k->zero.bits < k->elem.bits || k->zero.bits > 32))
        return td_fail(TD_OPTION,
                       "zero points in packing \"%s\" need unsigned elements of up to 16 bits and an unsigned dtype at "
                       "least as wide; pass something like elem=u4 zero=u4",
                       text);
    return TD_OK;
}

/* Words that single libraries are known by. */
static td_status check_details(const td_packing *k, const char *text)
{
    char elem[TD_DTYPE_NAME_BYTES];
    td_dtype_print(k->elem, elem);
    if ((k->map || k->scale_max != 0) && k->rule != TD_RULE_TE)
        return td_fail(TD_OPTION, "%s= in packing \"%s\" needs rule=te, and it says rule=%s; leave it out",
                       k->map ? "map" : "scale_max", text, td_packing_rule(k));
    if (k->map && strcmp(elem, "e2m1") != 0)
        return td_fail(TD_OPTION, "map= in packing \"%s\" maps to 4 or 6, and needs elem=e2m1; it says elem=%s", text,
                       elem);
    if (k->map && (k->axis_count > 2 || (k->axis_count == 2 && (k->block[0] > 16 || k->block[0] == TD_BLOCK_ALL))))
        return td_fail(
            TD_OPTION,
            "map= in packing \"%s\" adds up errors of one row, or of 16 at most; pass a block like block=16 or "
            "axis=0,1 block=16x16",
            text);
    if (k->scale_max != 0 && k->scale_max > (float)td_dtype_to_real(k->scale, td_dtype_max_bits(k->scale)))
        return td_fail(TD_OPTION, "scale_max=%.9g in packing \"%s\" is more than scales hold; pass one up to %.9g",
                       (double)k->scale_max, text, td_dtype_to_real(k->scale, td_dtype_max_bits(k->scale)));
    if (k->empty_is_normal && k->rule > TD_RULE_NEAREST)
        return td_fail(TD_OPTION,
                       "empty=normal in packing \"%s\" needs a rule that makes powers of two, and it says rule=%s",
                       text, td_packing_rule(k));
    if (k->void_is_zero && (k->rule == TD_RULE_SHARED || k->rule == TD_RULE_GGML))
        return td_fail(TD_OPTION, "void=zero in packing \"%s\" needs scales that may be NaN, and rule=%s makes none",
                       text, td_packing_rule(k));
    return TD_OK;
}

td_status td_packing_check(const td_packing *k, const char *text)
{
    size_t blocks = 0;
    while (blocks < TD_MAX_RANK && k->block[blocks] != UINT64_MAX)
        blocks++;
    if (blocks != k->axis_count)
        return td_fail(TD_OPTION,
                       "packing \"%s\" has %zu axes and %zu block sizes; pass one for each, like axis=0,1 block=16x16",
                       text, k->axis_count, blocks);
    if (k->global != TD_GLOBAL_NONE && k->rule != TD_RULE_TE && k->rule != TD_RULE_TORCHAO)
        return td_fail(TD_OPTION, "global= in packing \"%s\" needs rule=te or rule=torchao, and it says rule=%s", text,
                       td_packing_rule(k));
    if (k->symmetric && k->elem.kind != TD_KIND_INT)
        return td_fail(TD_OPTION, "low=symmetric in packing \"%s\" needs signed integers or fixed point; leave it out",
                       text);
    if (k->exact_codes && (k->rule < TD_RULE_ABSMAX || k->rule == TD_RULE_GGML))
        return td_fail(TD_OPTION,
                       "codes=exact in packing \"%s\" needs rule=absmax, rule=gptq or rule=awq, and it says rule=%s",
                       text, td_packing_rule(k));
    const td_status status = check_details(k, text);
    return status ? status : check_dtypes(k, text);
}
