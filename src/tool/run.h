/* The memories of `tensordoor run`: made of --memory and --banks, bound to the program, saved where it writes them.
 * Functions that return false have printed one line. */
#ifndef TENSORDOOR_TOOL_RUN_H
#define TENSORDOOR_TOOL_RUN_H

#include "tool/tool.h"

#define TOOL_MOST_MEMORIES 256
#define MEMORY_FORM "wbuf=wbuf.hex:128"
#define BANKS_FORM "wbuf=4"

typedef struct tool_memory {
    char *name;
    td_memory **bank;
    size_t banks;
    bool many; /* --banks is given for it */
} tool_memory;

typedef struct tool_memories {
    tool_memory memory[TOOL_MOST_MEMORIES];
    size_t count;
} tool_memories;

bool tool_memories_open(const tool_usage *usage, td_program *program, const char *const *memory, size_t memories,
                        const char *const *banks, size_t bank_flags, tool_memories *out);

/* Those that a run of the label writes, into a folder that is made where there is none; all of them or none. */
bool tool_memories_save(const tool_usage *usage, td_program *program, const char *label, const char *arguments,
                        const char *folder, const tool_memories *memories);
void tool_memories_close(tool_memories *memories);

#endif
