/* See file_name.h. One table of formats, one of extensions, one of options: everything that a name may say stands here
 * and nowhere else. It touches no file. It refuses extensions and options that no row has, and says which rows there
 * are. */
#include "files/file_name.h"
#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BIT(format) (1u << (format))
#define READMEM (BIT(TD_FILE_READMEMH) | BIT(TD_FILE_READMEMB))
#define TENSORS (BIT(TD_FILE_NPY) | BIT(TD_FILE_NPZ) | BIT(TD_FILE_SAFETENSORS) | BIT(TD_FILE_GGUF) | BIT(TD_FILE_RAW))
#define BYTES (BIT(TD_FILE_IHEX) | BIT(TD_FILE_SREC) | BIT(TD_FILE_ELF))

static const struct {
    const char *word;
    unsigned uses;
} formats[TD_FILE_FORMATS] = {
    [TD_FILE_NPY] = {"npy", TD_USE_TENSOR},
    [TD_FILE_NPZ] = {"npz", TD_USE_TENSOR},
    [TD_FILE_SAFETENSORS] = {"safetensors", TD_USE_TENSOR},
    [TD_FILE_GGUF] = {"gguf", TD_USE_TENSOR},
    [TD_FILE_RAW] = {"raw", TD_USE_TENSOR | TD_USE_IMAGE},
    [TD_FILE_READMEMH] = {"readmemh", TD_USE_IMAGE},
    [TD_FILE_READMEMB] = {"readmemb", TD_USE_IMAGE},
    [TD_FILE_IHEX] = {"ihex", TD_USE_IMAGE},
    [TD_FILE_SREC] = {"srec", TD_USE_IMAGE},
    [TD_FILE_ELF] = {"elf", TD_USE_IMAGE},
    [TD_FILE_MIF] = {"mif", TD_USE_IMAGE},
    [TD_FILE_COE] = {"coe", TD_USE_IMAGE},
};

static const struct {
    const char *extension;
    td_file_format format;
} extensions[] = {
    {".npy", TD_FILE_NPY},       {".npz", TD_FILE_NPZ},       {".safetensors", TD_FILE_SAFETENSORS},
    {".raw", TD_FILE_RAW},       {".bin", TD_FILE_RAW},       {".hex", TD_FILE_READMEMH},
    {".mem", TD_FILE_READMEMH},  {".vmem", TD_FILE_READMEMH}, {".memh", TD_FILE_READMEMH},
    {".memb", TD_FILE_READMEMB}, {".ihex", TD_FILE_IHEX},     {".ihx", TD_FILE_IHEX},
    {".srec", TD_FILE_SREC},     {".s19", TD_FILE_SREC},      {".s28", TD_FILE_SREC},
    {".s37", TD_FILE_SREC},      {".mot", TD_FILE_SREC},      {".elf", TD_FILE_ELF},
    {".axf", TD_FILE_ELF},       {".gguf", TD_FILE_GGUF},     {".mif", TD_FILE_MIF},
    {".coe", TD_FILE_COE},
};

#define EXTENSIONS (sizeof extensions / sizeof extensions[0])

const char *td_file_format_word(td_file_format format)
{
    return formats[format].word;
}

/* -- options -- */

typedef td_status setter(const char *value, td_file_options *options);

static bool set_choice(const char *value, const char *no, const char *yes, bool *out)
{
    *out = strcmp(value, yes) == 0;
    return *out || strcmp(value, no) == 0;
}

static td_status fail_value(const char *key, const char *value, const char *needed)
{
    return td_fail(TD_OPTION, "the option %s is \"%s\"; it needs %s", key, value, needed);
}

static td_status set_number(const char *key, const char *value, uint64_t *out)
{
    const char *at = value;
    uint64_t number = 0;
    if (!td_text_number(&at, &number) || *at)
        return fail_value(key, value, "a whole number, decimal or 0x");
    *out = number;
    return TD_OK;
}

