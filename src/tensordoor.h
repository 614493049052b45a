/* tensordoor: moves whole tensors in and out of simulated memories through the back door.
 *
 * This header is the manual of the C library. It goes from the first working program to the details; a first program
 * needs sections 1 to 7. What each section has:
 *
 *    1. Introduction            a first program, and three rules for all functions
 *    2. Status and messages     td_status, td_last_error, td_version, td_free
 *    3. Tensors                 dtypes, shapes; td_tensor_*: data, single elements, fillings, arithmetic
 *    4. Memories                td_memory_create; memories over others: _over, _coded, _through; x and z
 *    5. Layouts                 pattern, options, address; presets, layout files; td_layout_explain
 *    6. Words                   td_backdoor_read, td_backdoor_write
 *    7. Matrices and tensors    td_backdoor_load_tensor, td_backdoor_dump_tensor, banks; the words of `as`; scales
 *    8. Files                   names and formats of files; td_tensor_open, td_tensor_save, td_memory_load_file
 *    9. What a layout touches   td_layout_spans
 *   10. Comparisons, reports    td_backdoor_compare_tensor, td_compare; policies; td_report_*, td_checkpoints_*
 *   11. Parts                   block-scaled and sparse tensors: td_parts_*, td_parts_layout_*, their rules
 *   12. Speed                   the cache of plans, threads, paths, thresholds
 *   13. Codes and faults        check bits: td_code_*; wrong bits on purpose: td_memory_inject, td_memory_undo
 *   14. Places                  td_where_*: from an element to the column of a macro, and back
 *   15. Maps                    td_map_*: the memories of a chip in a file, system addresses
 *   16. Programs                td_program_*: a whole test as text, checked and run in one call
 *   17. Profile                 td_profile_*: where the time goes
 *
 * Memories that the library cannot reach itself, in a simulator or an emulator, have a header of their own:
 * tensordoor_bridge.h.
 *
 * -- 1. Introduction --------------------------------------------------------------------------------------------------
 *
 * There are three kinds of objects. A *tensor* is a dtype, a shape and row-major data. A *memory* is `depth` words of
 * `width` bits. A *layout* says in one line how a tensor lies in a memory. A load writes a tensor into a memory, a dump
 * reads it back:
 *
 *     td_tensor *t = NULL;
 *     td_memory *m = NULL;
 *     td_layout *l = NULL;
 *
 *     if (td_tensor_open("activations.npy", NULL, &t) ||                        // i16, shape (b, w, c)
 *         td_memory_create("abuf", 64, 1024, &m) ||                             // 1024 words of 64 bits
 *         td_layout_create("b w (ct cs) -> (b w ct) cs", "cs=4", NULL, &l) ||   // four lanes in each word
 *         td_backdoor_load_tensor(m, t, l, NULL))
 *         fprintf(stderr, "%s\n", td_last_error());
 *
 *     td_layout_destroy(&l);
 *     td_memory_destroy(&m);
 *     td_tensor_destroy(&t);
 *
 * Three rules hold for every function here:
 *   - A function that can fail returns a td_status, and TD_OK is 0. On failure nothing has changed: no word of a
 *     memory, no element of a tensor, no output argument. td_last_error() says what was found, what was needed, and how
 *     to fix it.
 *   - `td_x_create(..., td_x **out)` makes an object that the caller owns; `td_x_destroy(td_x **)` frees it, sets the
 *     pointer to NULL, and does nothing on NULL. Arguments that are `const` are borrowed for the call only.
 *   - The library never prints and never ends the program. Threads may use different objects at the same time; while
 *     one thread writes to an object, no other may use it. Layouts never change and may be shared.
 */
#ifndef TENSORDOOR_H
#define TENSORDOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define TD_API
#else
#define TD_API __attribute__((visibility("default")))
#endif

typedef struct td_tensor td_tensor;
typedef struct td_memory td_memory;
typedef struct td_layout td_layout;
typedef struct td_code td_code; /* section 13 */

/* -- 2. Status and messages ---------------------------------------------------------------------------------------- */

/* sv/td_status.svh has the same numbers; a simulation test compares the two. */
typedef enum td_status {
    TD_OK = 0,
    TD_ARGUMENT = 1,      /* an argument that is NULL, or that makes no sense */
    TD_HANDLE = 2,        /* a handle from SystemVerilog that is null, stale, or of another kind */
    TD_DTYPE = 3,         /* an unknown element type, or one that does not fit the call */
    TD_PATTERN = 4,       /* a pattern that does not parse, or an axis that is not bound */
    TD_OPTION = 5,        /* an unknown option, or a value it cannot have */
    TD_ADDRESS = 6,       /* an address expression that does not parse or cannot be evaluated */
    TD_SHAPE = 7,         /* sizes that contradict the shape, or a group that does not divide (not TD_SHAPE(...)) */
    TD_RANGE = 8,         /* a lane past the word, an address past the memory, a value past its type */
    TD_ALIAS = 9,         /* two elements in one place */
    TD_OVERFLOW = 10,     /* a product of sizes that does not fit in 63 bits */
    TD_DISAGREE = 11,     /* copies of one element that differ in memory */
    TD_FILE = 12,         /* a file that cannot be opened, read or written */
    TD_FORMAT = 13,       /* a file whose contents are not what its format says */
    TD_NO_MEMORY = 14,    /* the system refused memory */
    TD_X_STATE = 15,      /* bits that are x or z, in a memory that lies in a design of four states */
    TD_UNCORRECTABLE = 16 /* a coded word with more wrong bits than its code corrects */
} td_status;

/* The name of a status without its prefix ("RANGE"), or "UNKNOWN". Never NULL; never freed. */
TD_API const char *td_status_name(td_status status);

/* The message of the last failure on this thread, or "". The first line is complete in itself; further lines, if any,
 * show the pattern with a caret under the error, and the sizes. Valid until the next failing call on this thread. */
TD_API const char *td_last_error(void);

/* The version of this header (TD_VERSION), and of the library that the program runs with (td_version): "0.1.0". They
 * differ when the program was built with another release. */
#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 1
#define TD_VERSION_PATCH 0
#define TD_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define TD_VERSION_TEXT(major, minor, patch) TD_VERSION_TEXT_OF(major, minor, patch)
#define TD_VERSION TD_VERSION_TEXT(TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH)
TD_API const char *td_version(void);

/* Frees what functions of this header return "to be freed with td_free". */
TD_API void td_free(void *p);

/* -- 3. Tensors ----------------------------------------------------------------------------------------------------
 *
 * A dtype is a name:
 *     u1 .. u64, i1 .. i64       integers of every width
 *     f16 bf16 f32 f64           IEEE 754 and bfloat16
 *     e4m3 e5m2                  8-bit floats (OCP OFP8): e4m3 has NaN and no infinity, e5m2 has both
 *     e3m2 e2m3 e2m1 e8m0        OCP MX: the first three have neither infinity nor NaN; e8m0 is 2^(bits - 127), and
 *                                0xff is NaN
 *     e<X>m<Y>                   any other float as in IEEE 754: a sign bit, X exponent bits (bias 2^(X-1) - 1) and Y
 *                                mantissa bits
 *     q<m>.<n>, uq<m>.<n>        fixed point, signed and unsigned: m + n bits in steps of 2^-n; the sign of q is one of
 *                                the m bits
 *
 * Data is row-major. An element takes the smallest of 1, 2, 4 or 8 bytes that holds it, little endian; so an i4 tensor
 * has one byte per element and an i12 tensor is an array of int16_t. Signed integers are sign-extended into their
 * bytes, everything else is zero-extended. A load reads only the element's own bits. */

#define TD_MAX_RANK 32

/* A shape, passed by value. Extents are at least 1; rank 0 is a scalar. */
typedef struct td_shape {
    size_t rank;
    uint64_t dim[TD_MAX_RANK];
} td_shape;

/* A td_shape from its extents, in C only: TD_SHAPE(2, 3, 4). Without parentheses TD_SHAPE is the status of section 2,
 * because the preprocessor expands a macro with arguments only where a parenthesis follows its name. */
#define TD_SHAPE(...) ((td_shape){sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), {__VA_ARGS__}})

/* Reads "2 3 4" (spaces or commas between extents; "" is a scalar). TD_SHAPE on anything else. */
TD_API td_status td_shape_parse(const char *text, td_shape *out);

/* A tensor of zeros. TD_DTYPE for an unknown name, TD_SHAPE for an extent of 0 or too many dimensions, TD_OVERFLOW when
 * its bytes do not fit in 63 bits. */
TD_API td_status td_tensor_create(const char *dtype, td_shape shape, td_tensor **out);
TD_API void td_tensor_destroy(td_tensor **tensor);

/* The elements. td_tensor_data is NULL for a tensor that is mapped read-only from a file; use td_tensor_data_const
 * then, and read the elements with memcpy, because they may begin at any byte (numpy aligns nothing inside a .npz). */
TD_API void *td_tensor_data(td_tensor *tensor);
TD_API const void *td_tensor_data_const(const td_tensor *tensor);
TD_API const char *td_tensor_dtype(const td_tensor *tensor); /* lives as long as the tensor */
TD_API td_shape td_tensor_shape(const td_tensor *tensor);

/* The name of a tensor, for messages: when a load, dump or comparison fails, a line of the message has it.
 * td_tensor_open sets it to the name of the file; other tensors have none ("") until it is set. The string is copied;
 * NULL or "" removes the name. */
TD_API const char *td_tensor_name(const td_tensor *tensor);
TD_API td_status td_tensor_set_name(td_tensor *tensor, const char *name);

/* Changes the shape, not the elements. TD_SHAPE when the new shape has another number of elements, or an extent of 0.
 * Nothing is copied, so it works on mapped files too. */
TD_API td_status td_tensor_reshape(td_tensor *tensor, td_shape shape);
TD_API uint64_t td_tensor_elems(const td_tensor *tensor);
TD_API size_t td_tensor_elem_bytes(const td_tensor *tensor);  /* 1, 2, 4 or 8 */
TD_API unsigned td_tensor_elem_bits(const td_tensor *tensor); /* of the dtype: 1 to 64 */

/* One element by its row-major number, as its own bits (zero-extended). TD_RANGE past the end or, when setting, for
 * bits above the element's width; TD_ARGUMENT when setting in a tensor that is mapped read-only. */
TD_API td_status td_tensor_get_bits(const td_tensor *tensor, uint64_t elem, uint64_t *bits);
TD_API td_status td_tensor_set_bits(td_tensor *tensor, uint64_t elem, uint64_t bits);

/* One element as a number; what a double cannot hold is rounded to the nearest. Setting rounds to nearest, ties to
 * even, in floats and fixed point; integers accept only whole numbers in their range, TD_RANGE otherwise. */
TD_API td_status td_tensor_get_real(const td_tensor *tensor, uint64_t elem, double *value);
TD_API td_status td_tensor_set_real(td_tensor *tensor, uint64_t elem, double value);

/* A new tensor with the values converted as the string `as` (section 7) says. */
TD_API td_status td_tensor_convert(const td_tensor *tensor, const char *as, td_tensor **out);

/* The tensor as text: dtype, shape, and the values as NumPy prints them, shortened when there are more than 1000. Free
 * it with td_free. */
TD_API td_status td_tensor_text(const td_tensor *tensor, char **text);

/* Two generators for whole tensors. td_tensor_fill_ramp sets element i to start + i * step, wrapped to the width in
 * integers and rounded to nearest even in floats. td_tensor_fill_random sets uniformly random bits, but no infinities
 * and NaNs in floats; the same seed gives the same tensor on every machine. */
TD_API td_status td_tensor_fill_ramp(td_tensor *tensor, double start, double step);
TD_API td_status td_tensor_fill_random(td_tensor *tensor, uint64_t seed);

/* Sets the bits of each element to its own coordinates, so that an element found in the wrong place tells where it
 * belongs. Each dimension takes as many bits as it needs, the last dimension the lowest ones. TD_RANGE when an element
 * has too few bits. */
TD_API td_status td_tensor_fill_coordinates(td_tensor *tensor);

/* Fills a tensor from a distribution, which is given as text:
 *
 *     uniform min=-1 max=1 seed=7    every value of the range is equally likely. Integers and fixed point: from min= to
 *                                    max=, both included; by default the whole range of the type. Floats: -1 to 1 by
 *                                    default (e8m0: 0.5 to 2), rounded to nearest
 *     normal mean=0 sigma=1 seed=7   normally distributed, rounded to nearest; values past the range become the nearest
 *                                    number of the type, never infinity
 *     sparse zeros=0.9 ...           zero with that probability, otherwise a uniform value that is not zero; takes the
 *                                    options of uniform. zeros= may be added to uniform and normal, too
 *     corners seed=7                 each of these in turn: zeros, ones, the ends of the range and their neighbours,
 *                                    subnormals, infinities and a NaN; `finite` leaves out infinities and NaN
 *     random seed=7                  as td_tensor_fill_random
 *     ramp start=0 step=1            as td_tensor_fill_ramp
 *     coordinates                    as td_tensor_fill_coordinates
 *
 * The seed is 0 by default. The same text gives the same tensor on every machine. TD_OPTION for any other word,
 * TD_RANGE for a min= or max= that the dtype cannot hold. */
TD_API td_status td_tensor_fill(td_tensor *tensor, const char *what);

/* Steps on tensors: each makes a new tensor and leaves its operands as they are; a refused one makes none.
 *
 * td_tensor_slice takes a part as NumPy writes it, "3, 0:16:2, :": indices and begin:end:step, counted from the end
 * where they are negative, and "..."; an index drops its dimension, and dimensions that are not mentioned stay whole.
 * TD_OPTION for other text, TD_RANGE for an index past the end, TD_SHAPE for a part of no element. */
TD_API td_status td_tensor_slice(const td_tensor *tensor, const char *text, td_tensor **out);

/* Joins tensors of one dtype along dimension `axis`, which alone may differ in length; TD_DTYPE or TD_SHAPE otherwise.
 * */
TD_API td_status td_tensor_concat(const td_tensor *const *tensors, size_t count, size_t axis, td_tensor **out);

/* Dimension i of the result is dimension order[i] of the tensor: "0 2 1". NULL or "" reverses all. TD_OPTION unless the
 * order has every dimension once. */
TD_API td_status td_tensor_transpose(const td_tensor *tensor, const char *order, td_tensor **out);

