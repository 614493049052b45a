/* Which tensors of a file belong together, where their names follow no convention:
 *
 *     gptq version=2 from qweight=mlp.q qzeros=mlp.z scales=mlp.s
 *
 * The words in front of `from` say what the weight is, those behind it name its tensors by their roles. open.c reads
 * them; checkpoint.c and named.c ask for the tensor of a role. */
#ifndef TD_PART_NAMES_H
#define TD_PART_NAMES_H

#include "parts/object.h"

typedef struct td_part_names {
    const char *path; /* the file, or, where there are no names, FILE:NAME */
    char *how;        /* owned: the words in front of `from` */
    const char *list; /* those behind it; NULL: none, the names follow the convention */
} td_part_names;

td_status td_part_names_split(const char *path, const char *how, td_part_names *out);
void td_part_names_free(td_part_names *names);

/* The text behind ROLE=, and its length; NULL where there is none. */
const char *td_part_names_find(const td_part_names *names, const char *role, size_t *length);

/* TD_OPTION for a word that names none of the roles, or one twice. */
td_status td_part_names_check(const td_part_names *names, const char *const *roles, size_t count);

/* TD_OPTION where there are names, and none for this role. */
td_status td_part_names_need(const td_part_names *names, const char *role);

/* Opens the tensor of a role: by its name, or without names the one whose name ends with `suffix`. TD_OPTION where
 * there are names, and none for this one. */
td_status td_part_names_open(const td_part_names *names, const char *role, const char *suffix, const char *dtype,
                             td_tensor **out);

/* Any packing whose parts are tensors of a file, each whole or as bits from the lowest on, as two e2m1 in a byte.
 * Roles are the names of the parts; shape=64x128 is the tensor's where it does not follow from the elements. */
td_status td_named_open(const td_part_names *names, td_parts **out);

#endif
