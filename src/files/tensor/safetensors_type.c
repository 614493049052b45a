/* The element types of .safetensors and which of ours they are. Shared by the reader and the writer of the header. */
#include "files/tensor/safetensors.h"

#include <string.h>

/* Those under 8 bits are packed, the first element in the low bits of the first byte. */
static const td_st_type types[] = {
    {"BOOL", "u1", 8},        {"U8", "u8", 8},          {"I8", "i8", 8},        {"U16", "u16", 16},
    {"I16", "i16", 16},       {"U32", "u32", 32},       {"I32", "i32", 32},     {"U64", "u64", 64},
    {"I64", "i64", 64},       {"F16", "f16", 16},       {"BF16", "bf16", 16},   {"F32", "f32", 32},
    {"F64", "f64", 64},       {"F8_E4M3", "e4m3", 8},   {"F8_E5M2", "e5m2", 8}, {"F8_E8M0", "e8m0", 8},
    {"F6_E2M3", "e2m3", 6},   {"F6_E3M2", "e3m2", 6},   {"F4", "e2m1", 4},      {"C64", NULL, 64},
    {"F8_E4M3FNUZ", NULL, 8}, {"F8_E5M2FNUZ", NULL, 8},
};

#define TYPES (sizeof types / sizeof types[0])

const td_st_type *td_st_type_by_word(const char *word)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(types[i].word, word) == 0)
            return &types[i];
    return NULL;
}

const td_st_type *td_st_type_of(td_dtype dtype)
{
    static const char *const unsigned_words[] = {[1] = "U8", [2] = "U16", [4] = "U32", [8] = "U64"};
    static const char *const signed_words[] = {[1] = "I8", [2] = "I16", [4] = "I32", [8] = "I64"};
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(dtype, name);
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].dtype && strcmp(types[i].dtype, name) == 0)
            return &types[i];
    if (dtype.kind == TD_KIND_FLOAT)
        return NULL;
    return td_st_type_by_word(dtype.kind == TD_KIND_INT ? signed_words[dtype.bytes] : unsigned_words[dtype.bytes]);
}

uint64_t td_st_bytes(const td_st_type *type, uint64_t elems)
{
    return type->bits >= 8 ? elems * (type->bits / 8) : (elems * type->bits + 7) / 8;
}