/* Elementwise sums and products of two tensors of one dtype, products with a number, and values brought into a range.
 * The result has the dtype and shape of the first tensor. The second is broadcast into that shape as NumPy does it:
 * from the last dimension on, extents are equal or 1. The options, NULL or "" for none, are words:
 *     axis=N     the second tensor is a vector along dimension N
 *     error      a result past the range is TD_RANGE, with the first such element in the message; the default of
 *                integers and fixed point, and for them alone
 *     wrap       it is taken modulo 2^bits; for integers and fixed point alone
 *     sat        it becomes the nearest number of the type; in floats infinities do, too
 *     inf        it becomes what a conversion with `inf` gives (section 7); for floats alone. Their default is that of
 *                conversions: sat up to 8 bits, inf above
 *
 * Integers are added and multiplied exactly, and so is fixed point, whose product is then rounded once, to nearest
 * even. With a number, integers and fixed point are multiplied in f64, and the product is rounded to the nearest step,
 * ties to even. Floats are computed in f32 where it holds every value of the type, else in f64, and converted back;
 * every rounding is to nearest even, and the number is rounded to the type that is computed in. Where the result is no
 * number, it is the type's positive quiet NaN without payload. So the bits are the same on every machine.
 *
 * td_tensor_clamp makes values below `low` that bound and values above `high` that one. Bounds are rounded to the type;
 * those past its range do nothing, infinities neither. TD_RANGE when no value of the type is within, or when a bound of
 * integers is not whole, TD_ARGUMENT when low is above high. NaNs stay, without payload. */
TD_API td_status td_tensor_add(const td_tensor *a, const td_tensor *b, const char *options, td_tensor **out);
TD_API td_status td_tensor_mul(const td_tensor *a, const td_tensor *b, const char *options, td_tensor **out);
TD_API td_status td_tensor_scale(const td_tensor *tensor, double factor, const char *options, td_tensor **out);
TD_API td_status td_tensor_clamp(const td_tensor *tensor, double low, double high, td_tensor **out);

/* -- 4. Memories ---------------------------------------------------------------------------------------------------
 *
 * Words of `width` bits, zero at first. Word w begins at byte w * td_memory_word_bytes(m), little endian, and bits
 * above `width` are zero. Up to 64 bits a word takes 1, 2, 4 or 8 bytes, above that whole 32-bit words; Verilator
 * stores such an array in the same way. The system provides pages when they are first touched, so a memory of 2^40
 * words is made in microseconds. */

#define TD_MAX_WIDTH_BITS ((uint64_t)1 << 24)
#define TD_MAX_DEPTH_WORDS ((uint64_t)1 << 40)

/* `name` is used in messages; it is copied. TD_ARGUMENT for a width or depth of 0 or above the limits, TD_NO_MEMORY
 * when the memory does not fit in the address space. */
TD_API td_status td_memory_create(const char *name, uint64_t width_bits, uint64_t depth_words, td_memory **out);
TD_API void td_memory_destroy(td_memory **memory);

/* What it was created with, and the bytes that a word takes in calls (section 6). NULL has the name "" and zeros. */
TD_API const char *td_memory_name(const td_memory *memory);
TD_API uint64_t td_memory_width_bits(const td_memory *memory);
TD_API uint64_t td_memory_depth_words(const td_memory *memory);
TD_API size_t td_memory_word_bytes(const td_memory *memory);

/* The storage itself, for a model of the memory's ports that reads and writes single words. Bits above `width` must
 * stay zero. */
TD_API void *td_memory_data(td_memory *memory);

/* Sets every word to zero and returns the pages to the system. */
TD_API td_status td_memory_clear(td_memory *memory);

/* Fills `count` words from `first` on:
 *
 *     zero  one           every bit 0, or 1
 *     constant=VALUE      every word VALUE: decimal, or hex (0x) of up to the word's width
 *     address             every word its own address, truncated to the width
 *     random seed=N       random bits, which depend only on the seed (default 0) and on the word's address
 *
 * To see what a layout puts into every word, load a tensor that td_tensor_fill_coordinates has filled. */
TD_API td_status td_memory_fill(td_memory *memory, const char *what, uint64_t first, uint64_t count);

/* A memory that lies in others: its words are `width_bits` wide and `depth_words` many, and every bit of them has a
 * place in the arrays, as an SRAM is made of macros. A layout says where: that of a tensor of single bits of shape
 * (depth, width), whose banks are the arrays:
 *
 *     (t r) k -> t r k                    tiles by depth: t macros, one after the other
 *     w (s k) -> s w k                    bit slices: s macros side by side
 *     (r p) k -> r (k p)                  p words in a row, their bits interleaved (column multiplexing)
 *     (t r p) (s k) -> (t s) r (k p)      all three
 *     w k -> m w k            m=2         mirrored: written to both, and held against each other when read
 *
 * and with address expressions rows in any order. The memory is used like any other, in every call. What a call looks
 * at is read from the arrays, and what it writes is written there before it returns, so that the arrays may be used by
 * themselves in between. Bits of the arrays that have no bit of the memory, as spare columns, are never touched.
 *
 * The arrays have one geometry, may lie over others themselves, and have to live as long as the memory.
 * TD_ARGUMENT for arrays that are NULL, of different geometries or twice in the list; what a layout is refused for
 * otherwise: every bit in one place, inside its array, no two in one; TD_OPTION with alias=last, TD_PATTERN with
 * windows, as (a + b). A read of a mirrored word whose copies differ is
 * TD_DISAGREE. td_memory_data of such a memory is NULL. */
TD_API td_status td_memory_over(const char *name, uint64_t width_bits, uint64_t depth_words,
                                const td_layout *organisation, td_memory *const *arrays, size_t count, td_memory **out);

/* A memory of data words over one of coded words: `raw` has words of td_code_coded_bits(code) bits (section 13), and
 * may be of any kind; the memory has as many words, of td_code_data_bits(code). Every write computes the check bits,
 * with the word's own address where the code covers address bits; a write of a part of a word decodes the word first,
 * and codes it anew as a whole. Every read checks: a wrong bit that the code corrects is corrected and counted, and
 * stays as it is in `raw` until the word is written; a subword with more is TD_UNCORRECTABLE, and the message has the
 * word, the subword, the syndrome and, in calls on tensors, the coordinate of an element that lies there. The coded
 * words themselves are those of `raw`, which may be read and written in between: a word that was never written holds
 * what `raw` holds, and zeros are no word of an inverted code.
 *
 *     check=on       the default
 *     check=off      reads give the data bits as they stand, and nothing is counted
 *
 * `options` may be NULL. `raw` has to live as long as the memory; the code may be destroyed before. TD_ARGUMENT for a
 * memory of another width, TD_OPTION for other words. td_memory_data is NULL. Memories that lie over others, of this
 * kind or of td_memory_over, have a copy of their words: one thread at a time may use them, also to read. */
TD_API td_status td_memory_coded(const char *name, const td_code *code, td_memory *raw, const char *options,
                                 td_memory **out);

/* A user's codec between a memory and the one below it, as scrambling: a pair of functions that turn a run of words
 * into what is stored, and back. They get the words as memories store them, little endian and with zeros above the
 * width, and give them so; anything but 0 refuses the call that needed them, and nothing has changed. */
typedef struct td_codec_run {
    uint64_t first, count; /* addresses of the words, in the memory above */
    uint64_t word_bits;    /* of a word above, */
    size_t word_bytes;     /* td_memory_word_bytes */
    uint64_t stored_bits;  /* and of one below */
    size_t stored_bytes;
} td_codec_run;

#define TD_CODEC_VERSION 1u

typedef struct td_codec {
    uint32_t version;   /* TD_CODEC_VERSION */
    const char *name;   /* for messages; NULL: "codec" */
    uint64_t word_bits; /* of the memory above; 0: as below */
    int (*encode)(void *context, const td_codec_run *run, const void *words, void *stored);
    int (*decode)(void *context, const td_codec_run *run, const void *stored, void *words);

    /* NULL: every word is stored at its own address. Otherwise the address below of a word, in memories of `depth`
     * words; each word has one of its own, which is checked when the memory is made. A run has then one address after
     * another above and below. */
    uint64_t (*place)(void *context, uint64_t word, uint64_t depth);
    void *context; /* for these functions; has to live as long as the memory */
} td_codec;

/* A memory of as many words as `below`, which goes through the codec. The struct is copied; `below` has to live as long
 * as the memory, and may be of any kind. A partial write decodes first. TD_ARGUMENT for a codec without both functions
 * or of another version, TD_RANGE or TD_ALIAS for places outside or taken. */
TD_API td_status td_memory_through(const char *name, const td_codec *codec, td_memory *below, td_memory **out);

/* The codec FILE:SYMBOL of a shared library, "./scrambler.so:prince", where `const td_codec prince = {..};` stands in
 * it; a FILE without a / is looked for as the system looks for libraries. The library stays loaded to the end of the
 * program. TD_FILE where it cannot be loaded or has no such symbol, TD_FORMAT where that is no codec of this version.
 */
TD_API td_status td_codec_open(const char *path, const td_codec **out);

/* Chooses what happens to bits that are x or z, in a memory whose words came from a four-state design. "error" (the
 * default): a dump, a comparison or a read of such bits is TD_X_STATE, and the message has the coordinates of the
 * elements. "zero": they are read as 0. "keep": a dump leaves such elements of the tensor unchanged, a comparison
 * counts them as mismatches, and reads give 0. In a call over several banks the policy of the first bank applies.
 * A memory that lies over others has its own policy: bits that are x in its arrays are x in its words. With a code a
 * subword with such a bit is x as a whole, and is neither corrected nor counted (with check=off only the bit is); with
 * a codec the whole word is, and the codec does not see it. A write makes known what it writes; what is left of an x in
 * the same subword, or in a word that goes through a codec, keeps all of it x. */
TD_API td_status td_memory_set_x(td_memory *memory, const char *policy);

/* Makes `count` words from `first` on x, down to the arrays that the memory lies in, until they are written. In the
 * array of a design of four states they become x there; memories of the library keep a note of it, and the policy above
 * applies. Where td_memory_data has given out the storage of one, as it does to the ports of a model, it has two
 * states: TD_ARGUMENT, and what was x there is 0 from then on. */
TD_API td_status td_memory_invalidate(td_memory *memory, uint64_t first, uint64_t count);

/* -- 5. Layouts ----------------------------------------------------------------------------------------------------
 *
 *     pattern:  b w (ct cs) -> (b w ct) cs
 *     options:  cs=4 pad=0
 *     address:  0x100 + 16*b + 4*w + ct
 *
 * Pattern. Left of the arrow stands one group per tensor dimension. A group is an axis, or several axes in parentheses,
 * of which the first varies slowest. Right of the arrow stand two groups: the *word* axes (which word) and the *lane*
 * axes (where in the word), again the slowest first. With three groups the first one holds the *bank* axes (which of
 * several memories).
 *
 *     1  ()          a group of one element, on either side
 *     ...            any number of whole dimensions; once on each side, on the right also inside a group: "b ... c ->
 *                    (b ...) c"
 *     r c -> (r k) c an axis that stands only on the right is a repeat: a load writes every copy, a dump checks that
 *                    the copies agree (TD_DISAGREE) before it changes the tensor. Its size comes from the options
 *     (2*h + kh)     a sliding window: element 2*h + kh of the dimension. Windows may overlap, and an element in
 *                    several of them is copied like a repeat; elements in none are not moved. The last window must end
 *                    at the last element, or, with tail=clip, not after it
 *
 * With one group on the right the layout is *flat*, as C stores an array: the elements follow one another in the bits
 * of consecutive words, across the ends of rows and words. "... -> (...)" with address 0x40 is an array of any shape
 * that begins in word 0x40; lsb= is the bit where it begins, which may lie in a later word. The address must be a
 * constant. Other bits in the first and the last word of the array are not changed. In memories whose words are stored
 * with gaps between them (any width but 8, 16 and multiples of 32 bits), the axes of a flat layout must be in the
 * tensor's order, without padding and repeats.
 *
 * A pattern has up to 64 axes. Their names consist of letters, digits and _, and must not be those of the options below
 * or `index`.
 *
 * Sizes come from the shape and from the options; one unknown size per left group is inferred.
 *
 * Options, separated by spaces or commas:
 *     AXIS=N         the size of an axis
 *     pad=VALUE      a dimension that does not fill its group is padded with VALUE, which is written to memory. VALUE
 *                    is of the memory's dtype: -1, 0.5, 0x7f. Without pad= or tail= such a dimension is an error. When
 *                    every size is given, a group may be longer than its dimension
 *     pad_at=end     where the padding stands in the group: `end` (default) or `begin`
 *     tail=clip      padding is not written at all: neither words that hold nothing else, nor the padding lanes of
 *                    other words. Words that hold only padding may lie outside the memory
 *     slot=BITS      the distance from lane to lane; default: the bits of an element
 *     lsb=BITS       where lane 0 begins; default: 0
 *     lanes=lsb      the end of the word that lane 0 is at: `lsb` (default) or `msb`, where the last lane begins at
 *                    bit `lsb`
 *     beats=N        a vector is N consecutive words: its lanes * slot bits are cut into N equal parts, the low part
 *                    first, each placed from `lsb`. An element may lie across a cut. The address is that of the first
 *                    word
 *     fill=zero      the bits of a written word that belong to no lane: `zero` (default) or `keep`
 *     alias=error    two words in one place: `error` (default), or `last`: words are written in pattern order and the
 *                    last wins
 *     addr_unit=word what the address counts: `word` (default) or `byte`. Words of W bits are then W/8 addresses apart,
 *                    and the default address is (W/8)*index; the address of a flat layout is that of its first byte
 *     elf=FILE       the ELF file in which @sym in the address is looked up; a path without spaces and commas
 *     dtype=T        the layout is only for memories that hold this dtype; any other is an error
 *     tune=off       `on`: the first call with a new shape, dtype or memory times the possible orders of its loops and
 *                    keeps the fastest; `off` (default) estimates it. Timing takes up to a second per direction and up
 *                    to 1 GiB of scratch memory per side, so it is for large permutes that are repeated. The data that
 *                    is moved is the same
 *
 * Lane l of L starts at bit lsb + l*slot of its word, with lanes=msb at lsb + (L-1-l)*slot. Bit 0 is the least
 * significant.
 *
 * Address: an expression over the axes by name that gives the address of a word, counted in words. It has the operators
 * + - * / % & | ^ << >> ( ) with the precedence of C, decimal and 0x constants, and
 *     index              the number of the word in pattern order (the last word axis fastest); the default address is
 *                        index, or N*index with beats=N
 *     dim(n)             the length of tensor dimension n, a constant once the shape is known
 *     min(x, y)  max(x, y)
 *     @sym(NAME)         the value of a symbol in the file elf=FILE, looked up when the layout is made. Linkers count
 *                        bytes: "... -> (...)" with addr_unit=byte and the address @sym(weights) is the array `weights`
 *                        of a program
 *     rev(x, bits)       the low `bits` of x in reverse order
 *     interleave(x, y)   Morton order: the bits of x at even places, those of y at odd ones
 * Division and remainder truncate toward zero as in C. Banks may be computed too: "bank = (c ^ h) & 7; addr = 8*h + w".
 * An address that names a lane axis puts each lane into a word of its own, at that lane's bits: with "r c -> r c" and
 * address r + c, the operand of a systolic array is skewed, each column one word later than the one before. fill=zero
 * then clears every word that has a lane before any lane is written. An address that is a sum of constant * axis is
 * computed with strides; any other becomes a table in the plan with one entry per word, built and checked once.
 *
 * Presets. A pattern "preset:NAME KEY=VALUE ..." stands for a layout of common hardware or of a library:
 * "preset:nc1hwc0 c0=32". The options are added to those of the preset and override them; `base=` is the address of its
 * first word; with dtype= in the options, sizes that the preset counts in bytes follow the dtype. td_layout_pattern and
 * its like give the layout that the preset stands for. `tensordoor presets` lists them. */

