/* The addresses that a linker gave to names: @sym(NAME) in an address expression asks here, with the ELF file that the
 * layout's option elf= names. */
#ifndef TD_SYMBOLS_H
#define TD_SYMBOLS_H

#include "base/status.h"

/* The value of a symbol. TD_FILE when the file cannot be opened, TD_FORMAT when it is no ELF file with a symbol table,
 * TD_ADDRESS with the nearest name when it has no symbol of that name, or one without an address. */
td_status td_symbol_find(const char *path, const char *name, uint64_t *value);

#endif
