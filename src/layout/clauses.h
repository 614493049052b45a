/* Text files of named entries, each a list of clauses: NAME: clause ...; clause ...; What layout files (layout_file.c)
 * and map files (map/) share: lines, comments, names, and where a clause begins and ends. What a clause says is the
 * business of whoever reads the file. */
#ifndef TD_CLAUSES_H
#define TD_CLAUSES_H

#include "base/status.h"

#define TD_CLAUSE_NAME_BYTES 64

typedef struct td_clause_file td_clause_file;

typedef struct td_clause_grammar {
    const char *file;           /* the kind of file, in messages: "layout" */
    const char *noun;           /* of an entry: "layout" */
    const char *example;        /* a first line */
    const char *shortest;       /* what is behind NAME: at least */
    const char *clause_list;    /* "pattern, options or address" */
    const char *const *clause;  /* the words that begin clauses, NULL after the last */
    const char *const *no_name; /* words in front of a colon that begin no entry, NULL after the last */
    /* Called for the last entry of the file: it has begun, it has a segment [first, end) of the text, which is not
     * empty and has no blanks around it, and it has ended. */
    td_status (*begin)(td_clause_file *file);
    td_status (*segment)(td_clause_file *file, size_t first, size_t end);
    td_status (*end)(td_clause_file *file);
} td_clause_grammar;

typedef struct td_clause_entry {
    char name[TD_CLAUSE_NAME_BYTES];
    size_t line;
} td_clause_entry;

struct td_clause_file {
    const td_clause_grammar *grammar;
    void *context; /* of the grammar's functions */
    char *text;    /* the file, comments and line ends made blank, zero at the end */
    size_t size;
    size_t *line_start; /* offsets, and one past the end */
    size_t line_count;
    td_clause_entry *entry;
    size_t entry_count;
    size_t line; /* of the last failure; 0: the file as a whole */
};

/* Reads all of it. TD_FORMAT for text in front of the first entry, names that are too long or stand twice, and what the
 * functions of the grammar refuse; the line is in out->line. The caller frees *out either way. */
td_status td_clauses_read(const td_clause_grammar *grammar, void *context, const unsigned char *bytes, size_t size,
                          td_clause_file *out);
void td_clauses_free(td_clause_file *file);

/* Which clause begins at `first`, or -1; *length is that of its word. Sets the line of a failure. */
int td_clauses_find(td_clause_file *file, size_t first, size_t end, size_t *length);

/* TD_FORMAT: the segment begins no clause. */
td_status td_clauses_fail(const td_clause_file *file, size_t first, size_t end);

/* The text of a clause, or "; " and more of it where there is some already. */
td_status td_clauses_add(const td_clause_file *file, size_t first, size_t end, char **text);

#endif