/* `options` and `address` may be NULL or "". TD_PATTERN, TD_OPTION or TD_ADDRESS, with the place in the message. Sizes
 * are checked against a shape when the layout is used. */
TD_API td_status td_layout_create(const char *pattern, const char *options, const char *address, td_layout **out);
TD_API void td_layout_destroy(td_layout **layout);

/* The three strings in canonical form: equal layouts print equal strings. They live as long as the layout. */
TD_API const char *td_layout_pattern(const td_layout *layout);
TD_API const char *td_layout_options(const td_layout *layout);
TD_API const char *td_layout_address(const td_layout *layout);

/* The conversion that a layout file gives with the layout, or "". Calls whose own `as` is NULL or "" use it. */
TD_API const char *td_layout_as(const td_layout *layout);

/* The memory and the tensor ("f32 64 32 3 3") that a layout file gives with the layout, or "". */
TD_API const char *td_layout_memory(const td_layout *layout);
TD_API const char *td_layout_tensor(const td_layout *layout);

/* The presets, one entry each; NULL past the last. Names and texts are never freed. */
typedef struct td_preset_info {
    const char *name;
    const char *about;      /* one line */
    const char *parameters; /* their names, separated by spaces */
} td_preset_info;

TD_API size_t td_preset_count(void);
TD_API const td_preset_info *td_preset_at(size_t number);

/* Layout files: named layouts in one text file.
 *
 *     # what testbench and golden model share
 *     weights:     pattern (ot os) (it is) kh kw -> (ot it kh kw) (os is);
 *                  options os=4 is=4; address 0x40 + index; as i8 scale=0.05;
 *                  memory wbuf; shape f32 64 32 3 3
 *     activations: preset nc1hwc0 c0=32
 *     skewed:      pattern h w c -> (h w) c; address bank = (h + w) % 4; addr = 8*h + w
 *
 * A layout begins with NAME: at the start of a line and goes on to the next one. Its clauses are separated by
 * semicolons, in any order, over any number of lines, each once: `pattern` or `preset`, `options`, `address`, `as`,
 * `memory NAME`, which says where it lies, and `shape DTYPE SIZES`, which says of what tensor, for `tensordoor where`.
 * Text after a semicolon that begins with none of these words belongs to the address before it. `#` begins a comment.
 * `part NAME` begins the clauses of a part, and makes the entry a layout of parts (section 11); behind it and behind
 * `memory NAME` the next clause needs no semicolon. An entry with `tensors FILE` is no layout: it names the tensors of
 * a packed weight (section 11).
 *
 * TD_FILE when the file cannot be read, TD_FORMAT when it is not such a file or has no layout `name` (the message then
 * has the nearest name), and every status of td_layout_create. Messages have the line number. */
TD_API td_status td_layout_open(const char *path, const char *name, td_layout **out);

/* The names in a layout file, one per line; free *names with td_free. */
TD_API td_status td_layout_names(const char *path, char **names);

/* A layout from a mapping as torchbit writes it: the two sides of the pattern, the sizes of the temporal axes (our word
 * axes) and of the spatial ones (our lane axes; "b=2 w=3"), the base address, and the stride of each temporal axis in
 * words ("b=16 w=4"; NULL or "": consecutive words, the first temporal axis slowest). `options` has further options and
 * may be NULL. */
TD_API td_status td_layout_from_mapping(const char *software, const char *hardware, const char *temporal,
                                        const char *spatial, uint64_t base, const char *strides, const char *options,
                                        td_layout **out);

/* What td_layout_explain and td_layout_svg show a layout with. All members but dtype and shape may be zero. */
typedef struct td_scene {
    const char *dtype; /* of the tensor */
    td_shape shape;
    const char *as;       /* what the memory holds; default: the layout's own, or the tensor's bits */
    uint64_t width_bits;  /* default: as many as the lanes need */
    uint64_t depth_words; /* default: unlimited */
    uint64_t banks;       /* default: unlimited */
    const char *colour;   /* in a picture: the axis that colours follow; default: chosen by the library */
} td_scene;

/* Explains a layout in text: its axes with their sizes and strides on both sides, the first and the last words with the
 * tensor coordinate in every lane, the words and bits that are used and wasted, and the plan in one line. td_layout_svg
 * draws a picture of it, words from top to bottom, bits from left to right, banks side by side. Free the result with
 * td_free. Both fail where a load would. */
TD_API td_status td_layout_explain(const td_layout *layout, const td_scene *scene, char **text);
TD_API td_status td_layout_svg(const td_layout *layout, const td_scene *scene, char **svg);

/* -- 6. Words ------------------------------------------------------------------------------------------------------
 *
 * `words` holds `count` words of td_memory_word_bytes(m) each, as the memory stores them. TD_RANGE when an address is
 * past the memory, or a word or mask has bits above the width. A count of 0 is TD_ARGUMENT. */

/* Copies the words at these addresses, in the order of the list. */
TD_API td_status td_backdoor_read(const td_memory *memory, const uint64_t *addresses, size_t count, void *words);

/* `bit_mask` is NULL, or `count` masks in the form of words: only bits that are 1 in the mask are written. When an
 * address occurs twice, the later word wins. */
TD_API td_status td_backdoor_write(td_memory *memory, const uint64_t *addresses, size_t count, const void *words,
                                   const void *bit_mask);

/* The same with one mask bit per byte of the word: `byte_mask` holds, for each word, (bytes + 7) / 8 bytes where bytes
 * is (width + 7) / 8; mask bit k enables bits 8k .. 8k+7. */
TD_API td_status td_backdoor_write_bytes(td_memory *memory, const uint64_t *addresses, size_t count, const void *words,
                                         const void *byte_mask);

/* -- 7. Matrices and tensors ---------------------------------------------------------------------------------------
 *
 * A matrix, a tensor of rank 2 (or 1: a single row), has one row per word, in words [first, last), with element 0 at
 * the least significant bit. A row shorter than the word is zero-extended; of a row longer than the word only the bits
 * that fit are moved, and a dump reads the others as zero. TD_SHAPE when last - first is not the number of rows,
 * TD_RANGE when last is past the memory. */

TD_API td_status td_backdoor_load_matrix(td_memory *memory, const td_tensor *tensor, uint64_t first, uint64_t last);
TD_API td_status td_backdoor_dump_matrix(const td_memory *memory, td_tensor *tensor, uint64_t first, uint64_t last);

/* `as` says what the memory holds and how values are converted; NULL or "" moves the tensor's own bits unchanged.
 *
 *     i8 scale=0.05 zero=3 round=even sat
 *
 * The dtype comes first, the words after it in any order:
 *     scale=X        a load stores out_of_range(round(value / X) + zero), a dump gives X * (stored - zero); quotient
 *                    and product are rounded once to f32 (to f64 when the tensor's elements have 8 bytes)
 *     zero=N         the zero point, for integers only
 *     scale=@NAME    one scale per coordinate of an axis, from the tensor that td_scales_set calls NAME, or from a file
 *                    (scale=@scales.npy); zero=@NAME likewise
 *     axis=A         the axis of these scales: an axis on the pattern's left, or the number of a dimension
 *     round=even     ties to even (default); or `away` (ties away from zero), `zero`, `floor`, `ceil`, `stochastic`
 *     seed=N         for round=stochastic, default 0; the result depends only on the seed and on the element's number
 *     sat            values past the range, infinities too, become the nearest number of the type. The default for
 *                    integers, fixed point and floats of up to 8 bits
 *     inf            values past the range become infinity, or NaN in e4m3 and e8m0. The default for wider floats
 *     wrap           values past the range wrap modulo 2^bits; for integers and fixed point only
 *     error          a value past the range after rounding is TD_RANGE, and the message has the first such element; so
 *                    is a finite number whose quotient or product is past f32 (f64), even if the type could hold it
 *     ftz            subnormal numbers of either type become zeros of the same sign; without it they are kept
 *
 * A NaN becomes a quiet NaN with the same sign and leading bits; in floats without NaN (e3m2, e2m3, e2m1) it becomes
 * the largest number, in integers the zero point, in fixed point 0. Every float but e8m0 keeps the sign of zero. e8m0
 * has neither zero nor negative numbers: both become its smallest number, or NaN with `inf`. Between equal dtypes
 * without a scale or zero point the bits are moved unchanged, those of NaNs too.
 *
 * The whole layout is checked before any word is written: every axis has a size, every lane lies inside the word, every
 * address inside the memory, and no two elements in the same place. */
TD_API td_status td_backdoor_load_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout,
                                         const char *as);
TD_API td_status td_backdoor_dump_tensor(const td_memory *memory, td_tensor *tensor, const td_layout *layout,
                                         const char *as);

/* The same over several memories of equal width and depth: the layout's bank axes, or its `bank =` expression, choose
 * the memory. */
TD_API td_status td_backdoor_load_tensor_banks(td_memory *const *banks, size_t count, const td_tensor *tensor,
                                               const td_layout *layout, const char *as);
TD_API td_status td_backdoor_dump_tensor_banks(td_memory *const *banks, size_t count, td_tensor *tensor,
                                               const td_layout *layout, const char *as);

/* A ready-made test: what a design calculates must not depend on padding. Writes poison into every padding element that
 * a load of this tensor by this layout writes, and into nothing else: random bits of `seed`, never the pad value, or
 * all ones with seed 0 (NaN in floats and in e8m0). So: load, let the design run, keep its result; load, dirty the
 * padding, run again, compare the results. td_backdoor_dirty_parts (section 11) takes all parts of a packed tensor.
 * `count` (or NULL) becomes the number of padding elements, 0 where the layout has none: such a test shows nothing.
 * Refuses what a load refuses, and TD_OPTION with alias=last, whose elements may lie over padding. */
TD_API td_status td_backdoor_dirty_padding(td_memory *memory, const td_tensor *tensor, const td_layout *layout,
                                           const char *as, uint64_t seed, uint64_t *count);
TD_API td_status td_backdoor_dirty_padding_banks(td_memory *const *banks, size_t bank_count, const td_tensor *tensor,
                                                 const td_layout *layout, const char *as, uint64_t seed,
                                                 uint64_t *count);

/* Registers a tensor of scales or zero points under a name, for scale=@NAME and zero=@NAME. The values are copied, so
 * the tensor may change or be destroyed afterwards. Setting the name again replaces them; a NULL tensor removes the
 * name. All threads share the names. */
TD_API td_status td_scales_set(const char *name, const td_tensor *tensor);

/* -- 8. Files ------------------------------------------------------------------------------------------------------
 *
 * All calls take file names of the same form:
 *
 *     [FORMAT[,KEY=VALUE...]:]PATH[:MEMBER]
 *
 *     weights.npy                                    the extension tells the format
 *     model.safetensors:layer.0.weight               one of several tensors
 *     raw,dtype=f32,shape=2x3x4:dump.dat             a format by name, with options
 *     elf,base=0x80000000,bss=zero:firmware          the same for memory images
 *
 * Write ./npy:x for a file that is really called npy:x. A file is first written under a temporary name and then
 * renamed, so on failure the old one is still there. A symbolic link stays a link, and the file that it leads to is
 * replaced. Devices and pipes are written directly. The path - is standard input or standard output, in the format npy
 * for a tensor and readmemh for an image unless another is given (raw:-); standard input is read once, and every call
 * gets the same bytes.
 *
 * Tensors. A file of 1 MiB or more whose elements are stored as a tensor stores them is mapped, not read: a large file
 * opens as fast as a small one, and only the parts that are used take memory. Such a file must keep its length as long
 * as the tensor exists. A call on a tensor whose file has been truncated is TD_FILE; but truncating it during the call,
 * or reading td_tensor_data_const or single elements afterwards, ends the program with SIGBUS. To replace such a file,
 * rename a new one over it, as the calls here do. `dtype` (in the call, or as an option) is NULL to use the file's own,
 * or says what the bytes mean (bf16 for a `u2` or `V2` file; i4 for an `i1` file, whose values are then checked).
 *
 *     npy          .npy          versions 1 to 3, either byte order, Fortran order on reading; objects are refused.
 *                                Saving writes version 1 in C order: integers as the `i1` .. `u8` they lie in (i4 as
 *                                `i1`), floats that numpy has no name for as their bytes (bf16 as `V2`), so open these
 *                                with their dtype
 *     npz          .npz          stored members are mapped, without checking their sums; deflated members are inflated
 *                                and checked; 64-bit archives too. MEMBER is numpy's name, without .npy. Saving does
 *                                not compress. Needs zlib
 *     safetensors  .safetensors  every type of the format that is a dtype here (BOOL is u1, F4 is e2m1, F8_E4M3 is
 *                                e4m3); holes and overlaps are refused. Needs jansson
 *     raw          .raw .bin     only the elements: dtype=T, shape=2x3 (default: one dimension), offset=BYTES,
 *                                endian=big
 *
 * MEMBER may be left out when the file holds one tensor; saving without it names the tensor arr_0 (npz) or tensor
 * (safetensors).
 *
 * Memory images. Loading one writes the words or bytes that the file gives, or nothing when anything in it is wrong.
 * The file is read completely before that; one that is truncated meanwhile is TD_FILE.
 *
 *     readmemh     .hex .mem .vmem .memh   $readmemh text: `@address` in words and hex, `_`, both comment styles
 *     readmemb     .memb                   $readmemb text
 *                    x=0 x=1               what x, z and ? digits become; without it they are refused, with their line
 *                    unit=byte             every number is a byte, `@address` counts bytes (objcopy -O verilog)
 *                    address=byte          numbers are words, `@address` counts bytes
 *     raw          .bin .raw               words of (width + 7) / 8 bytes from word 0 on
 *     mif          .mif                    memory initialisation of Intel's FPGA tools; its WIDTH is that of the memory
 *     coe          .coe                    coefficients of AMD's FPGA tools: words from word 0 on
 *     ihex         .ihex .ihx              Intel hex, records 00 to 05
 *     srec         .srec .s19 .s28 .s37 .mot   Motorola S-records
 *     elf          .elf .axf               the loadable segments; read only. Needs libelf
 *                    bss=zero              the part of a segment that is in memory but not in the file (.bss) is set
 *                                          to zero; default: bss=keep
 *                    address=virtual       virtual addresses; default: physical
 *                    section=NAME          one section, as section=.text; default: every loadable segment
 *                    outside=skip          also for ihex and srec: what lies below base= or past the memory is skipped
 *                                          and counted (td_memory_load_file_part); default: outside=error. With it one
 *                                          file can fill several memories, each with its own base=
 *
 * Where a file counts bytes, byte a - base lies in word (a - base) / B with B = (width + 7) / 8, at bits 8k .. 8k+7
 * with k = (a - base) % B, or B - 1 - (a - base) % B with endian=big. base=ADDRESS (default 0) is the address in the
 * file of word 0: in bytes, or in words in readmem text. A word that a file gives only in part keeps its other bytes.
 * */

