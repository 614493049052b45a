/* Presets: layouts of real accelerators by name. A preset is text with holes; preset.c fills them from the
 * parameters and hands three strings to layout.c, which knows nothing else of presets. The table is in
 * preset_table.c. */
#ifndef TD_PRESET_H
#define TD_PRESET_H

#include "base/status.h"

#define TD_PRESET_PREFIX "preset:"
#define TD_PRESET_PARAMS 6

/* In pattern and address `$name` is a parameter or the size of an axis, and `@` in front of a parenthesis is the place
 * of `base=` and of the factor that `beats=` puts on every address. Sizes may be N/bits or bits/N, in element bits. */
typedef struct td_preset {
    td_preset_info info;
    unsigned bits; /* of an element where the options do not say dtype= */
    const char *pattern, *options;
    const char *address; /* NULL: the default */
    struct {
        const char *name, *value; /* the value without the parameter; NULL: it must be given */
    } param[TD_PRESET_PARAMS];
} td_preset;

extern const td_preset td_presets[];
extern const size_t td_presets_count;

typedef struct td_preset_text {
    char *pattern, *options, *address;
} td_preset_text;

/* Expands "preset:NAME KEY=VALUE ..."; `options` add to the parameters and to the preset's own options, and win over
 * these; an `address` that is not empty takes the place of the preset's. TD_OPTION with the nearest name. On success
 * the three strings are the caller's to free. */
td_status td_preset_expand(const char *text, const char *options, const char *address, td_preset_text *out);
void td_preset_text_free(td_preset_text *text);

#endif
