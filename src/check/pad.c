/* Every padding kernel of every instruction set of this machine against the rule: words of every length, runs of every
 * length at every place in them, odd strides, bases off their alignment, guard bytes around and between the words, and
 * runs that end where readable memory ends. The table of kernels/pad.h makes the list. */
#include "kernels/pad.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD 0xA5
#define ROWS 9

typedef struct kernel {
    const char *name, *isa;
    int none;
    td_pad_fn fn;
} kernel;

static unsigned char dst[4096], expected[4096], value[TD_PAD_BYTES];
static unsigned char *page; /* readable; the bytes before and after it are not */
static size_t page_bytes;

static void check_word(const kernel *k, const td_pad_word *word, size_t rows, size_t gap)
{
    const ptrdiff_t dst_stride = (ptrdiff_t)(word->bytes + gap * 3), src_stride = (ptrdiff_t)(word->run + gap);
    const size_t src_bytes = (rows - 1) * (size_t)src_stride + word->run;
    for (int last = 0; last < 2; last++) {
        const unsigned char *src = last ? page + page_bytes - src_bytes : page;
        memset(dst, GUARD, sizeof dst);
        memset(expected, GUARD, sizeof expected);
        for (size_t r = 0; r < rows; r++)
            for (size_t b = 0; b < word->bytes; b++)
                expected[13 + (ptrdiff_t)r * dst_stride + (ptrdiff_t)b] =
                    b >= word->at && b < word->at + word->run
                        ? src[(ptrdiff_t)r * src_stride + (ptrdiff_t)(b - word->at)]
                        : value[b];
        k->fn(word, dst + 13, dst_stride, src, src_stride, rows);
        if (memcmp(dst, expected, sizeof dst) != 0)
            fail_msg("%s_%s: %zu words of %zu bytes, %zu from %zu on", k->name, k->isa, rows, word->bytes, word->run,
                     word->at);
    }
}

static void check(const kernel *k)
{
    for (size_t bytes = 1; bytes <= TD_PAD_BYTES; bytes++)
        for (size_t run = 1; run <= bytes; run++)
            for (size_t at = 0; at + run <= bytes; at += 1 + (bytes > 20 ? at % 5 : 0))
                check_word(k, &(td_pad_word){.value = value, .bytes = bytes, .at = at, .run = run},
                           1 + (bytes + run + at) % ROWS, (run + at) % 3);
}

static void kernels_follow_the_rule(void **state)
{
    (void)state;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *all = mmap(NULL, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    page = all + page_bytes;
    assert_int_equal(mprotect(page, page_bytes, PROT_READ | PROT_WRITE), 0);
    for (size_t i = 0; i < page_bytes; i++)
        page[i] = (unsigned char)(i * 37 + i / 251 + 1);
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (unsigned char)(200 - i);
#define X(name) CHECK_VERSIONS(pad, check, name, 0);
    TD_PAD_KERNELS(X)
#undef X
    munmap(all, 3 * page_bytes);
}

static const td_check checks[] = {TD_CHECK(kernels_follow_the_rule)};

TD_CHECK_FAMILY(pad, checks, NULL, NULL, NULL);