/* TD_ARGUMENT for a name or an option that is none of the above, TD_FILE for what cannot be opened, read or written,
 * TD_FORMAT for contents that are not what the format says. */
TD_API td_status td_tensor_open(const char *path, const char *dtype, td_tensor **out);
TD_API td_status td_tensor_save(const td_tensor *tensor, const char *path);

/* The names of the tensors in a .npz, .safetensors or .gguf file, allocated as one block: free *names with td_free. */
TD_API td_status td_tensor_members(const char *path, char ***names, size_t *count);

/* Saves several tensors to one .npz or .safetensors file, which is replaced. (td_tensor_save refuses to overwrite a
 * file that holds other tensors too.) */
TD_API td_status td_tensor_save_all(const char *const *names, const td_tensor *const *tensors, size_t count,
                                    const char *path);

/* What a file of this name can be opened as: bits of td_file_use; 0 for an unknown format. Looks at the name only, not
 * at the file. */
typedef enum td_file_use {
    TD_USE_TENSOR = 1,
    TD_USE_IMAGE = 2,
    TD_USE_MEMBERS = 4 /* a file of several tensors, and none is named */
} td_file_use;
TD_API unsigned td_file_kind(const char *path);

/* Words [first, first + count) of a memory. */
typedef struct td_span {
    uint64_t bank;
    uint64_t first;
    uint64_t count;
} td_span;

/* Loads an image; words that the file does not give stay. Status as td_tensor_open, and TD_RANGE for an address past
 * the memory. */
TD_API td_status td_memory_load_file(td_memory *memory, const char *path);

/* The same, and tells what part of the file was skipped because it does not lie in the memory (outside=skip): how many
 * bytes, and the lowest and the highest of their addresses in the file; all 0 when nothing was skipped. A file of which
 * nothing lies in the memory is TD_RANGE. */
typedef struct td_image_outside {
    uint64_t bytes;
    uint64_t first;
    uint64_t last;
} td_image_outside;
TD_API td_status td_memory_load_file_part(td_memory *memory, const char *path, td_image_outside *outside);

/* The depth that an image needs in words of `width_bits`: its highest address + 1. */
TD_API td_status td_image_depth(const char *path, uint64_t width_bits, uint64_t *depth_words);

/* The words that the image gives, in ascending order and merged into spans; free *spans with td_free. */
TD_API td_status td_image_spans(const char *path, uint64_t width_bits, td_span **spans, size_t *count);

/* Saves the words of the spans, which must be in ascending order and of one bank. Text files get an `@address` before
 * each span that does not follow directly on the one before. Raw files have no addresses, so they hold all words from
 * word 0 to the end of the last span. On failure no file is left behind. */
TD_API td_status td_memory_save_file(const td_memory *memory, const char *path, const td_span *spans, size_t count);

/* -- 9. What a layout touches --------------------------------------------------------------------------------------
 *
 * The words that a load of this tensor through this layout writes, in ascending order and merged into spans; free
 * *spans with td_free. Width and depth are those of the memory; with memory NULL, the width is `width_bits` and the
 * depth is unlimited, which tells the depth that a layout needs. */
TD_API td_status td_layout_spans(const td_layout *layout, const td_tensor *tensor, const char *as, uint64_t width_bits,
                                 const td_memory *memory, td_span **spans, size_t *count);

/* -- 10. Comparisons and reports -------------------------------------------------------------------------------------
 *
 * Is it right, and if not, where? A comparison reads the memory through the layout, as a dump would, and compares every
 * element with a golden tensor; nothing is copied first. A comparison that finds mismatches returns TD_OK and a report;
 * only one that cannot be made fails. One that would compare no element at all, for example because its mask is all
 * zero, is TD_ARGUMENT.
 *
 * The policy says which pairs count as equal. NULL or "" is `exact`. Its words are separated by spaces or commas:
 *     exact             equal bits
 *     atol=X rtol=X     |actual - expected| <= atol + rtol * |expected|, computed in double (64-bit integers: exactly)
 *     ulp=N             at most N steps of the tensor's own dtype apart; together with atol= or rtol=, a pair need only
 *                       pass one of the two
 *     nan=bits          a NaN equals a NaN of the same bits (the default of exact); nan=equal: it equals any NaN (the
 *                       default of the other policies); nan=differ: it equals nothing
 *     inf=equal         an infinity equals only itself (the default); inf=differ: it equals nothing
 *     zero=differ       0 and -0 differ (the default of exact); zero=equal: they are equal (the default of the others)
 *     ftz               subnormal numbers count as zeros of their sign
 *     max=N             how many mismatches the report keeps with their place, the first in row-major order; default:
 *                       16
 *     check_pad         padding must hold the layout's pad value too
 *     stats             statistics over all pairs are computed, see td_report_statistics
 * No value is skipped: a NaN or an infinity on one side alone is a mismatch under every policy. TD_OPTION on any other
 * word. Every copy of a repeated element is compared. With `as`, memory values are converted as in a dump and compared
 * in the golden tensor's dtype. */

typedef struct td_report td_report;

TD_API td_status td_backdoor_compare_tensor(const td_memory *memory, const td_tensor *golden, const td_layout *layout,
                                            const char *policy, const char *as, td_report **out);
TD_API td_status td_backdoor_compare_tensor_banks(td_memory *const *banks, size_t count, const td_tensor *golden,
                                                  const td_layout *layout, const char *policy, const char *as,
                                                  td_report **out);

/* Two tensors of one dtype and shape. */
TD_API td_status td_tensor_compare(const td_tensor *expected, const td_tensor *actual, const char *policy,
                                   td_report **out);

/* All settings of a comparison; zero is the default of every member. Either memories are compared (`banks`,
 * `bank_count` and `layout`), or a tensor (`actual`). */
typedef struct td_comparison {
    td_memory *const *banks; /* only read */
    size_t bank_count;
    const td_tensor *actual;
    const td_tensor *golden;
    const td_layout *layout;
    const char *policy;
    const char *as;
    const td_tensor *mask;      /* of the golden tensor's shape; elements where it is 0 are not compared */
    td_memory *const *snapshot; /* one per bank, from td_memory_snapshot: bits outside the layout must not differ */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* called now and then, in elements */
    void *context;
} td_comparison;

/* TD_ARGUMENT where `golden` is missing, or where memories and a tensor are given, or neither. */
TD_API td_status td_compare(const td_comparison *what, td_report **out);

/* A copy of a memory as it is now. */
TD_API td_status td_memory_snapshot(const td_memory *memory, td_memory **out);

TD_API void td_report_destroy(td_report **report);

/* Sets the simulation time of the comparison, as text ("1250 ns"), which JSON and page then show. */
TD_API td_status td_report_set_time(td_report *report, const char *time);

TD_API int td_report_passed(const td_report *report);        /* 1 when nothing differs */
TD_API uint64_t td_report_compared(const td_report *report); /* elements, including copies, without masked ones */
TD_API uint64_t td_report_mismatches(const td_report *report);
TD_API uint64_t td_report_pad_mismatches(const td_report *report); /* check_pad */
TD_API uint64_t td_report_outside_bits(const td_report *report);   /* changed since the snapshot */

/* The largest distance of all compared pairs, whether accepted or not, except NaNs: in steps, and in value. */
TD_API uint64_t td_report_worst_ulp(const td_report *report);
TD_API double td_report_worst_error(const td_report *report);

/* Statistics of a comparison whose policy has the word `stats`, over all compared pairs of finite numbers, in f64:
 * the mean of |actual - expected| / |expected| over those whose expected value is not 0, the mean of (actual -
 * expected)^2, and the cosine of the angle between the two as vectors (1 when all values are 0). They take a second
 * pass where something differs, and nothing otherwise. A checkpoint of a program (section 16) always has them. Returns
 * 0, and leaves *out, where the policy did not ask. */
typedef struct td_statistics {
    double mean_relative_error, mse, cosine;
} td_statistics;

TD_API int td_report_statistics(const td_report *report, td_statistics *out);

/* One of the first mismatches. `expected` and `actual` are bits of the tensor's dtype. The place is that of the
 * element's lowest bit, and [msb:lsb] are its bits in that word; `lane` counts slots of the word. When two tensors are
 * compared, the place is all zero. */
typedef struct td_mismatch {
    uint64_t elem; /* row-major number */
    td_shape at;
    uint64_t expected, actual;
    double expected_value, actual_value;
    uint64_t ulp;
    double error; /* NaN when one of the two is */
    uint64_t bank, address, msb, lsb, lane;
} td_mismatch;

/* How many the report keeps (max=N of the policy), and one of them, from 0 on; TD_RANGE past the last. */
TD_API size_t td_report_first_count(const td_report *report);
TD_API td_status td_report_first(const td_report *report, size_t number, td_mismatch *out);

/* Of a memory that lies over others (section 14): where the wrong bits of such a mismatch lie in the macros, as runs:
 * `bits` bits, each `step` columns from the one before. Bits are wrong where expected and actual differ; after a
 * conversion, and of x, all bits of the element are taken. Of a bit with copies it is the first. The macros of several
 * banks are counted one bank after the other. */
typedef struct td_report_bits {
    size_t macro;
    const char *name; /* of the macro; lives as long as the report */
    uint64_t row, column, bits;
    int64_t step;
} td_report_bits;

TD_API size_t td_report_place_count(const td_report *report, size_t number); /* 0 for other memories */
TD_API td_status td_report_place(const td_report *report, size_t number, size_t place, td_report_bits *out);

/* How mismatches are distributed: a group for each axis of the pattern, one for banks ("bank", if there are several)
 * and one for lanes ("lane"), each with the number of mismatches per step. Axes of more than 1024 steps are counted in
 * buckets, and a step gives the count of its bucket. Memories that lie over others have three more, "macro", "row" and
 * "column", which count wrong bits. A report without mismatches has no groups. */
TD_API size_t td_report_group_count(const td_report *report);
TD_API const char *td_report_group_name(const td_report *report, size_t group);
TD_API uint64_t td_report_group_size(const td_report *report, size_t group);
TD_API uint64_t td_report_group_mismatches(const td_report *report, size_t group, uint64_t step);

/* A guess at what the mismatches have in common, number 0 the surest: "all mismatches in lane 3"; NULL past the last.
 * */
TD_API const char *td_report_guess(const td_report *report, size_t number);

/* The report in one line, as text for a log, as JSON (free both with td_free), and as an HTML page that needs no other
 * file. */
TD_API const char *td_report_line(const td_report *report); /* lives as long as the report */
TD_API td_status td_report_text(const td_report *report, char **text);
TD_API td_status td_report_json(const td_report *report, char **json);
TD_API td_status td_report_html(const td_report *report, const char *path);

/* Checkpoints: the reports of many comparisons, by name and in the order of a test, as one. The first that differs is
 * where the test went wrong; text and page show its whole report first, and a table with a line for each.
 *
 * `name` is that of the test, for headings and JUnit; it is copied. td_checkpoints_add appends a report and takes it
 * over: *report is NULL afterwards; on failure it stays the caller's. Names may occur more than once. */
typedef struct td_checkpoints td_checkpoints;

TD_API td_status td_checkpoints_create(const char *name, td_checkpoints **out);
TD_API void td_checkpoints_destroy(td_checkpoints **checkpoints); /* and its reports */
TD_API td_status td_checkpoints_add(td_checkpoints *checkpoints, const char *name, td_report **report);

/* Names and reports live as long as the list; NULL past the last. */
TD_API size_t td_checkpoints_count(const td_checkpoints *checkpoints);
TD_API const char *td_checkpoints_title(const td_checkpoints *checkpoints); /* the name of the test */
TD_API const char *td_checkpoints_name(const td_checkpoints *checkpoints, size_t number);
TD_API const td_report *td_checkpoints_report(const td_checkpoints *checkpoints, size_t number);

TD_API int td_checkpoints_passed(const td_checkpoints *checkpoints); /* 1 when every report passed, or there is none */
TD_API size_t td_checkpoints_failed(const td_checkpoints *checkpoints); /* how many did not */
TD_API size_t td_checkpoints_first(const td_checkpoints *checkpoints);  /* the first that did not, or the count */

/* In one line, which lives until the next is added; as text, as JSON and as JUnit XML for CI (free them with td_free);
 * and as an HTML page that needs no other file, with the list at the left. */
TD_API const char *td_checkpoints_line(const td_checkpoints *checkpoints);
TD_API td_status td_checkpoints_text(const td_checkpoints *checkpoints, char **text);
TD_API td_status td_checkpoints_json(const td_checkpoints *checkpoints, char **json);
TD_API td_status td_checkpoints_junit(const td_checkpoints *checkpoints, char **xml);
TD_API td_status td_checkpoints_html(const td_checkpoints *checkpoints, const char *path);

