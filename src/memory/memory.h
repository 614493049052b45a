/* The memory object: a geometry, and storage whose pages are made when they are touched. The rooms above reach into
 * it; users have the functions of the public header. */
#ifndef TD_MEMORY_H
#define TD_MEMORY_H

#include "base/status.h"

/* What an operation does with bits that are x or z; the order of td_memory_set_x. */
typedef enum td_x_policy { TD_X_ERROR, TD_X_ZERO, TD_X_KEEP } td_x_policy;

/* Bits [bit, bit + bits) of a word. */
typedef struct td_word_bits {
    uint64_t word, bit, bits;
} td_word_bits;

/* Bits from number `number` on of those asked for lie, one after another, at these of memory number `below`. */
typedef void td_down_fn(void *context, uint64_t number, size_t below, const td_word_bits *at);

/* What lies at a bit: a bit of the memory above, one that a code added to that word, or nothing. */
typedef enum td_up { TD_UP_NOTHING, TD_UP_BIT, TD_UP_CHECK } td_up;

struct td_plan;
struct td_joined;

typedef void td_reach_fn(void *context, td_memory *below, uint64_t first, uint64_t count);

/* How words come into `data` and out of it where `data` is only a copy, as of a memory that lies over others
 * (over/over.c). What looks at words, or writes a part of their bits, has them brought in first, which may be refused.
 * What has written words has all of them sealed, which may be refused too and then has changed nothing but copies; and
 * then put back, which cannot. */
typedef struct td_backing {
    td_memory *memory; /* whose words these are */
    td_status (*bring_in)(const td_memory *memory, uint64_t first, uint64_t count);
    td_status (*prepare)(const td_memory *memory, uint64_t first, uint64_t count); /* before a write of whole words */
    td_status (*seal)(const td_memory *memory, uint64_t first, uint64_t count); /* only where it, or what is below, */
    bool refuses;                                                               /* may refuse what is written */
    void (*put_back)(const td_memory *memory, uint64_t first, uint64_t count);

    /* Words that pass between the layers below and a scratch, `words`, which has them in the form of `data`: a large
     * call takes them block by block, so that memory is gone over once (backdoor/blocks.c). Only where `passes`, asked
     * by td_memory_passes, says that nothing can be refused on the way and no bit is x; NULL: never. `stream`: they are
     * part of something large, which is stored past the caches. Calls for words that lie in different words below may
     * run at the same time. */
    bool (*passes)(const td_memory *memory, bool reads);
    void (*read_words)(const td_memory *memory, uint64_t first, uint64_t count, unsigned char *words, bool stream);
    void (*write_words)(const td_memory *memory, uint64_t first, uint64_t count, const unsigned char *words,
                        bool stream);
    /* Where words that pass lie in an array below just as in `data`, as those of tiles do: the place of the first, and
     * in `count` how many of the words asked for follow it there. Whoever makes words or looks at them needs no scratch
     * then. NULL: the first lies otherwise; the member is NULL where all do. */
    unsigned char *(*find_words)(const td_memory *memory, uint64_t first, uint64_t *count);

    /* Where words lie in the memory below as they stand there: some of them, on their way between the two a chunk at a
     * time (design/passing.c); `stored` in the form of the one below, `words` in that of `data`. take_words is false
     * where some have errors, which whoever asked finds by bring_in; count_words tells of those that had none. NULL:
     * words are the same in both. */
    bool (*take_words)(const td_memory *memory, uint64_t first, uint64_t count, const void *stored,
                       unsigned char *words);
    void (*hand_words)(const td_memory *memory, uint64_t first, uint64_t count, void *stored,
                       const unsigned char *words);
    void (*count_words)(const td_memory *memory, uint64_t count);

    /* A tensor that goes to the memories at the bottom, or comes from there, by one plan (over/joined.h), where
     * `passes` says so too; `plan` is that of the tensor. NULL: never; join gives NULL where these two do not. */
    struct td_joined *(*join)(const td_memory *memory, const struct td_plan *plan, bool reads);
    void (*run_joined)(const td_memory *memory, const struct td_joined *joined, unsigned char *tensor, bool stream);
    void (*free_joined)(struct td_joined **joined);
    void (*destroy)(struct td_backing *backing);

    /* Where words lie, for whoever has to fetch what is below (design/layers.c): the memories below, and with `reach` a
     * call of fn for each of them that these words lie in. It returns true where no other bits lie in the words that it
     * names, so that a write of the memory's words needs nothing of what those held before. */
    td_memory *const *(*below)(const td_memory *memory, size_t *count);
    bool (*reach)(const td_memory *memory, uint64_t first, uint64_t count, td_reach_fn *fn, void *context);
    td_word_bits bad; /* after TD_UNCORRECTABLE of bring_in: what was; bits == 0: it lies in no word of this memory */
    td_memory *coded; /* of a memory with a code: the one below, which holds the coded words, */
    const struct td_code *code; /* and the code; both NULL otherwise */

    /* Single bits (place.h); zero is right for a layer over one memory in which every bit stays where it is. The
     * macros are the memories at the bottom, which lie over nothing. */
    size_t macros;             /* under all memories below; 0: as many as the one below has */
    const size_t *first_macro; /* of each memory below; NULL: macro i is memory i, or there is one memory below */
    uint64_t copies;           /* places of every bit, in the layer below; 0: one */
    bool mixes;                /* a bit below depends on other bits of its word too */
    /* One layer down: calls fn for some bits of a word, in any order, in copy number `copy`; not at all for bits that
     * have fewer copies. */
    void (*find_down)(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_down_fn *fn, void *context);
    /* One layer up: what lies at a bit of memory number `below`. */
    td_up (*find_up)(const td_memory *memory, size_t below, uint64_t word, uint64_t bit, td_word_bits *out);
} td_backing;

