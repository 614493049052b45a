/* Files that hold several tensors by name: what npz.c, safetensors.c and gguf.c offer the facade in file.c, the list of
 * names that they fill, and the message for a name that is not there. */
#ifndef TD_MEMBERS_H
#define TD_MEMBERS_H

#include "files/tensor/formats.h"

/* Names that were found in a file: one allocation that grows. Zero-initialise; free with td_member_list_free. */
typedef struct td_member_list {
    char *text; /* each with its end */
    size_t used;
    size_t room;
    size_t count;
} td_member_list;

td_status td_member_list_add(td_member_list *list, const char *name, size_t length);
void td_member_list_free(td_member_list *list);

/* One block for td_free: pointers, then the names. */
td_status td_member_list_take(td_member_list *list, char ***names, size_t *count);

/* A name from a file, for a message: what a terminal could take for a command is a dot, and one that does not fit ends
 * in "...". Returns text. */
#define TD_MEMBER_SHOWN_BYTES 512
const char *td_member_shown(const char *name, char *text);

/* What a file of several tensors can do. Names are given without their end. */
typedef struct td_container_format {
    td_status (*list)(const td_file_map *file, td_member_list *list);
    td_status (*read)(td_file_map *file, const char *member, const td_dtype *as, td_tensor **out);
    td_status (*write)(const char *const *names, const td_tensor *const *tensors, size_t count, td_writer *writer);
    const char *default_member; /* of a file that is saved without a name */
} td_container_format;

/* TD_ARGUMENT: `member` is not in the file, or is NULL and there is not exactly one; names what there is. */
td_status td_member_fail_missing(const td_container_format *format, const td_file_map *file, const char *member);

extern const td_container_format td_container_npz;
extern const td_container_format td_container_safetensors;
extern const td_container_format td_container_gguf;

#endif
