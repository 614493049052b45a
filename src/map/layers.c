/* What lies between the words that a user sees and those that are stored: a code, and a codec of the user's. The order
 * is fixed: the codec is over the organisation, the code over the codec. build.c calls it. Refuses widths that do not
 * go together, before anything is made. */
#include "map/map.h"

#include "codes/code.h"

#include <inttypes.h>
#include <string.h>

static td_status read_check(const td_map_source *source, td_map_layers *out)
{
    const char *text = source->text[TD_MAP_CHECK];
    if (text && strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        return td_fail(TD_FORMAT, "\"check %s\" of %s; write on or off", text, source->name);
    out->check = text && strcmp(text, "off") == 0 ? "check=off" : NULL;
    return TD_OK;
}

/* A word of zeros is its own coded word. */
static bool zero_is_coded(const td_code *code)
{
    bool constant = code->constant_check != 0;
    for (size_t i = 0; i < TD_CODE_MASK_WORDS; i++)
        constant |= code->constant.bits[i] != 0;
    return !constant && !code->address_bits;
}

td_status td_map_read_layers(const td_map_source *source, uint64_t width_bits, td_map_layers *out,
                             td_map_clause *failed)
{
    *out = (td_map_layers){.coded_bits = width_bits};
    *failed = TD_MAP_CHECK;
    td_status status = read_check(source, out);
    if (!status && source->text[TD_MAP_CODE]) {
        *failed = TD_MAP_CODE;
        status = td_code_create(source->text[TD_MAP_CODE], width_bits, &out->code);
        out->coded_bits = status ? 0 : td_code_coded_bits(out->code);
    }
    if (!status && source->text[TD_MAP_CODEC]) {
        *failed = TD_MAP_CODEC;
        status = td_codec_open(source->text[TD_MAP_CODEC], &out->codec);
    }
    if (!status && out->codec && out->codec->word_bits && out->codec->word_bits != out->coded_bits)
        status = td_fail(TD_FORMAT,
                         "the codec of %s is for words of %" PRIu64 " bits, those above it have %" PRIu64
                         "; take another codec, or another width",
                         source->name, out->codec->word_bits, out->coded_bits);
    out->stored_bits = out->coded_bits;
    out->zero_is_zero = !out->codec && (!out->code || zero_is_coded(out->code));
    if (!status && source->text[TD_MAP_STORED]) {
        td_map_reader r = td_map_read_clause(source, TD_MAP_STORED);
        *failed = TD_MAP_STORED;
        status = td_map_read_number(&r, "number of bits", &out->stored_bits);
        if (!status)
            status = td_map_read_end(&r, "the number of bits");
        if (!status)
            status = td_memory_check_geometry(out->stored_bits, 1);
    }
    return status;
}

td_status td_map_add_layers(td_map_node *node, const td_map_layers *layers, td_map_clause *failed)
{
    td_memory *memory = NULL;
    td_status status = TD_OK;
    if (layers->codec) {
        *failed = TD_MAP_CODEC;
        status = td_memory_through(node->name, layers->codec, node->memory, &memory);
        if (!status)
            node->memory = node->layer[node->layer_count++] = memory;
    }
    node->raw = node->memory;
    if (!status && layers->code) {
        *failed = TD_MAP_CODE;
        status = td_memory_coded(node->name, layers->code, node->memory, layers->check, &memory);
        if (!status)
            node->memory = node->layer[node->layer_count++] = memory;
    }
    return status;
}