static td_status set_dtype(const char *value, td_file_options *options)
{
    options->has_dtype = true;
    return td_dtype_parse(value, &options->dtype);
}

static td_status set_shape(const char *value, td_file_options *options)
{
    char text[TD_MAX_RANK * 21];
    size_t length = strlen(value);
    if (length == 0 || length >= sizeof text || strspn(value, "0123456789x") != length)
        return fail_value("shape", value, "extents with x between them, as 2x3x4");
    memcpy(text, value, length + 1);
    for (size_t i = 0; i < length; i++)
        if (text[i] == 'x')
            text[i] = ',';
    options->has_shape = true;
    return td_shape_parse(text, &options->shape);
}

static td_status set_offset(const char *value, td_file_options *options)
{
    return set_number("offset", value, &options->offset_bytes);
}

static td_status set_base(const char *value, td_file_options *options)
{
    return set_number("base", value, &options->base);
}

static td_status set_endian(const char *value, td_file_options *options)
{
    return set_choice(value, "little", "big", &options->big_endian) ? TD_OK
                                                                    : fail_value("endian", value, "little or big");
}

static td_status set_unit(const char *value, td_file_options *options)
{
    return set_choice(value, "word", "byte", &options->byte_units) ? TD_OK : fail_value("unit", value, "word or byte");
}

static td_status set_text_address(const char *value, td_file_options *options)
{
    return set_choice(value, "word", "byte", &options->byte_addresses) ? TD_OK
                                                                       : fail_value("address", value, "word or byte");
}

static td_status set_elf_address(const char *value, td_file_options *options)
{
    return set_choice(value, "physical", "virtual", &options->virtual_addresses)
               ? TD_OK
               : fail_value("address", value, "physical or virtual");
}

static td_status set_bss(const char *value, td_file_options *options)
{
    return set_choice(value, "keep", "zero", &options->zero_bss) ? TD_OK : fail_value("bss", value, "zero or keep");
}

static td_status set_outside(const char *value, td_file_options *options)
{
    return set_choice(value, "error", "skip", &options->skip_outside) ? TD_OK
                                                                      : fail_value("outside", value, "skip or error");
}

static td_status set_section(const char *value, td_file_options *options)
{
    const size_t length = strlen(value);
    if (length == 0 || length >= sizeof options->section)
        return fail_value("section", value, "the name of a section, of at most 63 letters, as .text");
    memcpy(options->section, value, length + 1);
    return TD_OK;
}

static td_status set_unknown(const char *value, td_file_options *options)
{
    bool one = false;
    if (!set_choice(value, "0", "1", &one))
        return fail_value("x", value, "0 or 1");
    options->x_digit = one ? TD_X_DIGIT_ONE : TD_X_DIGIT_ZERO;
    return TD_OK;
}

static const struct {
    const char *key;
    unsigned uses;
    unsigned formats;
    setter *set;
} keys[] = {
    {"dtype", TD_USE_TENSOR, TENSORS, set_dtype},
    {"shape", TD_USE_TENSOR, BIT(TD_FILE_RAW), set_shape},
    {"offset", TD_USE_TENSOR, BIT(TD_FILE_RAW), set_offset},
    {"endian", TD_USE_TENSOR | TD_USE_IMAGE, BIT(TD_FILE_RAW) | BYTES | READMEM, set_endian},
    {"base", TD_USE_IMAGE, BYTES | READMEM, set_base},
    {"x", TD_USE_IMAGE, READMEM, set_unknown},
    {"unit", TD_USE_IMAGE, READMEM, set_unit},
    {"address", TD_USE_IMAGE, READMEM, set_text_address},
    {"address", TD_USE_IMAGE, BIT(TD_FILE_ELF), set_elf_address},
    {"bss", TD_USE_IMAGE, BIT(TD_FILE_ELF), set_bss},
    {"section", TD_USE_IMAGE, BIT(TD_FILE_ELF), set_section},
    {"outside", TD_USE_IMAGE, BYTES, set_outside},
};

