/* The options of layouts, from text and back: options.c. A new one is a line in the table there. */
#ifndef TD_OPTIONS_H
#define TD_OPTIONS_H

#include "base/text.h"
#include "layout/layout.h"

/* Takes a pattern that is parsed; sets the sizes of its axes and every option of the layout. */
td_status td_options_parse(td_layout *layout, const char *text);

/* Canonical: sizes in the pattern's order, then the options that differ from their default in the table's, each with a
 * space before it. */
void td_options_print(const td_layout *layout, td_text *out);

/* The options that are not sizes of axes, for messages that offer them; NULL past the last. */
bool td_layout_is_option(const char *key);
const char *td_layout_option_name(size_t number);

#endif