/* -- 11. Parts -------------------------------------------------------------------------------------------------------
 *
 * A block-scaled tensor is several: elements, and a scale for every block of neighbours. A packing says how one tensor
 * becomes its parts; each part is a tensor like any other, with its own layout in its own memory.
 *
 *     mxfp4 rule=rceil axis=1 block=32
 *
 * The name comes first, and words behind it replace what the name says:
 *
 *     mxfp8 mxfp8_e5m2 mxfp6 mxfp6_e2m3 mxfp4 mxint8    OCP MX: blocks of 32, scales e8m0, rule=floor
 *     nvfp4 nvfp4_2d                                    blocks of 16 (of 16x16), scales e4m3, one f32 for the tensor
 *     nvfp4_4over6                                      the same with map=mae scale_max=256
 *     bfp8 bfp4                                         block floating point: 16 elements share an exponent (u8)
 *     int8 int4 int3 int2                               signed groups of 128, scales f16, codes -max to max
 *     uint8 uint4 uint3 uint2                           groups of 128 with zero points, scales f16, rule=gptq
 *     q4_0 q4_1 q5_0 q5_1 q8_0 ggml_mxfp4 ggml_nvfp4    ggml's blocks along the last dimension, as its reference does
 *     q2_K q3_K q4_K q5_K q6_K                          ggml's super blocks of 256, by its search without importances
 *     blocks                                            elem=i8 scale=f32 block=32 rule=absmax, to be replaced
 *
 *     elem=DTYPE, scale=DTYPE    of the elements and of the scales
 *     axis=N                     the dimension that blocks extend along, from 0 or, negative, from the last: -1 is the
 *                                default. axis=0,1 with block=16x16: along two
 *     block=N                    elements of a block; `all` is the whole dimension
 *     rule=                      how a scale is made of amax, the largest magnitude of its block. Powers of two (e8m0),
 *                                with emax the exponent of the largest element: floor 2^(floor(log2 amax) - emax); even
 *                                the same, with amax rounded to the element's mantissa first; ceil the next power of
 *                                two above; rceil the smallest at which nothing is clipped; nearest. Others: te and
 *                                torchao (NVFP4 as TransformerEngine and torchao calculate it, bit for bit), absmax
 *                                (amax / largest element), gptq and awq ((max - min) / codes, with zero points), shared
 *                                (block floating point: the largest exponent), ggml (quantize_row_*_ref of ggml for
 *                                elements of that kind: scales may be negative, codes are multiplied by 1 / scale
 *                                before it is rounded, e2m1 has halves towards 0 and no -0)
 *     round=even                 of the elements; or away, zero, floor, ceil. They saturate
 *     inf=nan                    a block with an infinity, or a scale that would pass the largest: NaN; inf=max takes
 *                                the largest. A block with a NaN has the scale NaN and elements that are NaN, or the
 *                                code of the largest number where the dtype has none, or 0 in integers
 *     void=nan                   what elements hold in a block whose scale is NaN, as said; void=zero: 0 in all of them
 *     empty=zero                 powers of two: a block of zeros has the lowest scale; empty=normal: that of 2^-126, as
 *                                microxcaling has it, which is another one for elements up to 1 (mxint8)
 *     map=six                    rule=te: the largest element becomes 6; map=mae, map=mse: 4 or 6, whichever has the
 *                                smaller sum of errors, or of their squares, as TransformerEngine's 4over6 has it
 *     scale_max=N                rule=te: scales of blocks go up to this when the tensor's scale is made; default: the
 *                                largest of their dtype, 448 of e4m3
 *     pad_scale=X                what td_backdoor_load_parts writes into the padding of scales, in place of the pad= of
 *                                their layout: pad_scale=1 is 0x7f in e8m0
 *     low=full                   signed integers and fixed point: low=symmetric leaves the lowest code out
 *     zero=DTYPE                 of the zero points, for rule=gptq and rule=awq; zero=none
 *     global=amax                te, torchao: a scale of the whole tensor from its amax; global=none; global=0.5
 *     codes=stored               absmax, gptq, awq: elements are divided by the stored scale; codes=exact: by the one
 *                                before it was rounded to its dtype
 *     min=DTYPE                  rule=ggml: minimums, added to a block's values after they are scaled; min=none
 *     super=DTYPE/N              rule=ggml: scales and minimums are integers; every N elements have the f16 d, or d and
 *                                dmin: value = element * (scale * d) - minimum * dmin; super=none. They are searched
 *                                for as quantize_row_q2_K_ref to quantize_row_q6_K_ref of llama.cpp (2026) do, without
 *                                importances: in f32, sums in the order of the elements, no product fused with a sum
 *                                (a ggml whose compiler does that may end with other bytes). Quotients past 2^22, where
 *                                the reference is not defined, saturate; with a NaN or an infinity among the N elements
 *                                d and dmin are NaN, and all codes 0. N is at most 4096
 *     tail=short                 a dimension that does not fill its blocks ends with a shorter one; tail=error refuses
 *
 * Values are f32 on the way: those of wider tensors are rounded to it first.
 *
 * A sparse tensor is its values that are not zero, in their own dtype and row-major order, and where they were:
 *
 *     2:4, any N:M    of every M neighbours along the last dimension N are kept. Parts: values; meta, words of groups
 *                     from the lowest bit on, a group N places from the lowest bit on (1:2 has the codes 4 and 0xe).
 *                     index= is a word of whole groups, of up to 32 bits: u16, or where groups do not fill that u15
 *                     for 1:8, u12 for 2:8, and so on; a group with more values is refused, or loses its least with
 *                     prune=magnitude, or what torch.sparse forgets with prune=torch; one with fewer names spare places
 *                     as torch.sparse does (spare=torch), or its first or last free ones. order=ampere is CUTLASS's and
 *                     torch's, order=marlin that of Marlin-24, order=hopper CUTLASS's for sm90, whose tiles have 64
 *                     rows of tile=N elements (128; 64 for f32) and are padded with 0
 *     mask            values; mask, a u1 for every element, or with word=u8 its bits in words, each chunk from a new
 *                     one, first=lsb or first=msb; with chunk=N pointers, the values before every N elements, or with
 *                     pointers=bytes their bytes
 *     nvdla           NVDLA's compressed weights, of a tensor in the order of the uncompressed surface (preset
 *                     nvdla_weight). values, without zeros; mask, bytes; sizes, a u32 for every kernel group, its bytes
 *                     of values. group=N elements are one (default: 32 steps of the first dimension, 16 for 16 bits).
 *                     Values and mask are padded with 0 to align=128 bytes. reading=document is NVDLA's document and
 *                     hardware; reading=tool its verification tool: the mask from the highest bit on, sizes rounded up
 *                     by what the next group has less
 *     csr, csc        of a matrix. values; columns (csc: rows) of each; rows (csc: columns), where each begins, and
 *                     the end, with pointers=bytes in bytes of values. pad=N fills rows (csc: columns) up to a multiple
 *                     of N values with zeros in the column before
 *     coo             values; rows; columns
 *     runs            values; runs, the zeros before each. A run that index= (u8) does not hold ends with a value 0
 *
 * csr, csc and coo keep no zeros; with zeros=signed those with a sign, with zeros=row one in a row without values.
 * index=u32 is the dtype of numbers, base=0 the first of them. How bits of u1 lie in memory is a matter of the layout:
 * a mask with its first bit on top is lanes=msb. Parts of zeros (td_parts_create) also need elem=DTYPE and count=N of
 * the values. */

typedef struct td_parts td_parts;

/* The parts of a tensor. TD_OPTION or TD_DTYPE for a packing that is not understood or does not go with the shape,
 * TD_RANGE for a tensor that is not as sparse as it says, or whose numbers do not fit index=. */
TD_API td_status td_parts_pack(const td_tensor *tensor, const char *packing, td_parts **out);

/* Parts of zeros for a tensor of this shape, to dump memories into. */
TD_API td_status td_parts_create(const char *packing, td_shape shape, td_parts **out);

/* Parts that the caller has, as from files: tensors in the order of td_parts_name, which live as long as the parts and
 * stay the caller's. TD_SHAPE where one has another dtype or number of elements than the packing says. */
TD_API td_status td_parts_join(const char *packing, td_shape shape, td_tensor *const *tensors, size_t count,
                               td_parts **out);
TD_API void td_parts_destroy(td_parts **parts);

/* The packing with every word that matters, and the shape of the tensor; the text lives as long as the parts. */
TD_API const char *td_parts_packing(const td_parts *parts);
TD_API td_shape td_parts_shape(const td_parts *parts);

/* The parts by number and by name: elems; scales, one for every block, so their shape is that of the tensor with blocks
 * in place of elements; zeros or mins, likewise; global, a scalar; supers, one for every super block, with mins two (a
 * last dimension of d, dmin). ggml stores signed elements with half of their range added; here they are signed. The
 * tensor belongs to the parts: it is read, loaded, dumped into and reshaped, and not destroyed. TD_OPTION for a name
 * that this packing does not have. */
TD_API size_t td_parts_count(const td_parts *parts);
TD_API const char *td_parts_name(const td_parts *parts, size_t number); /* NULL past the last */
TD_API td_status td_parts_part(td_parts *parts, const char *name, td_tensor **out);

/* The same, but the tensor is the caller's from here on, and the parts have it no more. */
TD_API td_status td_parts_take(td_parts *parts, const char *name, td_tensor **out);

/* The values that the parts stand for, in any dtype (NULL or "": f32, sparse: that of the values): element * scale,
 * (element - zero point) * scale, times the tensor's scale, each product rounded once in f32. TD_RANGE where sparse
 * parts name places that a tensor of this shape does not have. */
TD_API td_status td_parts_unpack(const td_parts *parts, const char *dtype, td_tensor **out);

/* Records: the parts of a block, or of a tile of blocks, interleaved in one string of bits, as ggml's files, GPTQ's and
 * AWQ's words and Tenstorrent's tiles have them. The tensor of records has the shape of the tensor with records in
 * place of elements, then the words of a record (no dimension for one word); any layout places it. From the lowest bit
 * of the first byte on:
 *
 *     tile=32 scales elems^8(h2 i16>i h)        q4_0: a scale, then 16 bytes: element i low, element i + 16 high
 *
 *     tile=N, tile=NxN      first: the elements that a record covers, along the last dimensions, which they fill
 *     PART                  all codes of that part within the tile, row-major
 *     PART.4, PART.0-3      of each code only these bits;    PART[0-7] only these of the codes, counted from 0
 *     PART^8                with these bits inverted, as codes are that have 8 added to them
 *     PART(h2 i16>i h)      the codes are 2 by 16, and are stored 16 by 2; the last axis is the fast one
 *     {PART PART}           one code of each in turn
 *     align=N               zeros up to a multiple of N bytes
 *     word=u8               dtype of the tensor: any integer of 8, 16, 32 or 64 bits
 *
 * NULL or "" is the packing's own: ggml's names and bfp8, bfp4 (Tenstorrent's tiles of 32x32: exponents by face, then
 * magnitudes) have one, mxfp4 that of gpt-oss's `_blocks`, elements alone. "gptq" and "awq" are their words of u4, of
 * shape (K, N); "awq_gemv" and "awq_gemv_fast" AutoAWQ's other two orders, of shape (N, K). TD_OPTION for a record
 * that is not understood, TD_SHAPE where tiles do not fill the tensor. */
TD_API td_status td_parts_record(const td_parts *parts, const char *record, td_tensor **out);

/* The other way: the bits that the record names, into parts that are there, as from td_parts_create. TD_SHAPE unless
 * the tensor has so many bytes. */
TD_API td_status td_parts_set_record(td_parts *parts, const char *record, const td_tensor *words);

/* Parts from a file. A tensor of a .gguf (`model.gguf:blk.0.attn_q.weight`) whose type is a packing: q4_0 q4_1 q5_0
 * q5_1 q8_0 q2_K q3_K q4_K q5_K q6_K mxfp4 nvfp4; `packing` is NULL, "" or that. (td_tensor_open reads f32, f16, bf16,
 * f64 and i8 to i64 from it, and with the dtype u8 the records of the others.) A weight of a .safetensors or .npz
 * checkpoint, by the name that its tensors share; `packing` says what it is:
 *     mxfp4                    NAME_blocks and NAME_scales, as gpt-oss has them
 *     gptq version=1 bits=4    NAME.qweight, .qzeros, .scales, .g_idx: bits 2, 3, 4 or 8; version=1 stores zero points
 *                              less 1 (15 stands for 0), version=2 as they are. What a checkpoint says of itself is
 *                              not reliable
 *     awq                      the same names, columns in the order of its gemm
 * Where the names follow no convention, the tensors are named behind `from`, and FILE stands alone:
 *     mxfp4 from blocks=NAME scales=NAME
 *     gptq version=2 from qweight=NAME qzeros=NAME scales=NAME g_idx=NAME     g_idx= only where there is one; awq alike
 *     nvfp4 from elems=NAME scales=NAME global=NAME      any packing, and its parts by name: each has one code in every
 *                              element of its tensor, or, where that has just as many bits, all codes one behind the
 *                              other from the lowest bit on. shape=64x128 too, where it does not follow from elems=
 * An entry of a layout file says the same, and its path is layout:chip.txt:down:
 *     down: tensors model.safetensors; as gptq version=2 from qweight=mlp.q qzeros=mlp.z scales=mlp.s
 * gptq and awq become uint4 (uint3, ..) axis=0, shape (K, N), with a block for each group; where g_idx has rows in
 * another order, with block=1: each row then has the scales and zero points of its group. TD_FORMAT for a file that is
 * damaged, TD_DTYPE for a type that is not read, TD_SHAPE for tensors that do not go together. */
TD_API td_status td_parts_open(const char *path, const char *packing, td_parts **out);

/* The type and shape of a tensor of a .gguf, by its header alone: the packing of td_parts_open, or ggml's name of the
 * type. The text is the library's. */
TD_API td_status td_parts_kind(const char *path, const char **packing, td_shape *shape);

/* Which packing would have made these parts of that tensor, in one line for a reader; free it with td_free. Every rule
 * and option that goes with the packing is tried, one word at a time, then orders of elements (swapped nibbles, ggml,
 * AWQ) and zero points that are one less (GPTQ v1); where nothing of that explains every code, the best word with every
 * other, then all pairs of words; of more than 65536 elements first on so many rows of the first dimension. Words that
 * make another packing are named by it, too. Of sparse parts one word, as the order of metadata or the first bit of a
 * mask:
 *
 *     64 of 64 scales and 2048 of 2048 elements are those of rule=floor; the packing says rule=rceil
 *     128 of 128 scales and 2048 of 2048 elements are those of scale_max=256 and map=mae: nvfp4_4over6
 *     4096 of 4096 values, 512 of 512 meta are those of order=hopper; the packing says order=ampere */
TD_API td_status td_parts_fit(const td_parts *found, const td_tensor *golden, char **text);

/* Parts in memories, in one call. A layout of parts is a packing, and for every part a memory by its name and a layout.
 * It is made part by part, or comes out of a layout file (section 5) whose entry says so:
 *
 *     weights: pattern (nt ns) (kt ks) -> (nt kt) (ns ks); options ns=16 ks=16; memory wbuf;
 *              as mxfp4 rule=rceil axis=kt;
 *              part scales memory sbuf preset scale_128x4; address 0x40 + index
 *
 * axis= may name an axis on the left of the first layout's pattern, and means the dimension that it is of. A call gets
 * the memories, in any order; a part lies in the one that has the name, or in the banks name[0], name[1], ..; a part
 * without one in the first memory of the call, and a part "" is the first of the packing.
 *
 * Every part, memory and layout is checked before a word is written: TD_OPTION for a part that the packing does not
 * have or that has no layout, TD_ARGUMENT for a memory that is not there, TD_ALIAS for two parts in one word of one
 * memory, unless the later part says fill=keep; otherwise what packing and loading alone would say.
 *
 * Quantising, packing and placing are one pass over the tensor: in layers of its first dimension that stay in the
 * caches, so that no tensor of elements is made. N:M goes so with metadata in plain order. Masks, csr, csc, coo and
 * runs go in steps of 2048 elements, or of a row (csc: a column), behind the pass that counts their values; each part
 * goes into its memory in layers of its own, on one thread. Where that does not go, the parts are made whole and
 * loaded one by one, with the same result: other orders of metadata and NVDLA's surfaces, whose words do not follow
 * the rows, masks whose words have bits of two steps; blocks as long as the first dimension; flat layouts, alias=last
 * and lanes with addresses of their own; where the first dimension is padded in front or by more than its last step,
 * or slides, its slowest axis is not a word axis, or the address is no sum of strides or has others with fewer steps
 * of that axis, as when it is not the slowest of `index`; memories over others, and bits that are x or z. Dumps of
 * block-scaled tensors go by layers too, unless elements have copies. Sparse ones take their parts whole, since a dump
 * that is refused changes nothing, and any place may be the one that no tensor has; all but masks then are unpacked
 * beside the tensor. */
