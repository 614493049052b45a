/* Zip archives by hand, as PKWARE's APPNOTE has them, with every field open to a lie. They share no code with the
 * library's own reader and writer. */
#ifndef TD_TEST_ARCHIVE_H
#define TD_TEST_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct archive {
    unsigned char bytes[4096];
    size_t used;
} archive;

static inline void add(archive *a, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        a->bytes[a->used++] = (unsigned char)(i < 8 ? value >> (8 * i) : 0);
}

static inline void add_text(archive *a, const char *text)
{
    memcpy(a->bytes + a->used, text, strlen(text));
    a->used += strlen(text);
}

static inline size_t npy(unsigned char *out, const char *shape, size_t data_bytes)
{
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\x00v\x00", 10);
    char header[118];
    int used = snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%s,), }", shape);
    memcpy(out + 10, header, (size_t)used);
    out[127] = '\n';
    for (size_t i = 0; i < data_bytes; i++)
        out[128 + i] = (unsigned char)(i + 1);
    return 128 + data_bytes;
}

typedef struct member {
    const char *name;
    unsigned method;
    unsigned flags;
    uint64_t bytes;        /* what the directory says; 0: the truth */
    uint64_t stored_bytes; /* the same */
    uint64_t offset;       /* the same */
    bool large;            /* sizes and offset in the 64-bit field */
} member;

/* Where the parts of the archive begin, for tests that damage it. */
typedef struct places {
    size_t directory;
    size_t end64;
    size_t locator;
    size_t end;
} places;

static inline places build(archive *a, const member *members, size_t count, bool end64)
{
    unsigned char data[256];
    size_t data_bytes = npy(data, "5", 5);
    size_t offsets[4];
    a->used = 0;
    for (size_t i = 0; i < count; i++) {
        offsets[i] = a->used;
        add(a, 0x04034b50, 4);
        add(a, 20, 2);
        add(a, members[i].flags, 2);
        add(a, members[i].method, 2);
        add(a, 0, 4);
        add(a, 0, 4); /* the sum of a stored member is not read */
        add(a, data_bytes, 4);
        add(a, data_bytes, 4);
        add(a, strlen(members[i].name), 2);
        add(a, 0, 2);
        add_text(a, members[i].name);
        memcpy(a->bytes + a->used, data, data_bytes);
        a->used += data_bytes;
    }
    places p = {.directory = a->used};
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = members[i].bytes ? members[i].bytes : data_bytes;
        uint64_t stored_bytes = members[i].stored_bytes ? members[i].stored_bytes : data_bytes;
        uint64_t offset = members[i].offset ? members[i].offset : offsets[i];
        bool large = members[i].large;
        add(a, 0x02014b50, 4);
        add(a, 45, 2);
        add(a, 45, 2);
        add(a, members[i].flags, 2);
        add(a, members[i].method, 2);
        add(a, 0, 4);
        add(a, 0, 4);
        add(a, large ? UINT32_MAX : stored_bytes, 4);
        add(a, large ? UINT32_MAX : bytes, 4);
        add(a, strlen(members[i].name), 2);
        add(a, large ? 36 : 0, 2);
        add(a, 0, 10);
        add(a, large ? UINT32_MAX : offset, 4);
        add_text(a, members[i].name);
        if (large) {
            add(a, 0x5455, 2); /* a field of another kind in front */
            add(a, 4, 2);
            add(a, 0, 4);
            add(a, 1, 2);
            add(a, 24, 2);
            add(a, bytes, 8);
            add(a, stored_bytes, 8);
            add(a, offset, 8);
        }
    }
    size_t directory_bytes = a->used - p.directory;
    if (end64) {
        p.end64 = a->used;
        add(a, 0x06064b50, 4);
        add(a, 44, 8);
        add(a, 45, 2);
        add(a, 45, 2);
        add(a, 0, 8);
        add(a, count, 8);
        add(a, count, 8);
        add(a, directory_bytes, 8);
        add(a, p.directory, 8);
        p.locator = a->used;
        add(a, 0x07064b50, 4);
        add(a, 0, 4);
        add(a, p.end64, 8);
        add(a, 1, 4);
    }
    p.end = a->used;
    add(a, 0x06054b50, 4);
    add(a, 0, 4);
    add(a, end64 ? UINT16_MAX : count, 2);
    add(a, end64 ? UINT16_MAX : count, 2);
    add(a, end64 ? UINT32_MAX : directory_bytes, 4);
    add(a, end64 ? UINT32_MAX : p.directory, 4);
    add(a, 0, 2);
    return p;
}

#endif