#define KEYS (sizeof keys / sizeof keys[0])

static td_status fail_key(const char *key, td_file_format format, unsigned use)
{
    bool any = false;
    td_fail(TD_OPTION, "%s has no option \"%s\"; it has ", formats[format].word, key);
    for (size_t k = 0; k < KEYS; k++)
        if (keys[k].uses & use && keys[k].formats & BIT(format)) {
            td_fail_append("%s%s", any ? ", " : "", keys[k].key);
            any = true;
        }
    return TD_OPTION;
}

/* "key=value" up to `end`, which it cuts off in place. */
static td_status set_option(char *text, unsigned use, td_file_name *name)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return td_fail(TD_OPTION, "the option \"%s\" has no value; write KEY=VALUE", text);
    *equals = '\0';
    for (size_t k = 0; k < KEYS; k++)
        if (keys[k].uses & use && keys[k].formats & BIT(name->format) && strcmp(keys[k].key, text) == 0)
            return keys[k].set(equals + 1, &name->options);
    return fail_key(text, name->format, use);
}

static td_status set_options(char *text, unsigned use, td_file_name *name)
{
    td_status status = TD_OK;
    while (text && status == TD_OK) {
        char *comma = strchr(text, ',');
        if (comma)
            *comma = '\0';
        status = set_option(text, use, name);
        text = comma ? comma + 1 : NULL;
    }
    if (status == TD_OK && name->options.byte_units && name->options.byte_addresses)
        return td_fail(TD_OPTION, "unit=byte already counts its addresses in bytes; leave address=byte out");
    if (status == TD_OK && READMEM & BIT(name->format) && name->options.big_endian && !name->options.byte_units)
        return td_fail(TD_OPTION, "endian=big without unit=byte; the digits of a word have one order only");
    return status;
}

/* -- the parts of a name -- */

/* The format whose word stands in front of a colon or of options, or TD_FILE_FORMATS; *length is that of the word. */
static td_file_format named_format(const char *text, size_t *length)
{
    *length = strcspn(text, ":,/");
    if (text[*length] == ':' || (text[*length] == ',' && strchr(text, ':')))
        for (unsigned f = 0; f < TD_FILE_FORMATS; f++)
            if (strlen(formats[f].word) == *length && strncmp(text, formats[f].word, *length) == 0)
                return (td_file_format)f;
    return TD_FILE_FORMATS;
}

static bool has_members(td_file_format format)
{
    return format == TD_FILE_NPZ || format == TD_FILE_SAFETENSORS || format == TD_FILE_GGUF;
}

/* The colon in front of a member: after the extension of a container or, where a format is named and the path has
 * another extension, the first one. */
static char *member_colon(char *path, td_file_format named)
{
    static const char *const containers[] = {".npz:", ".safetensors:", ".gguf:"};
    char *found = NULL;
    for (size_t c = 0; c < sizeof containers / sizeof containers[0]; c++) {
        char *at = strcasestr(path, containers[c]);
        if (at && (!found || at < found))
            found = at + strlen(containers[c]) - 1;
    }
    if (!found && has_members(named))
        found = strchr(path, ':');
    return found;
}

static td_file_format extension_format(const char *path, const char **extension)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    *extension = dot ? dot : "";
    for (size_t e = 0; e < EXTENSIONS; e++)
        if (strcasecmp(*extension, extensions[e].extension) == 0)
            return extensions[e].format;
    return TD_FILE_FORMATS;
}