struct td_memory {
    char *name;
    uint64_t width_bits;
    uint64_t depth_words;
    size_t word_bytes;
    unsigned char *data; /* depth_words * word_bytes, from mmap */
    size_t map_bytes;    /* at least those */
    td_backing *backing; /* NULL: the words are in `data` and nowhere else */

    struct td_transfer *transfer; /* of a copy: what design/ keeps with it; NULL at first */
    void (*transfer_free)(struct td_transfer *);
    td_memory *unknown; /* its plane: the bits that are x or z, in the form of words; NULL until there are some */
    bool unknown_any;   /* the plane is in use; over others: where one of theirs is, of the words that came in */
    bool lent;          /* td_memory_data has given its storage to somebody */
    td_x_policy x;
};

static inline td_status td_memory_bring_in(const td_memory *memory, uint64_t first, uint64_t count)
{
    return memory->backing ? memory->backing->bring_in(memory, first, count) : TD_OK;
}

/* The same for words that will be written; `partly`: some of their bits keep their value. */
static inline td_status td_memory_bring_for_write(const td_memory *memory, bool partly, uint64_t first, uint64_t count)
{
    const td_backing *backing = memory->backing;
    return !backing ? TD_OK : partly ? backing->bring_in(memory, first, count) : backing->prepare(memory, first, count);
}

static inline td_status td_memory_seal(const td_memory *memory, uint64_t first, uint64_t count)
{
    return memory->backing && memory->backing->refuses ? memory->backing->seal(memory, first, count) : TD_OK;
}

static inline void td_memory_put_back(const td_memory *memory, uint64_t first, uint64_t count)
{
    if (memory->backing)
        memory->backing->put_back(memory, first, count);
}

/* What words that pass go through: such a block, its coded words and its places in the arrays stay in the second-level
 * cache. */
#define TD_PASS_BYTES ((uint64_t)32 << 10)

static inline bool td_memory_passes(const td_memory *memory, bool reads)
{
    const td_backing *backing = memory->backing;
    return backing && !memory->unknown_any && backing->passes && backing->passes(memory, reads);
}

/* Both for one run of words. */
static inline td_status td_memory_finish_write(const td_memory *memory, uint64_t first, uint64_t count)
{
    const td_status status = td_memory_seal(memory, first, count);
    if (!status)
        td_memory_put_back(memory, first, count);
    return status;
}

/* TD_ARGUMENT for a width or a depth that no memory has. */
td_status td_memory_check_geometry(uint64_t width_bits, uint64_t depth_words);

/* Bytes of one stored word: 1, 2, 4 or 8 up to 64 bits, then whole 32-bit words. */
size_t td_word_bytes(uint64_t width_bits);

/* The bits of a stored word above its width, shifted down to bit 0; 0 for a well-formed word. */
uint64_t td_word_excess(const void *word, size_t word_bytes, uint64_t width_bits);

#endif
