/* The naive oracle: what DESIGN.md says about layouts, done one element at a time in the simplest way there is. The
 * property tests hold the library against it. It shares no code with the library on purpose: it parses the strings
 * itself, evaluates the address text anew for every word, and moves single bits. It refuses what the language refuses,
 * and calls a case grey where the language leaves the choice. */
#ifndef TD_TEST_ORACLE_H
#define TD_TEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_AXES 96
#define ORACLE_DIMS 32
#define ORACLE_NAME 32

typedef enum oracle_verdict { ORACLE_OK, ORACLE_REFUSED, ORACLE_GREY } oracle_verdict;

typedef struct oracle_case {
    const char *pattern;
    const char *options;
    const char *address; /* "" for the default */
    const char *dtype;
    size_t rank;
    uint64_t dim[ORACLE_DIMS];
    uint64_t width;
    uint64_t depth;
    uint64_t banks;
} oracle_case;

typedef struct oracle_axis {
    char name[ORACLE_NAME];
    uint64_t size; /* 0 until known */
    bool on_left;
    bool on_right;
    uint64_t value; /* while walking */
} oracle_axis;

typedef struct oracle_group {
    size_t count;
    size_t axis[ORACLE_AXES];
    uint64_t total; /* the product of its sizes */
    bool sliding;   /* "(2*h + kh)": the place is the sum of step * axis */
    uint64_t step[ORACLE_AXES];
} oracle_group;

enum { ORACLE_PAD = -1, ORACLE_CLIP = -2 };

typedef struct oracle_vector {
    uint64_t bank;
    uint64_t address; /* of its first word */
} oracle_vector;

typedef struct oracle {
    oracle_case in;
    char why[256]; /* the reason of a refusal or of a grey verdict */

    oracle_axis axes[ORACLE_AXES];
    size_t axis_count;
    oracle_group left[ORACLE_DIMS];
    size_t left_count;
    oracle_group bank, word, lane;
    bool has_bank_group;
    bool flat;   /* one right group: one vector, whose slots follow one another through the bits of consecutive words */
    bool skewed; /* the address names a lane axis: every lane has a word of its own */
    bool byte_addresses;
    bool words_given; /* an option that only vectors of their own words can have */

    bool pad, pad_begin, clip, msb, keep, alias_last;
    char pad_text[64];
    uint64_t slot, lsb, beats;
    char bank_text[512], address_text[512];

    unsigned elem_bits;
    unsigned elem_bytes;
    bool elem_signed;
    uint64_t pad_bits;

    /* The answer: vectors in the order of the word axes (bank slowest), and for each lane of each its word and the
     * element it holds. */
    uint64_t vector_count;
    uint64_t lanes;
    uint64_t part_bits; /* of the vector, in one beat */
    oracle_vector *vectors;
    int64_t *elems;
} oracle;

oracle_verdict oracle_open(const oracle_case *in, oracle *o);
void oracle_close(oracle *o);

/* memories[bank] in the form of td_memory_data, word_bytes each. */
void oracle_load(const oracle *o, const unsigned char *tensor, unsigned char *const *memories, size_t word_bytes);

/* False when the copies of a repeated element differ; `tensor` is then not to be used. */
bool oracle_dump(const oracle *o, unsigned char *tensor, unsigned char *const *memories, size_t word_bytes);

/* Where bit k of a lane lies: which word of the vector, which bit of the word. */
void oracle_place(const oracle *o, uint64_t lane, uint64_t k, uint64_t *beat, uint64_t *bit);

/* Whether a load writes this word of the vector at all. */
bool oracle_writes(const oracle *o, uint64_t vector, uint64_t beat);

/* The parts in oracle_text.c and oracle_expr.c. Each says why in o->why when it returns false. */
bool oracle_parse_pattern(oracle *o);
bool oracle_parse_options(oracle *o);
bool oracle_parse_dtype(oracle *o);
bool oracle_evaluate(oracle *o, const char *text, uint64_t index, int64_t *value);

bool oracle_refuse(oracle *o, const char *why, const char *what);
const char *oracle_skip_spaces(const char *p);
size_t oracle_word_length(const char *p);
oracle_axis *oracle_find_axis(oracle *o, const char *name, size_t length);

#endif