typedef struct td_parts_layout td_parts_layout;

/* The packing is read when a tensor is there. `part` is a name of td_parts_name or "", `memory` that of a memory, or
 * NULL. The layout is copied. TD_ARGUMENT for a part that stands twice, TD_OPTION for a layout with `as`. */
TD_API td_status td_parts_layout_create(const char *packing, td_parts_layout **out);
TD_API td_status td_parts_layout_add(td_parts_layout *parts, const char *part, const char *memory,
                                     const td_layout *layout);
TD_API void td_parts_layout_destroy(td_parts_layout **layout);

/* Out of a layout file; refusals are those of td_layout_open. */
TD_API td_status td_parts_layout_open(const char *path, const char *name, td_parts_layout **out);

/* What it is made of; NULL past the last part. The texts and layouts live as long as it does. */
TD_API const char *td_parts_layout_packing(const td_parts_layout *layout);
TD_API size_t td_parts_layout_count(const td_parts_layout *layout);
TD_API const char *td_parts_layout_part(const td_parts_layout *layout, size_t number);
TD_API const char *td_parts_layout_memory(const td_parts_layout *layout, size_t number);
TD_API const td_layout *td_parts_layout_layout(const td_parts_layout *layout, size_t number);

/* The tensor through its packing into the memories; and what they hold as values, in the tensor's own dtype. A part
 * alone is dumped as any tensor, with td_parts_create and td_backdoor_dump_tensor. */
TD_API td_status td_backdoor_load_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                                        const td_parts_layout *layout);
TD_API td_status td_backdoor_dump_parts(td_memory *const *memories, size_t count, td_tensor *tensor,
                                        const td_parts_layout *layout);

/* td_backdoor_dirty_padding (section 7) for all parts: poison in the padding of elements, scales and the others, and in
 * nothing else. Where one part lies in the padding of another, that is no padding. `pads` (or NULL) becomes the number
 * of padding elements of all parts. Refuses what a load refuses, and TD_OPTION with alias=last. */
TD_API td_status td_backdoor_dirty_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                                         const td_parts_layout *layout, uint64_t seed, uint64_t *pads);

/* The words that a load of this tensor writes of part `number` of the layout; td_layout_spans (section 9) for parts.
 * `from_values` is 0 for a tensor that is dumped into, whose values say nothing about sparse parts. */
TD_API td_status td_parts_layout_spans(const td_parts_layout *layout, size_t number, const td_tensor *tensor,
                                       int from_values, uint64_t width_bits, td_span **spans, size_t *count);

/* The memories against a golden tensor of values. The policy (section 10) means:
 *
 *     exact           the codes that the packing makes of the golden tensor: an element differs when its code, its
 *                     scale or its zero point does, whatever the values are
 *     ulp=N           at most N steps of the element from the golden value, as large as they are at its block's scale
 *                     in memory: ulp=1 accepts every rounding, and every clipping by less than a step
 *     atol=X rtol=X   the values that the memories stand for; with ulp= too, either one accepts
 *
 * The report is one of the elements in the golden tensor's dtype, its ulp are steps at the block's scale, and it also
 * says how many codes of each part differ, and block, scale and the scale's place of the first mismatches. Where codes
 * differ, its first guess is what td_parts_fit says. check_pad is refused (TD_OPTION). Sparse tensors are compared
 * dense, under the policy as it stands. Part by part: td_parts_pack, and td_backdoor_compare_tensor of the part. It
 * takes tensors of the golden one's size. */
TD_API td_status td_backdoor_compare_parts(td_memory *const *memories, size_t count, const td_tensor *golden,
                                           const td_parts_layout *layout, const char *policy, td_report **out);

/* -- 12. Speed -----------------------------------------------------------------------------------------------------
 *
 * None of this has to be called: plans are cached, the best instructions of the processor are used, and threads are
 * used only where they save time. To find out, a call times its first piece of work, and the cost of waking a thread is
 * measured once. With TD_PARALLEL_BYTES=N in the environment, every call of at least N bytes uses all threads instead.
 * */

typedef struct td_plan_stats {
    uint64_t hits, misses; /* calls that found their plan in the cache, and calls that had to make it */
    size_t plans;          /* in the cache now */
} td_plan_stats;

TD_API td_plan_stats td_plan_cache_stats(void);
TD_API void td_plan_cache_clear(void); /* forgets all plans; the counts begin at 0 again */

/* Limits calls to this many threads, including the caller's; 1 means no others. 0, the default, means TD_THREADS of the
 * environment or, without it, the number of processors. */
TD_API void td_speed_threads(unsigned threads);

/* The code paths that loads and dumps take. A plan consists of boxes, and each box takes the first of these that fits:
 *
 *     plain         element by element, the slowest: alias=last, and a few elements that straddle words
 *     converted     values are converted on the way
 *     staged        elements at odd bits of narrow words, with gaps, or in parts: words are put together in a scratch
 *     packed        elements that are not whole bytes, or share bytes with others; dumps with alias=last
 *     gathered      whole bytes, with the place of each word from a table, because its address is not a sum of strides
 *     contiguous    runs of bytes that are contiguous in the tensor and in memory
 *     transposed    two axes are exchanged
 *     interleaved   a few streams are merged into one, or one is split into a few */
typedef enum td_path {
    TD_PATH_CONTIGUOUS,
    TD_PATH_TRANSPOSED,
    TD_PATH_INTERLEAVED,
    TD_PATH_GATHERED,
    TD_PATH_PACKED,
    TD_PATH_CONVERTED,
    TD_PATH_PLAIN,
    TD_PATH_STAGED,
    TD_PATHS /* how many there are */
} td_path;

/* Counts of successful loads and dumps, of tensors and matrices, on all threads, per td_path. A call whose boxes take
 * several paths counts once in each. Bytes are those of the tensor's elements; copies of a repeat count once. */
typedef struct td_path_stats {
    uint64_t calls[TD_PATHS];
    uint64_t bytes[TD_PATHS];
} td_path_stats;

TD_API td_path_stats td_speed_paths(void);
TD_API void td_speed_paths_clear(void);

/* The name of a path, "contiguous" for example; "" for an unknown one. */
TD_API const char *td_path_name(td_path path);

/* The instruction set in use: "c", "avx2", "avx512" or "neon". TD_CPU in the environment can choose a lower one. */
TD_API const char *td_speed_isa(void);

/* Thresholds: the sizes and times at which the library changes its way, as waking threads or storing past the caches.
 * Machines differ in them. `tensordoor tune` measures them in less than a minute and keeps them in the user's cache
 * folder, $XDG_CACHE_HOME/tensordoor/tune or ~/.cache/tensordoor/tune; the first call of every later process reads
 * them. A file that was written by another version of the library or on another processor, one that is damaged, and
 * what is no plain file are ignored: then the defaults hold, nothing fails, and td_tune_note and `tensordoor info` say
 * why. TD_TUNE=off in the environment reads no file, TD_TUNE=FILE another one. They change only how fast calls are. */
typedef struct td_threshold_info {
    const char *name;    /* "stream_copy_bytes"; "" past the last */
    const char *meaning; /* in a sentence */
    uint64_t value;      /* now */
    uint64_t standard;   /* the default; 0: by a rule, or by a measurement of each process */
    uint64_t least, most;
} td_threshold_info;

TD_API size_t td_tune_count(void);
TD_API td_threshold_info td_tune_threshold(size_t number);

/* Sets one, or all to their defaults, for this process, and drops the plans that were made with others: for programs
 * that measure. Calls that run meanwhile may take some of both. TD_ARGUMENT for an unknown name, or a value out of its
 * bounds. */
TD_API td_status td_tune_set(const char *name, uint64_t value);
TD_API void td_tune_reset(void);

/* The file of this user, to be freed with td_free; TD_FILE where TD_TUNE=off or there is no home. */
TD_API td_status td_tune_file(char **path);

/* Writes the values of now to a file, whole or not at all, or sets them from one; NULL is the file of this user, whose
 * folder is made. TD_FILE with the reason where that fails, or the file is one that would be ignored. */
TD_API td_status td_tune_save(const char *file);
TD_API td_status td_tune_load(const char *file);

/* One line that says where the values come from, to be freed with td_free:
 *
 *     the defaults; run `tensordoor tune` to measure this machine
 *     from /nfs/ada/.cache/tensordoor/tune
 *     the defaults; /nfs/ada/.cache/tensordoor/tune is ignored: it is damaged: its sum is wrong; run `tensordoor ...
 *     the defaults, as TD_TUNE is off
 *     set by this program */
TD_API td_status td_tune_note(char **text);

/* -- 13. Codes and faults ------------------------------------------------------------------------------------------
 *
 * A code turns a word of data into a wider one with check bits, and back, where it sees errors of bits and may correct
 * them. A text says which:
 *
 *     39_32                                    the name of a code of OpenTitan
 *     parity odd width=8                       a parity bit for every 8 bits
 *     hsiao subword=64 place=above             a construction, here for subwords of 64 bits
 *     masks=@wbuf.masks address=10 xor=0x28000000000
 *
 * The name comes first:
 *     22_16 28_22 39_32 64_57 72_64            Hsiao codes of OpenTitan (prim_secded_pkg)
 *     hamming_22_16 hamming_39_32 hamming_72_64 hamming_76_68
 *                                              its Hamming codes; hamming_39_32 is also that of VeeR (rvecc_encode)
 *     inv_NAME                                 the same nine with check bits 1, 3, 5, .. inverted
 *     parity                                   one bit: `even` (as without a word) or `odd` makes the number of ones,
 *                                              data and parity together, even or odd. width=N is its subword=, 8 as at
 *                                              first
 *     hamming                                  any width: bit i of what is covered has the i-th number of 3, 5, 6, 7,
 *                                              9, .. (no powers of two), check bit j is the parity of the bits whose
 *                                              number has bit j set, and the last check bit is the parity of all others
 *     hsiao                                    any width: every bit has a set of check bits, of odd size: all sets of
 *                                              3, then all of 5, and so on. Bit 0 first, each takes of those that are
 *                                              left the set whose check bits cover the fewest bits so far, the sum
 *                                              over the set, and of several the one with the smallest number (check
 *                                              bit j counts 2^j)
 *     masks=HEX,HEX,..                         your own, one for every check bit, check bit 0 first: it is the parity
 *                                              of the bits under its mask. Bit i of a mask is data bit i, then come the
 *                                              address bits, then the check bits before this one
 *     masks=@FILE                              the same from a file, with blanks, commas or ends of lines between
 *                                              masks, and comments from # or // to the end of the line
 * The smallest number of check bits that has distance 4 is taken by hamming and hsiao. Other libraries that say Hsiao
 * have other matrices: pass theirs as masks.
 *
 * Words behind the name:
 *     subword=N      a word is cut into subwords of N data bits, the first in the low bits, each with its own check
 *                    bits. Named codes have theirs; for the others it is the whole word without this word
 *     address=N      the N low bits of a word's address are covered too, above the data bits, so that a word read from
 *                    a wrong address is seen. A named code then has N data bits less
 *     xor=HEX        what is added to a coded subword last: data bits low, check bits above them
 *     place=above    where the check bits stand: `above` the data of the whole word, those of subword 0 lowest; `below`
 *                    it; or `interleaved`, each subword with its check bits right above it (as without this word, and
 *                    as OpenTitan's memories have it)
 *     correct=off    errors are seen and not corrected
 *
 * Errors. A code whose distance is 3 or more corrects one wrong bit of a subword; with 4 it sees every two. A
 * syndrome that is that of no single bit is uncorrectable, where a decoder in hardware may take any of odd weight for a
 * single error. */

/* For words of `data_bits` bits. TD_OPTION for a text that is no code, or words that its subwords do not divide;
 * TD_FILE or TD_FORMAT for a file of masks. A code never changes and may be shared by threads. */
TD_API td_status td_code_create(const char *text, uint64_t data_bits, td_code **out);
TD_API void td_code_destroy(td_code **code);

/* The text with every word that matters, masks of a file among them; it lives as long as the code. */
TD_API const char *td_code_text(const td_code *code);
TD_API uint64_t td_code_data_bits(const td_code *code);  /* of a word */
TD_API uint64_t td_code_coded_bits(const td_code *code); /* of a word with its check bits */
TD_API uint64_t td_code_subwords(const td_code *code);   /* of a word */
TD_API uint64_t td_code_check_bits(const td_code *code); /* of a subword */

/* In how many bits two coded subwords differ at least: 2, 3, or 4 for 4 and more. */
TD_API unsigned td_code_distance(const td_code *code);

/* 1 where one wrong bit of a subword is corrected. */
TD_API int td_code_corrects(const td_code *code);

/* What a bit of a coded word is; zeros past its end. */
typedef struct td_code_bit {
    uint64_t subword;
    uint64_t bit; /* of the data word; of a check bit: its number in the subword */
    int is_check;
} td_code_bit;

TD_API td_code_bit td_code_locate(const td_code *code, uint64_t coded_bit);

/* `count` words of data from address `first` on, coded, at the same addresses of another memory. TD_ARGUMENT where a
 * memory has another width than the code, TD_RANGE for words outside. Bits that are x or z follow td_memory_set_x. */
TD_API td_status td_code_encode(const td_code *code, const td_memory *data, uint64_t first, uint64_t count,
                                td_memory *coded);

typedef enum td_code_error_kind {
    TD_CODE_CORRECTED = 0,
    TD_CODE_UNCORRECTABLE = 1,
    TD_CODE_WRONG_ADDRESS = 2 /* an address bit of the code; counted as uncorrectable */
} td_code_error_kind;

typedef struct td_code_error {
    uint64_t word; /* its address */
    uint64_t subword;
    uint64_t bit; /* corrected: of the coded word; a wrong address: of the address; otherwise 0 */
    uint64_t syndrome;
    td_code_error_kind kind;
} td_code_error;

#define TD_CODE_FIRST 16

