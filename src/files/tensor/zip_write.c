/* Zip archives on their way out; see zip.h. Members are stored, not deflated, so that they can be mapped; each begins
 * at a multiple of 64 bytes, after an extra field of zeros as zipalign writes it. Sizes and offsets past 32 bits go
 * into 64-bit records, and only they do. */
#include "files/tensor/zip.h"

#ifdef TD_HAVE_ZLIB

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CENTRAL_BYTES = 46, LOCAL_BYTES = 30, EXTRA64_BYTES = 28, ALIGN_BYTES = 64, ALIGN_ID = 0xd935 };

/* 1980-01-01, the first day that zip knows: the same tensors make the same file. */
#define DATE 0x21

static unsigned char *set(unsigned char *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *at++ = (unsigned char)(value >> (8 * i) & 0xff);
    return at;
}

static uint64_t in32(uint64_t value)
{
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static unsigned char *set_record(unsigned char *at, unsigned char third, unsigned char fourth)
{
    *at++ = 'P';
    *at++ = 'K';
    *at++ = third;
    *at++ = fourth;
    return at;
}

/* Version, flags (bit 11: the name is UTF-8), method, time, date, sum and the two sizes: the same in both headers. */
static unsigned char *set_common(unsigned char *at, unsigned version, uint32_t crc, uint64_t bytes)
{
    at = set(at, version, 2);
    at = set(at, 0x800, 2);
    at = set(at, 0, 4);
    at = set(at, DATE, 2);
    at = set(at, crc, 4);
    at = set(at, in32(bytes), 4);
    return set(at, in32(bytes), 4);
}

static bool grow_directory(td_zip_writer *zip, size_t bytes)
{
    if (zip->directory_room - zip->directory_bytes >= bytes)
        return true;
    size_t room = 2 * (zip->directory_bytes + bytes);
    unsigned char *grown = realloc(zip->directory, room);
    if (!grown)
        return false;
    zip->directory = grown;
    zip->directory_room = room;
    return true;
}

td_status td_zip_put(td_zip_writer *zip, const char *name, const td_zip_part *parts, size_t count)
{
    size_t name_length = strlen(name);
    uint64_t bytes = 0;
    uLong crc = crc32_z(0, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        crc = crc32_z(crc, parts[i].data, parts[i].bytes);
        bytes += parts[i].bytes;
    }
    if (!grow_directory(zip, CENTRAL_BYTES + name_length + EXTRA64_BYTES))
        return td_fail_alloc(CENTRAL_BYTES + name_length + EXTRA64_BYTES);

    bool large = bytes >= UINT32_MAX;
    size_t extra64 = large ? 20 : 0;
    uint64_t plain = zip->offset + LOCAL_BYTES + name_length + extra64 + 4;
    size_t padding = (size_t)((ALIGN_BYTES - plain % ALIGN_BYTES) % ALIGN_BYTES);

    unsigned char head[LOCAL_BYTES + 24 + ALIGN_BYTES] = {0};
    unsigned char *at = set_common(set_record(head, 3, 4), large ? 45 : 20, (uint32_t)crc, bytes);
    (void)set(set(at, name_length, 2), extra64 + 4 + padding, 2);
    td_writer_put(zip->writer, head, LOCAL_BYTES);
    td_writer_put(zip->writer, name, name_length);
    at = head;
    if (large)
        at = set(set(set(set(at, 1, 2), 16, 2), bytes, 8), bytes, 8);
    at = set(set(at, ALIGN_ID, 2), padding, 2);
    memset(at, 0, padding);
    td_writer_put(zip->writer, head, extra64 + 4 + padding);
    for (size_t i = 0; i < count; i++)
        td_writer_put(zip->writer, parts[i].data, parts[i].bytes);

    bool far = zip->offset >= UINT32_MAX;
    size_t extra = large || far ? (size_t)4 + (large ? 16 : 0) + (far ? 8 : 0) : 0;
    at = zip->directory + zip->directory_bytes;
    at = set_common(set(set_record(at, 1, 2), 45, 2), extra ? 45 : 20, (uint32_t)crc, bytes);
    at = set(set(set(set(at, name_length, 2), extra, 2), 0, 8), 0, 2); /* no comment, first disk, no attributes */
    at = set(at, in32(zip->offset), 4);
    memcpy(at, name, name_length);
    at += name_length;
    if (extra) {
        at = set(set(at, 1, 2), extra - 4, 2);
        if (large)
            at = set(set(at, bytes, 8), bytes, 8);
        if (far)
            at = set(at, zip->offset, 8);
    }
    zip->directory_bytes = (size_t)(at - zip->directory);
    zip->offset = plain + padding + bytes;
    zip->entries++;
    return TD_OK;
}

td_status td_zip_finish(td_zip_writer *zip, td_status status)
{
    if (status == TD_OK) {
        unsigned char end[56 + 20 + 22] = {0};
        unsigned char *at = end;
        uint64_t directory_end = zip->offset + zip->directory_bytes;
        td_writer_put(zip->writer, zip->directory, zip->directory_bytes);
        if (zip->offset >= UINT32_MAX || zip->entries >= UINT16_MAX || zip->directory_bytes >= UINT32_MAX) {
            at = set(set(set_record(at, 6, 6), 44, 8), 45 | 45 << 16, 4);
            at = set(set(set(at, 0, 8), zip->entries, 8), zip->entries, 8);
            at = set(set(at, zip->directory_bytes, 8), zip->offset, 8);
            at = set(set(set(set_record(at, 6, 7), 0, 4), directory_end, 8), 1, 4);
        }
        uint64_t entries = zip->entries < UINT16_MAX ? zip->entries : UINT16_MAX;
        at = set(set(set(set_record(at, 5, 6), 0, 4), entries, 2), entries, 2);
        at = set(set(set(at, in32(zip->directory_bytes), 4), in32(zip->offset), 4), 0, 2);
        td_writer_put(zip->writer, end, (size_t)(at - end));
    }
    free(zip->directory);
    *zip = (td_zip_writer){0};
    return status;
}

#else

td_status td_zip_put(td_zip_writer *zip, const char *name, const td_zip_part *parts, size_t count)
{
    (void)zip;
    (void)name;
    (void)parts;
    (void)count;
    return td_fail(TD_FILE,
                   "this build writes no .npz, it was made without zlib; install zlib1g-dev and build again, or "
                   "save as .npy");
}

td_status td_zip_finish(td_zip_writer *zip, td_status status)
{
    *zip = (td_zip_writer){0};
    return status;
}

#endif
