/* Codes by their definition, one bit at a time: what test_codes.c holds the library against. It shares no code with
 * src/codes/, and has its own copy of OpenTitan's masks. */
#ifndef TD_TEST_CODE_ORACLE_H
#define TD_TEST_CODE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORACLE_BITS 4200

typedef struct oracle {
    unsigned data, address, checks, subwords; /* data, address and check bits of a subword */
    int place;                                /* 0 above, 1 below, 2 interleaved */
    bool mask[32][ORACLE_BITS];               /* data, address, earlier check bits */
    bool constant[ORACLE_BITS];               /* data, check bits */
} oracle;

typedef struct oracle_name {
    const char *name;
    unsigned data, checks;
    const char *mask[8];
    const char *inverted; /* the constant of the inverted code */
} oracle_name;

static const oracle_name oracle_names[] = {
    {"22_16", 16, 6, {"496e", "f20b", "8ed8", "7714", "aca5", "11f3"}, "2a0000"},
    {"28_22", 22, 6, {"3003ff", "10fc0f", "271c71", "3b6592", "3daaa4", "3ed348"}, "a800000"},
    {"39_32",
     32,
     7,
     {"2606bd25", "deba8050", "413d89aa", "31234ed1", "c2c1323b", "2dcc624c", "98505586"},
     "2a00000000"},
    {"64_57",
     57,
     7,
     {"103fff800007fff", "17c1ff801ff801f", "1bde1f87e0781e1", "1deee3b8e388e22", "1ef76cdb2c93244", "1f7bb56d5525488",
      "1fbdda769a46910"},
     "5400000000000000"},
    {"72_64",
     64,
     8,
     {"b9000000001fffff", "5e00000fffe0003f", "67003ff003e007c1", "cd0fc0f03c207842", "b671c711c4438884",
      "b5b65926488c9108", "cbdaaa4a91152210", "7aed348d221a4420"},
     "aa0000000000000000"},
    {"hamming_22_16", 16, 6, {"ad5b", "366d", "c78e", "7f0", "f800", "1fffff"}, "2a0000"},
    {"hamming_39_32",
     32,
     7,
     {"56aaad5b", "9b33366d", "e3c3c78e", "3fc07f0", "3fff800", "fc000000", "3fffffffff"},
     "2a00000000"},
    {"hamming_72_64",
     64,
     8,
     {"ab55555556aaad5b", "cd9999999b33366d", "f1e1e1e1e3c3c78e", "1fe01fe03fc07f0", "1fffe0003fff800",
      "1fffffffc000000", "fe00000000000000", "7fffffffffffffffff"},
     "aa0000000000000000"},
    {"hamming_76_68",
     68,
     8,
     {"aab55555556aaad5b", "ccd9999999b33366d", "f1e1e1e1e3c3c78e", "f01fe01fe03fc07f0", "1fffe0003fff800",
      "1fffffffc000000", "ffe00000000000000", "7ffffffffffffffffff"},
     "aa00000000000000000"},
};

static inline void oracle_hex(const char *text, bool *bits)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        const char digit[2] = {text[length - 1 - i], 0};
        const unsigned long value = strtoul(digit, NULL, 16);
        for (unsigned b = 0; b < 4; b++)
            bits[4 * i + b] = value >> b & 1;
    }
}

static inline void oracle_named(oracle *o, const oracle_name *name, bool inverted, unsigned subwords)
{
    memset(o, 0, sizeof *o);
    o->data = name->data;
    o->checks = name->checks;
    o->subwords = subwords;
    o->place = 2;
    for (unsigned j = 0; j < name->checks; j++)
        oracle_hex(name->mask[j], o->mask[j]);
    if (inverted)
        oracle_hex(name->inverted, o->constant);
}

static inline bool oracle_bit(const unsigned char *word, size_t bit)
{
    return word[bit / 8] >> bit % 8 & 1;
}

static inline void oracle_set(unsigned char *word, size_t bit, bool value)
{
    word[bit / 8] = (unsigned char)((word[bit / 8] & ~(1u << bit % 8)) | (unsigned)value << bit % 8);
}

/* Where a bit of a coded subword stands: data from 0, then the check bits. */
static inline size_t oracle_place(const oracle *o, unsigned subword, unsigned bit)
{
    const unsigned check = bit - o->data;
    if (o->place == 2)
        return (size_t)subword * (o->data + o->checks) + bit;
    if (o->place == 0)
        return bit < o->data ? (size_t)subword * o->data + bit
                             : (size_t)o->subwords * o->data + subword * o->checks + check;
    return bit < o->data ? (size_t)o->subwords * o->checks + (size_t)subword * o->data + bit
                         : (size_t)subword * o->checks + check;
}

static inline void oracle_encode(const oracle *o, const unsigned char *data, uint64_t address, unsigned char *coded)
{
    static bool bit[ORACLE_BITS];
    for (unsigned s = 0; s < o->subwords; s++) {
        for (unsigned i = 0; i < o->data; i++)
            bit[i] = oracle_bit(data, (size_t)s * o->data + i);
        for (unsigned i = 0; i < o->address; i++)
            bit[o->data + i] = address >> i & 1;
        for (unsigned j = 0; j < o->checks; j++) {
            bool sum = false;
            for (unsigned i = 0; i < o->data + o->address + j; i++)
                sum ^= o->mask[j][i] && bit[i];
            bit[o->data + o->address + j] = sum;
        }
        for (unsigned i = 0; i < o->data + o->checks; i++)
            oracle_set(coded, oracle_place(o, s, i), bit[i < o->data ? i : i + o->address] ^ o->constant[i]);
    }
}

#endif
