/* Pages from the system: zero pages for memories and large tensors, and the bytes of files, read or mapped. */
#ifndef TD_PAGES_H
#define TD_PAGES_H

#include "base/status.h"

/* Zero pages that cost nothing until they are touched, or NULL. With `reserve` the system may refuse more than it could
 * ever back; without it address space is the only limit. `bytes` becomes what is to be unmapped: more where a huge page
 * ends later. */
void *td_pages_map(size_t *bytes, bool reserve);
void td_pages_unmap(void *pages, size_t bytes);

/* For what is written whole before it is read: new pages cost more than any kernel that fills them, so some are kept
 * between calls, with what they hold, for the next who asks. The system may take kept pages when it runs short.
 * td_pages_keep takes pages of td_pages_map or td_pages_reuse and keeps or unmaps them. */
void *td_pages_reuse(size_t *bytes);
void td_pages_keep(void *pages, size_t bytes);

/* Zero again, and the pages back to the system. */
void td_pages_clear(void *pages, size_t bytes);

/* A whole regular file, or a part of one: `bytes` and `size` are what a reader sees, `map` is the pages under it: those
 * of the file, or a copy. An empty file has no pages: `bytes` is then "" and `size` is 0. */
typedef struct td_file_map {
    const unsigned char *bytes;
    size_t size;
    void *map; /* what td_file_unmap gives back; td_file_take moves it to whoever keeps it */
    size_t map_bytes;
    struct td_file_origin *origin; /* the file under a mapping; NULL for a copy */
} td_file_map;

/* Moves the pages to the caller, and leaves `file` without them. */
td_file_map td_file_take(td_file_map *file);

/* Reading a mapped page that its file no longer has ends the program with SIGBUS. A library cannot catch that for the
 * simulator around it, so it looks before it reads: TD_FILE when the file is shorter than it was. What is cut off while
 * a call reads it still ends the program. A file that another one has replaced under its name is not looked at: its
 * pages stay. */
td_status td_file_check(const struct td_file_origin *origin);

/* Files of less than 1 MiB are copied, larger ones mapped. "-" is standard input, which may be a pipe: it is read to
 * its end once, and every call sees the same bytes. TD_FILE when the path cannot be opened or is not a regular file. */
td_status td_file_map_open(const char *path, td_file_map *out);

/* The same, copied at any size: for files that a call reads once from end to end, where a mapping would gain nothing.
 * TD_FILE when the file is cut while it is read. */
td_status td_file_copy_open(const char *path, td_file_map *out);
void td_file_unmap(td_file_map *file);

/* The system's words for an errno value, safe with threads. */
const char *td_errno_text(int error);

#endif