typedef struct td_code_result {
    uint64_t words;                     /* that were looked at */
    uint64_t corrected;                 /* subwords of them with one wrong bit */
    uint64_t uncorrectable;             /* subwords with more */
    size_t kept;                        /* of the errors below */
    td_code_error error[TD_CODE_FIRST]; /* the first ones, in the order of words and subwords */
} td_code_result;

/* Looks at `count` coded words from `first` on, and puts their data at the same addresses of `data`, unless it is NULL:
 * corrected where they can be, and otherwise as they stand. Errors are no failure: *result has them. */
TD_API td_status td_code_check(const td_code *code, const td_memory *coded, uint64_t first, uint64_t count,
                               td_memory *data, td_code_result *result);

/* What the reads of a memory of td_memory_coded have found since it was made, refused reads among them; a subword that
 * is read twice counts twice. With `reset` the counts begin anew; `result` may then be NULL. TD_ARGUMENT for a memory
 * that has no code. */
TD_API td_status td_memory_code_result(td_memory *memory, td_code_result *result, int reset);

/* Wrong bits on purpose, in any memory: a text says how many and where.
 *
 *     bits=2 word=0x40 seed=7          two random bits of one word
 *     words=100 bits=1 in=check        one check bit in each of 100 random words
 *
 *     bits=N             so many bits of every word, all different, by random; 1 as at first
 *     bit=N,N,..         these bits of it instead
 *     word=N             this word; without it random ones, all different:
 *     words=N            so many, 1 as at first, up to 65536,
 *     first=N count=N    of those from `first` on, `count` of them; all as at first
 *     in=data            with a code: only data bits, in=check: only check bits; in=any, as at first, either
 *     subword=N          with a code the bits of a word lie in one subword, a random one, or in this one;
 *                        subword=any takes them from the whole word
 *     seed=N             of all that is random, 0 as at first; the same seed, the same bits
 *
 * The record says what was flipped, in the order of the words, and takes it back. */

typedef struct td_faults td_faults;

typedef struct td_fault {
    uint64_t word; /* its address */
    uint64_t bit;
} td_fault;

/* `code` may be NULL: the memory is then words of bits that are all alike. In a memory of td_memory_coded the bits are
 * those of the coded words, with its own code, and the next read finds them: pass NULL. In a memory of td_memory_over
 * they are those of its words, in the first copy, and go below the codes that its arrays have; macros and rows are
 * words of its arrays, which are memories themselves. TD_OPTION for a
 * text that is wrong, TD_RANGE for words, bits and subwords that are not there, TD_ARGUMENT for another code. */
TD_API td_status td_memory_inject(td_memory *memory, const char *what, const td_code *code, td_faults **out);

/* The same in the bits of one element of a tensor that lies in the memory by this layout; its coordinate has a number
 * for every dimension. Of the text, bits=, bit= (of the element, 0 its lowest), in= and seed= are taken. With a code
 * the layout is that of the data words, the memory holds the coded ones, and in=check takes the check bits of the
 * subwords that the element lies in, in=any these and its own; in=data, its own, as at first. Of several copies of the
 * element the first is changed. A memory of td_memory_coded has its code itself, as above. */
TD_API td_status td_backdoor_inject(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                                    const uint64_t *coordinate, const char *what, const td_code *code, td_faults **out);

TD_API size_t td_faults_count(const td_faults *faults);
TD_API td_fault td_faults_at(const td_faults *faults, size_t number); /* zeros past the last */
TD_API void td_faults_destroy(td_faults **faults);

/* Flips the bits back, in the memory that they were injected into, and destroys the record. A word that was written
 * since, so that it differs from what the injection left, stays as it is; *left (may be NULL) is how many. */
TD_API td_status td_memory_undo(td_memory *memory, td_faults **faults, uint64_t *left);

/* -- 14. Places ----------------------------------------------------------------------------------------------------
 *
 * Where does an element lie, and what lies there? A memory over others (td_memory_over, and what lies over it in turn)
 * is made of *macros*, the memories at the bottom. They are counted in the order of the lists that the layers were made
 * with: the macros of array 0 first, then those of array 1. A memory that lies over nothing is its own macro 0, its
 * words are rows, and its bits are columns. */

/* How many macros a memory has, and one of them; NULL past the last. */
TD_API size_t td_memory_macros(const td_memory *memory);
TD_API const td_memory *td_memory_macro(const td_memory *memory, size_t number);

/* In how many places a bit lies, at most: more than one where an organisation repeats. */
TD_API uint64_t td_memory_copies(const td_memory *memory);

typedef struct td_macro_bit {
    const td_memory *macro;
    size_t number; /* of the macro */
    uint64_t row, column;
    int mixed; /* 1: a codec on the way changes whole words; the column is where the bit lies without it */
} td_macro_bit;

/* The place of one bit in one of its copies. TD_RANGE for a bit outside of the memory, and for a copy that this bit
 * does not have. */
TD_API td_status td_memory_macro_bit(const td_memory *memory, uint64_t word, uint64_t bit, uint64_t copy,
                                     td_macro_bit *out);

/* The same question for any number of bits, from any side, and with the elements of a tensor. Zero is the default of
 * every member but `banks` and `bank_count`. */
typedef struct td_where_question {
    td_memory *const *banks; /* the memories of the layout, only read; without bank axes it is one */
    size_t bank_count;
    const td_tensor *tensor; /* which elements lie there: of this tensor, by this layout; NULL: of none */
    const td_layout *layout;
    const char *as;
    const uint64_t *coordinate; /* asks for an element of the tensor: a number for every dimension; or NULL: */
    uint64_t bank;              /* asks for `bits` bits of a word from `lsb` on, */
    int in_macro;               /* 1: of a row of macro number `macro` of that bank */
    size_t macro;
    uint64_t word, lsb; /* the word, or the row */
    uint64_t bits;      /* 0: to its end */
} td_where_question;

typedef struct td_where td_where;

/* TD_RANGE for a word, a row, bits or a coordinate that are not there, and for an element that the layout moves
 * nowhere; what a layout is refused for otherwise. Looks at no word, so that memories in a design cost nothing. */
TD_API td_status td_where_find(const td_where_question *question, td_where **out);
TD_API void td_where_destroy(td_where **where);

/* What lies at a bit of a macro. */
typedef enum td_where_kind {
    TD_WHERE_DATA = 0,   /* a bit of the memory */
    TD_WHERE_CHECK = 1,  /* a bit that a code has added to one of its words */
    TD_WHERE_NOTHING = 2 /* no bit, as in a spare column */
} td_where_kind;

/* Bits that follow each other in a word of the memory, in a row of a macro and in an element. */
typedef struct td_where_run {
    td_where_kind kind;
    uint64_t bits;
    uint64_t bank;
    const td_memory *memory; /* of a check bit: the memory whose words have the code */
    uint64_t word, bit;      /* the lowest of the bits; of a check bit: in the coded word */
    int has_elem;            /* 1: they are bits of an element */
    uint64_t elem;           /* its row-major number, */
    td_shape at;             /* its coordinate, */
    uint64_t elem_bit;       /* and the lowest of its bits here */
    uint64_t copy;           /* of the memory's bits */
    const td_memory *macro;
    size_t number;
    uint64_t row, column;
    int64_t step; /* columns from bit to bit */
    int mixed;    /* as in td_macro_bit */
} td_where_run;

TD_API size_t td_where_count(const td_where *where);

/* Of an element its copies in the order of the layout's boxes, and each in its copies in the macros; otherwise in the
 * order of the bits. TD_RANGE past the last. */
TD_API td_status td_where_at(const td_where *where, size_t number, td_where_run *out);

/* A line for every run; free it with td_free:
 *
 *     element (0, 3, 1, 2) bits 7:0, "wbuf" word 0x12 bits 15:8, macro 3 "m3" row 4 bits 61:33 step 4
 *
 * Without a tensor the element is left out, and without a layer below the macro. */
TD_API td_status td_where_text(const td_where *where, char **text);

/* -- 15. Maps --------------------------------------------------------------------------------------------------------
 *
 * The memories of a chip in one text file: how many words each has, which arrays it is made of and how, and where it
 * lies in the address space of the system.
 *
 *     # chip.map
 *     rom:  words 1024 x 32; base 0x0000_1000
 *     wbuf: words 4096 x 32; base 0x8000_0000; code inv_39_32;
 *           organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=3 p=4;
 *           arrays 512 x 52 tb.dut.tile[0..1].slice[0..2].mem
 *     ch0:  words 1048576 x 64
 *     ch1:  words 1048576 x 64
 *     ddr:  base 0x9000_0000; memories ch0 ch1; unit 64; interleave (row ch) -> ch row
 *
 * A memory begins with NAME: at the start of a line, as in a layout file, and its clauses are separated by semicolons,
 * in any order, over any number of lines, each once. `#` begins a comment. Numbers are decimal or 0x.
 *     words DEPTH x BITS       what a user of the memory sees
 *     base ADDRESS             of its first byte. A memory without it is used by its name alone
 *     endian little            which byte of a word has the lowest address: the least significant (default), or `big`
 *     code TEXT                its words lie in the arrays with check bits, as in td_memory_coded; `check off` gives
 *                              them as they stand. Arrays that the map makes begin with zeros that are coded
 *     codec FILE:SYMBOL        under the code, words go through a codec, as in td_memory_through; `stored BITS` is the
 *                              width under it, where that is another
 *     organisation PATTERN     how its words, with their check bits, lie in the arrays, as in td_memory_over; with
 *     options, address         `options ...` and `address ...`, as of any layout
 *     arrays DEPTH x BITS NAME ...
 *                              the arrays, of one geometry, in the order of the banks. name[0..7] stands for name[0],
 *                              name[1] and so on, name{0..7} for name0, name1; of several ranges the first is the
 *                              slowest. Without an organisation one array, of the memory's geometry. Without this
 *                              clause one array that has the memory's name
 *     arrays NAME ...          without a geometry: memories above in the file, which this one lies over
 *
 * A word takes (bits + 7) / 8 bytes of addresses; bits above its width are 0 there, and cannot be written.
 *
 * Regions lie over memories that stand above in the file, all of one geometry:
 *     memories NAME ...        which, as ch{0..3}
 *     base ADDRESS, endian     as above; the endian is by default that of the memories
 *     size BYTES               default: all of the memories
 *     unit BYTES               what stays together, whole words; default: one word
 *     interleave PATTERN       how units lie in the memories: a layout whose left has one group, of all units, and
 *     options, address         whose right has the memory, if it is a group, and the unit in it: "(row ch) -> ch row".
 *                              With an address, hashes: "(row ch) -> (row ch)"; options ch=4; address bank = (ch ^ row)
 *                              & 3; addr = row. Addresses count units. Without this clause: one memory after the other
 *     interleave dram:ORDER SIZES
 *                              the fields of an address, the highest first, as DRAM controllers write them:
 *                              "dram:RoBaRaCoCh ch=2 ra=1 ba=4 co=16", of Ch(annel), Ra(nk), B(ank )g(roup), Ba(nk),
 *                              Ro(w), Co(lumn, counted in units). One size may be left out. There is one memory in all,
 *                              or one for every channel, rank or bank, the channel the slowest; in a memory the fields
 *                              that are left follow each other in this order, columns the fastest. xor=ba^ro adds the
 *                              low bits of the row to the bank, without carry
 * Every unit has a place of its own, or the map is refused. Two ranges of addresses never overlap. Several regions may
 * show the same memory at different addresses. */

typedef struct td_map td_map;

/* Reads a map, from a file or as text. Arrays that the caller has, as those of a design, are bound by their names
 * (td_memory_name); the map makes and owns all others. They have to live as long as the map. TD_FILE or TD_FORMAT for a
 * file that is none, with its line; TD_ARGUMENT for an array that the map does not have, or has with another geometry;
 * every status of td_layout_create and td_memory_over. */
TD_API td_status td_map_open(const char *path, td_memory *const *arrays, size_t count, td_map **out);
TD_API td_status td_map_create(const char *text, td_memory *const *arrays, size_t count, td_map **out);

/* Destroys the memories that the map has made, too. */
TD_API void td_map_destroy(td_map **map);

/* What a map has, in the order of the file. Everything in it is the map's. */
typedef struct td_map_entry {
    const char *name;
    td_memory *memory;     /* to be used in every call */
    td_memory *raw;        /* where there is a code, the words with their check bits; otherwise the memory */
    int addressed;         /* 1: it has a base */
    uint64_t base, bytes;  /* of addresses */
    size_t bytes_per_word; /* in addresses */
    int big_endian;
    td_memory *const *arrays; /* at the bottom, in the order of the banks */
    size_t array_count;
} td_map_entry;

/* How many memories and regions it has, and one of them, from 0 on; TD_RANGE past the last. */
TD_API size_t td_map_count(const td_map *map);
TD_API td_status td_map_at(const td_map *map, size_t number, td_map_entry *out);

/* By name: TD_ARGUMENT with the nearest one. */
TD_API td_status td_map_find(const td_map *map, const char *name, td_map_entry *out);

/* By address: who has this byte, in which of its words, and the lowest of the byte's bits there. TD_RANGE for an
 * address in no memory, and the message has the hole. */
TD_API td_status td_map_locate(const td_map *map, uint64_t address, td_map_entry *out, uint64_t *word, uint64_t *lsb);

/* Bytes at system addresses, across words, memories and interleaving. TD_RANGE where one lies in no memory, or has bits
 * above the width of its word. */
TD_API td_status td_map_read(const td_map *map, uint64_t address, void *bytes, size_t count);
TD_API td_status td_map_write(td_map *map, uint64_t address, const void *bytes, size_t count);

/* Loads an ELF file, .ihex, .srec or readmem text with unit=byte by its addresses, over any number of memories, or
 * nothing when a byte of it lies in none. Names and options are those of section 8, without base= and endian=. With
 * outside=skip, what lies in no memory is skipped, and *outside (may be NULL) says how much. */
TD_API td_status td_map_load_file(td_map *map, const char *path, td_image_outside *outside);

/* A tensor at a system address: as the calls of sections 7 and 10 in the memory that has the address, with the address
 * of the layout counted from there, in words of that memory. A flat layout may begin at any byte of a word that is
 * little endian, every other at the first one: TD_ADDRESS. */
TD_API td_status td_map_load_tensor(td_map *map, uint64_t address, const td_tensor *tensor, const td_layout *layout,
                                    const char *as);
TD_API td_status td_map_dump_tensor(const td_map *map, uint64_t address, td_tensor *tensor, const td_layout *layout,
                                    const char *as);
TD_API td_status td_map_compare_tensor(const td_map *map, uint64_t address, const td_tensor *golden,
                                       const td_layout *layout, const char *policy, const char *as, td_report **out);

/* The same for every other call that takes a memory and a layout, as td_compare with a mask: the memory that has the
 * address, and the layout moved there, which the caller destroys. */
