/* See zip.h. npz.c calls it. The layout of records is that of PKWARE's APPNOTE 6.3: end record, its 64-bit twin,
 * central and local headers. It refuses encrypted members, methods other than stored and deflated, sizes that deflate
 * cannot reach from the bytes that are there, and records that point outside the file. */
#include "files/tensor/zip.h"

#include <inttypes.h>
#include <string.h>

#ifdef TD_HAVE_ZLIB
#include <zlib.h>
#endif

enum { END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, CENTRAL_BYTES = 46, LOCAL_BYTES = 30 };
enum { STORED = 0, DEFLATED = 8 };

/* One deflate block of 258-byte copies makes at most 1032 bytes of each. */
#define MAX_RATIO 1032

static uint64_t get(const unsigned char *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = bytes; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static bool is_record(const unsigned char *at, unsigned char third, unsigned char fourth)
{
    return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth;
}

static td_status fail_damaged(const char *what)
{
    return td_fail(TD_FORMAT, "the zip archive is damaged: %s; write the file again", what);
}

/* -- the directory -- */

/* The end record stands at the end, with a comment of at most 65535 bytes after it. */
static td_status find_end(const unsigned char *bytes, size_t size, size_t *at)
{
    if (size >= 4 && !is_record(bytes, 3, 4) && !is_record(bytes, 5, 6))
        return td_fail(TD_FORMAT, "not a zip archive: it does not begin with PK; save it with numpy.savez");
    for (size_t comment = 0; comment <= 65535 && size >= END_BYTES + comment; comment++) {
        size_t place = size - END_BYTES - comment;
        if (is_record(bytes + place, 5, 6) && get(bytes + place + 20, 2) == comment) {
            *at = place;
            return TD_OK;
        }
    }
    return td_fail(TD_FORMAT, "the zip archive of %zu bytes has no end record; it is cut short", size);
}

td_status td_zip_open(const unsigned char *bytes, size_t size, td_zip *out)
{
    size_t end = 0;
    td_status status = find_end(bytes, size, &end);
    if (status != TD_OK)
        return status;
    uint64_t entries = get(bytes + end + 10, 2);
    uint64_t directory_bytes = get(bytes + end + 12, 4);
    uint64_t directory = get(bytes + end + 16, 4);
    uint64_t directory_limit = end;
    if (end >= LOCATOR_BYTES && is_record(bytes + end - LOCATOR_BYTES, 6, 7)) {
        uint64_t end64 = get(bytes + end - LOCATOR_BYTES + 8, 8);
        if (end < LOCATOR_BYTES + END64_BYTES || end64 > end - LOCATOR_BYTES - END64_BYTES ||
            !is_record(bytes + end64, 6, 6))
            return fail_damaged("its 64-bit end record is not where it says");
        entries = get(bytes + end64 + 32, 8);
        directory_bytes = get(bytes + end64 + 40, 8);
        directory = get(bytes + end64 + 48, 8);
        directory_limit = end64;
    }
    if (directory > directory_limit || directory_bytes > directory_limit - directory)
        return fail_damaged("its directory is not inside the file");
    if (entries > directory_bytes / CENTRAL_BYTES)
        return fail_damaged("its directory is too short for the members it counts");
    *out = (td_zip){bytes, size, (size_t)directory, (size_t)(directory + directory_bytes), entries};
    return TD_OK;
}

/* The 64-bit sizes and offset of an entry, for those of the 32-bit fields that say "see there". */
static bool read_extra64(const unsigned char *extra, size_t length, td_zip_entry *entry)
{
    bool wanted = entry->bytes == UINT32_MAX || entry->stored_bytes == UINT32_MAX || entry->header_offset == UINT32_MAX;
    while (wanted && length >= 4) {
        size_t part = (size_t)get(extra + 2, 2);
        if (part > length - 4)
            return false;
        if (get(extra, 2) == 1) {
            uint64_t *const fields[] = {&entry->bytes, &entry->stored_bytes, &entry->header_offset};
            size_t used = 0;
            for (size_t f = 0; f < 3; f++)
                if (*fields[f] == UINT32_MAX) {
                    if (part < used + 8)
                        return false;
                    *fields[f] = get(extra + 4 + used, 8);
                    used += 8;
                }
            return true;
        }
        extra += 4 + part;
        length -= 4 + part;
    }
    return !wanted;
}

td_status td_zip_next(const td_zip *zip, uint64_t *at, size_t *offset, td_zip_entry *out)
{
    const unsigned char *e = zip->bytes + *offset;
    size_t left = zip->directory_end - *offset;
    if (left < CENTRAL_BYTES || !is_record(e, 1, 2))
        return fail_damaged("an entry of its directory is none");
    size_t name_length = (size_t)get(e + 28, 2);
    size_t extra_length = (size_t)get(e + 30, 2);
    size_t comment_length = (size_t)get(e + 32, 2);
    if (name_length + extra_length + comment_length > left - CENTRAL_BYTES)
        return fail_damaged("an entry of its directory passes its end");
    td_zip_entry entry = {.name = (const char *)e + CENTRAL_BYTES,
                          .name_length = name_length,
                          .flags = (unsigned)get(e + 8, 2),
                          .method = (unsigned)get(e + 10, 2),
                          .crc = (uint32_t)get(e + 16, 4),
                          .stored_bytes = get(e + 20, 4),
                          .bytes = get(e + 24, 4),
                          .header_offset = get(e + 42, 4)};
    if (!read_extra64(e + CENTRAL_BYTES + name_length, extra_length, &entry))
        return fail_damaged("an entry of its directory has no 64-bit sizes");
    *offset += CENTRAL_BYTES + name_length + extra_length + comment_length;
    *at += 1;
    *out = entry;
    return TD_OK;
}

/* -- one member -- */

static td_status find_data(const td_zip *zip, const td_zip_entry *entry, size_t *offset)
{
    if (entry->flags & 1)
        return td_fail(TD_FORMAT, "the member is encrypted; save it without a password");
    if (entry->method != STORED && entry->method != DEFLATED)
        return td_fail(TD_FORMAT, "the member is compressed with method %u; stored (0) and deflated (8) are known",
                       entry->method);
    if (entry->header_offset > zip->directory || zip->directory - entry->header_offset < LOCAL_BYTES ||
        !is_record(zip->bytes + entry->header_offset, 3, 4))
        return fail_damaged("a member is not where its directory says");
    const unsigned char *local = zip->bytes + entry->header_offset;
    size_t begin = (size_t)entry->header_offset + LOCAL_BYTES + (size_t)get(local + 26, 2) + (size_t)get(local + 28, 2);
    if (begin > zip->directory || entry->stored_bytes > zip->directory - begin)
        return fail_damaged("a member passes the place of its directory");
    if (entry->method == STORED && entry->stored_bytes != entry->bytes)
        return fail_damaged("a stored member has two sizes");
    *offset = begin;
    return TD_OK;
}

#ifdef TD_HAVE_ZLIB

static td_status inflate_all(const unsigned char *src, size_t src_bytes, unsigned char *dst, size_t dst_bytes)
{
    const size_t step = (size_t)1 << 30; /* zlib counts in 32 bits */
    z_stream z = {0};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return td_fail_alloc(sizeof z);
    size_t taken = 0;
    size_t made = 0;
    int code = Z_OK;
    while (code == Z_OK) {
        z.next_in = (Bytef *)(uintptr_t)(src + taken);
        z.avail_in = (uInt)(src_bytes - taken < step ? src_bytes - taken : step);
        z.next_out = dst + made;
        z.avail_out = (uInt)(dst_bytes - made < step ? dst_bytes - made : step);
        code = inflate(&z, Z_NO_FLUSH);
        taken = (size_t)(z.next_in - src);
        made = (size_t)(z.next_out - dst);
    }
    (void)inflateEnd(&z);
    if (code != Z_STREAM_END || made != dst_bytes || taken != src_bytes)
        return fail_damaged("a deflated member is not what its directory says");
    return TD_OK;
}

static td_status inflate_member(const td_zip *zip, const td_zip_entry *entry, size_t offset, td_file_map *out)
{
    if (entry->bytes == 0)
        return fail_damaged("a deflated member is empty");
    if (entry->bytes / MAX_RATIO > entry->stored_bytes)
        return td_fail(TD_FORMAT,
                       "the member claims %" PRIu64 " bytes from %" PRIu64
                       ", which deflate cannot do; the file is damaged, or made to do harm",
                       entry->bytes, entry->stored_bytes);
    const size_t bytes = (size_t)entry->bytes;
    size_t mapped = bytes;
    unsigned char *pages = td_pages_map(&mapped, true);
    if (!pages)
        return td_fail_alloc(bytes);
    td_status status = inflate_all(zip->bytes + offset, (size_t)entry->stored_bytes, pages, bytes);
    if (status == TD_OK && crc32_z(crc32_z(0, NULL, 0), pages, bytes) != entry->crc)
        status = fail_damaged("the sum of a member is another");
    if (status != TD_OK) {
        td_pages_unmap(pages, mapped);
        return status;
    }
    *out = (td_file_map){pages, bytes, pages, mapped, NULL};
    return TD_OK;
}

#else

static td_status inflate_member(const td_zip *zip, const td_zip_entry *entry, size_t offset, td_file_map *out)
{
    (void)zip;
    (void)entry;
    (void)offset;
    (void)out;
    return td_fail(TD_FILE, "the member is deflated and this build was made without zlib; install zlib1g-dev and build "
                            "again, or save it with numpy.savez, which does not deflate");
}

#endif

td_status td_zip_member(const td_zip *zip, const td_zip_entry *entry, td_file_map *file, td_file_map *out)
{
    size_t offset = 0;
    td_status status = find_data(zip, entry, &offset);
    if (status != TD_OK)
        return status;
    if (entry->method == DEFLATED)
        return inflate_member(zip, entry, offset, out);
    *out = td_file_take(file);
    out->bytes = zip->bytes + offset;
    out->size = (size_t)entry->bytes;
    return TD_OK;
}