static td_status fail_extension(const char *extension, td_file_format format, td_file_use use)
{
    const bool tensor = use == TD_USE_TENSOR;
    const char *kind = tensor ? "tensor file" : "memory image";
    const char *fix = tensor ? "use .npy, .npz, .safetensors or .raw (.gguf to read), or put the format in front, as "
                               "npy:FILE"
                             : "use .hex, .mem, .vmem, .memb, .bin, .mif, .coe, .ihex or .srec (.elf to read), or put "
                               "the format in front, as readmemh:FILE";
    if (!*extension)
        return td_fail(TD_ARGUMENT, "the name has no extension that says which %s it is; %s", kind, fix);
    if (format != TD_FILE_FORMATS)
        return td_fail(TD_ARGUMENT, "the extension \"%s\" is that of a %s, not of a %s; %s", extension,
                       tensor ? "memory image" : "tensor file", kind, fix);
    return td_fail(TD_ARGUMENT, "the extension \"%s\" is not that of a %s; %s", extension, kind, fix);
}

td_status td_file_name_parse(const char *text, td_file_use use, td_file_name *out)
{
    td_file_name name = {0};
    size_t word_length = 0;
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(2 * bytes); /* the options are cut in place in the second half */
    if (!copy)
        return td_fail_alloc(2 * bytes);
    memcpy(copy, text, bytes);
    memcpy(copy + bytes, text, bytes);

    td_status status = TD_OK;
    const char *extension = "";
    char *options = NULL;
    td_file_format named = named_format(text, &word_length);
    name.path = copy;
    if (named != TD_FILE_FORMATS) {
        char *colon = strchr(copy, ':');
        if (copy[word_length] == ',') {
            options = copy + bytes + word_length + 1;
            options[colon - (copy + word_length + 1)] = '\0';
        }
        memmove(copy, colon + 1, strlen(colon + 1) + 1);
    }
    char *colon = member_colon(copy, named);
    name.format = named;
    if (colon) {
        *colon = '\0';
        name.member = colon + 1;
    }
    if (named == TD_FILE_FORMATS)
        name.format = strcmp(copy, "-") != 0 ? extension_format(copy, &extension)
                      : use == TD_USE_TENSOR ? TD_FILE_NPY
                                             : TD_FILE_READMEMH;
    if (name.format == TD_FILE_FORMATS || (named == TD_FILE_FORMATS && !(formats[name.format].uses & use)))
        status = fail_extension(extension, name.format, use);
    else if (!(formats[name.format].uses & use))
        status = td_fail(TD_ARGUMENT, "%s is a format of %s", formats[name.format].word,
                         use == TD_USE_TENSOR ? "memory images, not of tensors; use npy, npz, safetensors, gguf or raw"
                                              : "tensors, not of memory images; use readmemh, readmemb, raw, mif, coe, "
                                                "ihex, srec or elf");
    else if (name.path[0] == '\0')
        status = td_fail(TD_ARGUMENT, "the name has no path; write %s:FILE", formats[name.format].word);
    else if (name.member && name.member[0] == '\0')
        status = td_fail(TD_ARGUMENT, "no tensor is named behind the last colon; write %s:NAME, or leave the colon out",
                         name.path);
    else if (options)
        status = set_options(options, use, &name);
    if (status != TD_OK) {
        free(copy);
        return status;
    }
    *out = name;
    return TD_OK;
}

void td_file_name_free(td_file_name *name)
{
    free(name->path);
    *name = (td_file_name){0};
}

td_status td_file_context(td_status status, const char *call, const char *text)
{
    if (status != TD_OK)
        td_fail_prefix("%s \"%s\": ", call, text);
    return status;
}

unsigned td_file_kind(const char *path)
{
    unsigned uses = 0;
    static const td_file_use all[] = {TD_USE_TENSOR, TD_USE_IMAGE};
    for (size_t u = 0; u < 2 && path; u++) {
        td_file_name name;
        if (td_file_name_parse(path, all[u], &name) == TD_OK) {
            const bool several = has_members(name.format);
            uses |= all[u] | (several && !name.member ? TD_USE_MEMBERS : 0u);
            td_file_name_free(&name);
        }
    }
    return uses;
}