TD_API td_status td_map_place(const td_map *map, uint64_t address, const td_layout *layout, td_map_entry *out,
                              td_layout **moved);

/* The map in the order of its addresses, a line for each memory and each hole; free it with td_free. */
TD_API td_status td_map_text(const td_map *map, char **text);

/* -- 16. Programs ----------------------------------------------------------------------------------------------------
 *
 * A whole test's worth of operations: written once, checked whole, run in one call.
 *
 *     # infer.td: what the testbench does around one layer
 *     arg seed = 7
 *     use "chip.layouts"
 *     tensor w = open "model.safetensors:layer.0.weight"
 *     tensor x = fill f32 16x64 normal sigma=2 seed={seed}
 *     label load:
 *       load wbuf w tiles as "i8 scale=0.05"
 *       for t in 0..16:
 *         load abuf (clamp x[t] -1 1) rows at 64*t
 *       fill obuf zero
 *     label check:
 *       checkpoint layer0 obuf "golden.npy" rows policy "ulp=1"
 *
 * A line is a step; `#` begins a comment; the steps of a block are indented by blanks, as in Python. Memories, banks,
 * layouts and tensors come by the names that the caller binds.
 *
 *     arg NAME = VALUE            an argument: a number, or "text". VALUE is the default; td_program_run gives others
 *     use "FILE"                  the layouts of a layout file, by their names
 *     layout NAME = "PATTERN; OPTIONS; ADDRESS"
 *                                 a layout; what is behind the pattern may be left out
 *     tensor NAME = STEP          a tensor, see below
 *     load MEMORY TENSOR LAYOUT [as "AS"] [at EXPR] [over]
 *                                 as td_backdoor_load_tensor(_banks). `at` adds so many words to every address. LAYOUT
 *                                 is a name, a text in quotes as in a line `layout`, or `matrix`: the rows of a matrix
 *                                 from word `at` on, as td_backdoor_load_matrix
 *     dump MEMORY TENSOR LAYOUT [as "AS"] [at EXPR]
 *                                 into a tensor of the caller
 *     fill MEMORY WHAT [from EXPR] [count EXPR]
 *                                 as td_memory_fill; default: all words
 *     write MEMORY ADDRESS WORD ...
 *                                 words from an address on; decimal, or 0x of any width
 *     save TENSOR "FILE"          as td_tensor_save
 *     checkpoint NAME MEMORY GOLDEN LAYOUT [policy "POLICY"] [as "AS"] [at EXPR]
 *     checkpoint NAME TENSOR GOLDEN [policy "POLICY"]
 *                                 a comparison, as td_compare; GOLDEN is a tensor, or "FILE". A mismatch is no failure:
 *                                 the reports of all checkpoints are what a run returns. NAME may be a text in quotes,
 *                                 as "tile {t}"; in a loop a name without {} gets the variables behind it: "tile t=3"
 *     for NAME in FIRST..END:     a block for FIRST, FIRST + 1, up to END - 1
 *     label NAME:                 a block that td_program_run can run by itself. A name may stand at several blocks
 *
 * Steps that make tensors; the calls of section 3 (with `sat`, `wrap` and other words at the end) and of section 7:
 *
 *     open "FILE" [DTYPE]                         fill DTYPE 3x8x8 WHAT  WHAT as in td_tensor_fill, or zero, constant=X
 *     convert TENSOR "AS"                         fill "DTYPE 3 8 8" WHAT
 *     scale TENSOR NUMBER [WORDS]                 slice TENSOR "0:3, :"
 *     add TENSOR TENSOR [WORDS]                   concat TENSOR .. axis N
 *     mul TENSOR TENSOR [WORDS]                   transpose TENSOR ["0 2 1"]
 *     clamp TENSOR LOW HIGH                       dump MEMORY DTYPE SHAPE LAYOUT [as "AS"] [at EXPR]
 *     read MEMORY FIRST COUNT                     words as u<width>, or above 64 bits each as u32, the low ones first
 *
 * A TENSOR is a name, a slice x[t, 0:4] of one with whole numbers, or a step in parentheses. An EXPR has numbers,
 * arguments, loop variables and + - * / % & | ^ << >> ( ) as in C. {NAME} in a text, and in the words of a filling, is
 * an argument or a loop variable; {{ is a {. A name of an argument may stand where a text in quotes may.
 *
 * The meaning is that of the steps one by one, in the order of the text, each with a tensor of its own. Compiling keeps
 * it, and refuses a program as a whole: names, texts, shapes, layouts, words past a memory, files that are not there,
 * and a load over words that an earlier load of the same label has written and nothing has read since (TD_ALIAS),
 * unless it ends with `over` or its layout keeps what it does not write (fill=keep, tail=clip, flat). Every message has
 * the line, and a caret under the word.
 *
 * What depends on values can only be found by a run: numbers past the range with `error`, copies that differ, bits that
 * are x, words that cannot be corrected, files that cannot be written. A run makes all tensors that depend on no memory
 * before it writes; where a step that may be refused comes after one that writes, it keeps the words as they were. So a
 * refused run changes nothing either, but for files that it has saved and for what the counters of codes counted.
 *
 * Files, scales (scale=@NAME) and layout files are read when a program is compiled, and not again until
 * td_program_compile or other arguments: a constant is calculated once. Tensors of the caller may change from run to
 * run. One thread at a time may use a program. */

typedef struct td_program td_program;

/* From a text (NULL: empty), or from a file, whose name messages have. TD_FORMAT for a text that is none, with its
 * line. */
TD_API td_status td_program_create(const char *text, td_program **out);
TD_API td_status td_program_open(const char *path, td_program **out);
TD_API void td_program_destroy(td_program **program);

/* Adds lines at the end; a block that is open goes on. On failure none of them is added. */
TD_API td_status td_program_add(td_program *program, const char *text);

/* Binds names of the text: letters, digits and _. A name that is bound again changes. Memories and tensors have to live
 * as long as the program; layouts are copied. td_program_use does what a line `use` does. */
TD_API td_status td_program_bind_memory(td_program *program, const char *name, td_memory *memory);
TD_API td_status td_program_bind_banks(td_program *program, const char *name, td_memory *const *banks, size_t count);
TD_API td_status td_program_bind_layout(td_program *program, const char *name, const td_layout *layout);
TD_API td_status td_program_bind_tensor(td_program *program, const char *name, td_tensor *tensor);
TD_API td_status td_program_use(td_program *program, const char *path);

/* Compiles and checks all of it. `arguments` are NAME=VALUE or NAME="VALUE", separated by blanks; NULL or "": the
 * defaults. A run does it by itself after a bind, or with other arguments, but for those of fills and files alone. */
TD_API td_status td_program_compile(td_program *program, const char *arguments);

/* Runs a label with the tensors that it needs, or with NULL or "" all of the program. *out (may be NULL where there are
 * no checkpoints) becomes the reports of the checkpoints in the order of the text; the caller destroys it. */
TD_API td_status td_program_run(td_program *program, const char *label, const char *arguments, td_checkpoints **out);

/* A tensor that the text names, as the last run has left it; one that the run did not need is calculated, from
 * what the tensors of the caller are now. It is the
 * program's, until its next call. TD_ARGUMENT for a dump or read whose label did not run. */
TD_API td_status td_program_tensor(const td_program *program, const char *name, const td_tensor **out);

/* The lines of the program, which parse to the same; free them with td_free. */
TD_API td_status td_program_text(const td_program *program, char **text);

/* What the program becomes: its steps as written and after each pass that changes them, a line for each, and what was
 * not made part of something else, and why; then what a run of the label does. The passes:
 *     hoist    a step of a loop that is the same every time is made once
 *     view     a slice that is a run of its tensor's elements is not copied
 *     join     loads of neighbouring slices, each as many words behind the one before, as a loop makes them, are one
 *     fuse     a chain of convert, scale, add, mul and clamp that ends in a load is part of it. Steps on f32 go inside
 *              of the move: an element is read once, goes through all of them and the load's `as`, and is stored in its
 *              word. Others go slab by slab through the cache, where the layout puts the steps of the first dimension
 *              alike, in one pass over the tensor too; otherwise the chain makes one tensor. Steps that may refuse a
 *              value (`error`, the default of integers) stay steps of their own, since nothing is written before all
 *              values are known
 *     drop     what nothing needs; a tensor that is not made refuses no value
 * td_program_svg draws the same steps, as written and after each pass that changes them, with a line from each tensor
 * to the steps that take it. Free both with td_free.
 * In a run, steps that need nothing of each other go side by side on the threads of section 12, where together they are
 * large enough: loads and dumps behind each other, each of which is small (a large one has the threads for itself), and
 * tensors that are made of others; explain names them. What is refused is the same on any number of threads: the first
 * step in the text. A tensor is given up behind the last step that takes it, and its storage serves the next; a program
 * keeps that of small ones, 16 MiB at most, from run to run. */
TD_API td_status td_program_explain(td_program *program, const char *label, const char *arguments, char **text);
TD_API td_status td_program_svg(td_program *program, const char *label, const char *arguments, char **svg);

/* A program out of ordinary calls: from td_program_record to td_program_stop, the calls of this thread that succeed are
 * also lines of the program: loads, dumps, matrices, fills and writes of memories (of whole words), comparisons as
 * checkpoints c0, c1, .., td_tensor_open, td_tensor_convert, the fillings and the steps of section 3. Reading, saving
 * and whatever changes no memory is no line. Memories are bound by their names; a tensor that no recorded step has made
 * is kept as it was when a call saw it (t0, t1, ..), so the program moves the same bytes when the caller's tensors are
 * gone; loads say `over`. td_program_stop gives TD_ARGUMENT for the first call that no line can say: with a mask or a
 * snapshot, of parts, files, faults, codes, bytes of a map, bits that become x, and destroying a memory that was
 * recorded; the program then does not run. One program at a time is recorded on a thread, and no program runs there
 * meanwhile: TD_ARGUMENT. */
TD_API td_status td_program_record(td_program **out);
TD_API td_status td_program_stop(td_program *program);

/* The name of the file without folder and suffix, or "program"; the names of memories that the text uses, and its
 * labels, in the order of the text; NULL past the last. All live as long as the program. */
TD_API const char *td_program_name(const td_program *program);
TD_API const char *td_program_memory(const td_program *program, size_t number);
TD_API const char *td_program_label(const td_program *program, size_t number);

/* The words of a memory, one of those that are bound, that such a run reads, that it writes, or of which it writes a
 * part (these are among the written): ascending and merged; free *spans with td_free. `effects` is a sum. */
typedef enum td_program_effect { TD_PROGRAM_READS = 1, TD_PROGRAM_WRITES = 2, TD_PROGRAM_PARTLY = 4 } td_program_effect;
TD_API td_status td_program_spans(td_program *program, const char *label, const char *arguments,
                                  const td_memory *memory, int effects, td_span **spans, size_t *count);
/* -- 17. Profile ---------------------------------------------------------------------------------------------------
 *
 * Where the time of a program goes inside of the library: for every operation (a call, by its name without td_), and
 * for every step inside it, how often, how many bytes, and how long. Steps:
 *
 *     parse             patterns, addresses, `as` and policies
 *     cache             finding the plan; inside it, where there is none yet:
 *     plan              making it; inside it, where addresses are no sums of strides: address table
 *     move PATH         elements, by the td_path of section 12: contiguous, transposed, packed, converted, ...
 *     fill words        padding, and bits in no lane
 *     check values      conversions that may refuse a value
 *     compare, report   holding elements against each other; counting, sorting and guessing
 *     pack, unpack      parts of section 11
 *     threads           work that is shared with the pool: its own time is waking and waiting, "part" in it is the work
 *                       of the caller; what the threads of the pool do has its own lines and no share, since their
 *                       callers wait meanwhile
 *     measure wake-up, measure stores    once in a process, or up to three times: what threads cost, and stores past
 *                       the caches
 *     read file, write file
 *     words from layers, words to layers, x and z    memories over others and in designs
 *     move blocks       block by block through the layers of a memory over others
 *     DPI crossing      between two chunks of a transfer (tensordoor_bridge.h): the loop in the simulator and its calls
 *
 * *Total* is the time from begin to end, *self* is total without the steps inside: the self times of everything add up
 * to the time inside of the library, and a share is self time of that. Calls and bytes are exact, failed calls count
 * without bytes. Reading the clock takes as long as a small load, so an operation of less than about 100 us is timed in
 * every call only 32 times, then in samples at random distances, which stand for the calls between them (`~` in the
 * table, timed_calls in JSON). Long steps, such as making a plan, are always timed. What the clock itself costs is
 * measured when the profile is first switched on, and is not in these times.
 *
 * TD_PROFILE in the environment switches it on from the beginning, for programs that say nothing about it:
 *
 *     TD_PROFILE=1            `tensordoor` and td_profile::print of SystemVerilog print the table at the end
 *     TD_PROFILE=FILE         the library writes it at the end of the process: the table, or JSON if it is .json;
 *                             /dev/stderr is a file like any other
 *     TD_PROFILE=trace:FILE   every call as an event, for ui.perfetto.dev or chrome://tracing
 *
 * All of this may be called from any thread at any time. Threads that are inside a call when the profile is switched on
 * are counted from their next one. */

/* Begins, or goes on after a stop: what was counted before stays. `mode` is "steps" (or NULL), or "trace", which times
 * every call and keeps up to a million of them for td_profile_trace. TD_ARGUMENT for another. */
TD_API td_status td_profile_start(const char *mode);
TD_API void td_profile_stop(void);

/* 1 while it is on; 1 where TD_PROFILE is 1, which is a wish to see the table at the end. */
TD_API int td_profile_running(void);
TD_API int td_profile_wanted(void);

/* Everything that was counted is gone. It stays on, or off. */
TD_API void td_profile_reset(void);

/* What was counted so far, by all threads; to be freed with td_free.
 *
 * The table has a line for each operation, below it its steps, the longest first; steps whose own time is over 30 % of
 * the time inside of the library are marked. JSON has the same numbers (calls, timed_calls, bytes, total_ns, self_ns,
 * share) in "operations", each with "steps" of the same form. The trace is in the Trace Event Format of Chrome, a
 * complete event per call with its bytes; otherData.dropped says how many calls found no place in it. */
TD_API td_status td_profile_text(char **text);
TD_API td_status td_profile_json(char **text);
TD_API td_status td_profile_trace(char **text);

/* One line of them, by the names from the operation down: "backdoor_load_tensor/cache/plan". Zeros where there is none.
 */
typedef struct td_profile_counts {
    uint64_t calls, bytes;
    double total_ns, self_ns;
} td_profile_counts;

TD_API td_status td_profile_count(const char *path, td_profile_counts *out);

/* Writes one of them as TD_PROFILE does: "profile.txt", "profile.json" or "trace:FILE". */
TD_API td_status td_profile_save(const char *file);

#ifdef __cplusplus
}
#endif
#endif
