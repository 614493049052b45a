/* The map of a chip: memories by name, each made of arrays, and system byte addresses over them. map.c is the facade,
 * build.c makes the memories out of the clauses of the file, interleave.c and dram.c say how a region lies over several
 * memories, bytes.c and tensors.c use the addresses, transfer.c for arrays inside a design. A region over several
 * memories is a memory over them (over/), so that nothing above knows how it is interleaved. */
#ifndef TD_MAP_H
#define TD_MAP_H

#include "layout/clauses.h"
#include "memory/memory.h"

typedef enum td_map_clause {
    TD_MAP_WORDS,
    TD_MAP_BASE,
    TD_MAP_SIZE,
    TD_MAP_ENDIAN,
    TD_MAP_CODE,
    TD_MAP_CHECK,
    TD_MAP_CODEC,
    TD_MAP_STORED,
    TD_MAP_ORGANISATION,
    TD_MAP_OPTIONS,
    TD_MAP_ADDRESS,
    TD_MAP_ARRAYS,
    TD_MAP_MEMORIES,
    TD_MAP_UNIT,
    TD_MAP_INTERLEAVE,
    TD_MAP_CLAUSES
} td_map_clause;

extern const char *const td_map_clause_word[TD_MAP_CLAUSES + 1];

/* source.c: the clauses of a memory or region, as they stand in the file. */
typedef struct td_map_source {
    char name[TD_CLAUSE_NAME_BYTES];
    size_t line;
    char *text[TD_MAP_CLAUSES]; /* NULL: not there */
    size_t clause_line[TD_MAP_CLAUSES];
} td_map_source;

typedef struct td_map_file {
    td_clause_file clauses;
    td_map_source *source;
    size_t count;
    int last; /* the clause before, while it is read */
} td_map_file;

/* TD_FORMAT, with the line in out->clauses.line. The caller frees *out either way. */
td_status td_map_file_read(const unsigned char *text, size_t size, td_map_file *out);
void td_map_file_free(td_map_file *file);

/* An array that words lie in, at the bottom. */
typedef struct td_map_array {
    char *name;
    td_memory *memory;
    bool owned;
    size_t node; /* whose it is */
} td_map_array;

#define TD_MAP_LAYERS 4

/* A memory or a region. */
typedef struct td_map_node {
    char *name;
    size_t line;
    td_memory *memory;               /* what a user sees */
    td_memory *raw;                  /* under the code; the same where there is none */
    td_memory *layer[TD_MAP_LAYERS]; /* what destroys with the map, the lowest first */
    size_t layer_count;
    td_memory **array; /* at the bottom, in the order of the banks */
    size_t array_count;
    bool addressed;
    bool big_endian;
    bool shared;          /* another range of addresses has an array of it, too */
    bool given;           /* an array of the caller is, or lies under, it */
    uint64_t base, bytes; /* addresses [base, base + bytes) */
    size_t word_bytes;    /* in addresses: (width + 7) / 8 */
} td_map_node;

struct td_map {
    td_map_node *node;
    size_t count;
    size_t *order; /* those with addresses, ascending */
    size_t order_count;
    td_map_array *array;
    size_t array_count;
};

/* build.c: all nodes of a file, over the arrays that the caller has. The line of a failure is in file->clauses.line. */
td_status td_map_build(td_map *map, td_map_file *file, td_memory *const *arrays, size_t count);

/* order.c: sorts the nodes by their addresses, of which no two may overlap; the line of the second otherwise. */
td_status td_map_order(td_map *map, size_t *line);

/* map.c: what a user sees of a node. */
td_map_entry td_map_entry_of(const td_map_node *node);

/* The node that has this address, or NULL. td_map_fail_hole says where none is; TD_RANGE. */
const td_map_node *td_map_node_at(const td_map *map, uint64_t address);
td_status td_map_fail_hole(const td_map *map, uint64_t address);

/* words.c: what clauses are made of. Each moves *at past what it reads. A failure is TD_FORMAT, and shows the clause
 * with a caret; `clause` is its word. */
typedef struct td_map_reader {
    const char *node;   /* the name of the entry */
    const char *clause; /* the word that begins it */
    const char *text;   /* what is behind the word */
    const char *at;
} td_map_reader;

td_map_reader td_map_read_clause(const td_map_source *entry, td_map_clause clause);
td_status td_map_read_number(td_map_reader *reader, const char *what, uint64_t *out);
td_status td_map_read_geometry(td_map_reader *reader, uint64_t *depth_words, uint64_t *width_bits);
td_status td_map_read_end(td_map_reader *reader, const char *what);

/* Names to the end of the clause, with every [A..B] and {A..B} written out, the first the slowest. *names is one
 * allocation. */
td_status td_map_read_names(td_map_reader *reader, char ***names, size_t *count);

/* layers.c: what lies between a memory and its arrays: a code, a codec. */
typedef struct td_map_layers {
    td_code *code;         /* NULL: none */
    const td_codec *codec; /* NULL: none */
    const char *check;     /* the options of the code, or NULL */
    uint64_t coded_bits;   /* of a word under the code */
    uint64_t stored_bits;  /* of a word under the codec: what lies in the arrays */
    bool zero_is_zero;     /* words of zeros are stored as zeros */
} td_map_layers;

/* Reads the clauses of a memory of that width. *failed is the clause of a failure. The caller destroys out->code. */
td_status td_map_read_layers(const td_map_source *source, uint64_t width_bits, td_map_layers *out,
                             td_map_clause *failed);

/* Lays them over the words that are stored, as layers of the node. */
td_status td_map_add_layers(td_map_node *node, const td_map_layers *layers, td_map_clause *failed);

/* The memories under a region, which all have one geometry. */
typedef struct td_map_under {
    size_t count;
    uint64_t depth_words, width_bits;
    uint64_t unit_words; /* of the interleaving */
} td_map_under;

/* interleave.c: the organisation of a region of `depth_words` words. */
td_status td_map_interleave(const td_map_source *entry, const td_map_under *under, uint64_t depth_words,
                            td_layout **out);

/* dram.c: a preset "dram:RoBaRaCoCh ch=4 ..." as pattern, options and address, counted in units; the caller frees
 * them. */
#define TD_DRAM_PREFIX "dram:"
typedef struct td_dram_text {
    char *pattern, *options, *address;
} td_dram_text;
td_status td_dram_expand(const char *text, size_t memories, uint64_t units, td_dram_text *out);
void td_dram_text_free(td_dram_text *text);

#endif
