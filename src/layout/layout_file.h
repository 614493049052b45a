/* Entries of layout files that are no layouts: which tensors of a file are one weight. files/parts opens them. */
#ifndef TD_LAYOUT_FILE_H
#define TD_LAYOUT_FILE_H

#include "base/status.h"

/* The file and the words of an entry `NAME: tensors FILE; as gptq from qweight=..`; both are freed with free. Refusals
 * are those of td_layout_open, and TD_FORMAT for an entry that is a layout. */
td_status td_layout_file_tensors(const char *path, const char *name, char **file, char **how);

#endif
