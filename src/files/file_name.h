/* The name of a file as every call of the library takes it: [FORMAT[,KEY=VALUE...]:]PATH[:MEMBER]. The facades
 * (tensor/file.c and image/file.c) read a name once and hand the formats what it says. */
#ifndef TD_FILE_NAME_H
#define TD_FILE_NAME_H

#include "values/dtype.h"

typedef enum td_file_format {
    TD_FILE_NPY,
    TD_FILE_NPZ,
    TD_FILE_SAFETENSORS,
    TD_FILE_GGUF,
    TD_FILE_RAW,
    TD_FILE_READMEMH,
    TD_FILE_READMEMB,
    TD_FILE_IHEX,
    TD_FILE_SREC,
    TD_FILE_ELF,
    TD_FILE_MIF,
    TD_FILE_COE,
    TD_FILE_FORMATS
} td_file_format;

/* What the x, z and ? digits of readmem text become. */
typedef enum td_x_digit { TD_X_DIGIT_REFUSED, TD_X_DIGIT_ZERO, TD_X_DIGIT_ONE } td_x_digit;

/* The options of all formats; those that a format does not have cannot be set. */
typedef struct td_file_options {
    bool has_dtype;
    bool has_shape;
    td_dtype dtype;
    td_shape shape;
    uint64_t offset_bytes; /* raw tensors: where the data begins */
    uint64_t base;         /* images with addresses: the file's address of word 0 */
    bool big_endian;       /* the first byte of an element or a word is the most significant */
    bool byte_units;       /* readmem: every number of the text is one byte */
    bool byte_addresses;   /* readmem: @address counts bytes, the numbers are words */
    td_x_digit x_digit;
    bool zero_bss;          /* ELF: what a segment has in memory and not in the file is zeros */
    bool virtual_addresses; /* ELF: p_vaddr in place of p_paddr */
    bool skip_outside;      /* formats of byte addresses: bytes outside the memory are counted, not refused */
    char section[64];       /* ELF: load this section alone; "": all segments */
} td_file_options;

typedef struct td_file_name {
    td_file_format format;
    td_file_options options;
    char *path;         /* owned */
    const char *member; /* NULL when none is named; lives in the same allocation */
} td_file_name;

/* TD_ARGUMENT for a name without a format that the use has, TD_OPTION for options; TD_DTYPE and TD_SHAPE of theirs. */
td_status td_file_name_parse(const char *text, td_file_use use, td_file_name *out);
void td_file_name_free(td_file_name *name);

/* The word in front of the colon: "npz". */
const char *td_file_format_word(td_file_format format);

/* Puts the call and the name in front of the message of a failure; returns `status`. */
td_status td_file_context(td_status status, const char *call, const char *text);

#endif
