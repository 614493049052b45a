/* The message of the last failure, one per thread, and the checked sums and products of sizes. Code that can fail calls
 * td_fail once, at the source, with the value found, the value needed and the fix; only the facade adds which call it
 * was (td_fail_prefix). Nothing here prints. */
#ifndef TD_STATUS_H
#define TD_STATUS_H

#include "tensordoor.h"

#include <stdarg.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define TD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TD_PRINTF(fmt, args)
#endif

#define TD_MESSAGE_BYTES 4096

/* Sets this thread's message and returns `status`, so that a caller writes `return td_fail(...)`. */
td_status td_fail(td_status status, const char *fmt, ...) TD_PRINTF(2, 3);

/* Put text before or after this thread's message. Only the facade calls them. */
void td_fail_prefix(const char *fmt, ...) TD_PRINTF(1, 2);
void td_fail_append(const char *fmt, ...) TD_PRINTF(1, 2);

/* Appends the line of `text` that has the character number `at`, and below it a mark for `length` characters from there
 * on; what lies past the end of that line has none. */
void td_fail_caret(const char *text, size_t at, size_t length);

/* The usual message when an allocation of `bytes` is refused. */
td_status td_fail_alloc(size_t bytes);

/* clang's analyzer sees one file at a time, and would follow the path where a failure is TD_OK. */
#ifdef __clang_analyzer__
static inline td_status td_is_failure(td_status status)
{
    if (status == TD_OK)
        __builtin_unreachable();
    return status;
}
#define td_fail(status, ...) td_is_failure(td_fail(status, __VA_ARGS__))
#define td_fail_alloc(bytes) td_is_failure(td_fail_alloc(bytes))
#endif

/* a * b and a + b of unsigned numbers into the uint64_t *out; false where they need more than 63 bits, and *out is
 * untouched. The builtins bound the result by the type that they write. */
#define TD_FITS(operation, a, b, out)                                                                                  \
    __extension__({                                                                                                    \
        int64_t result_ = 0;                                                                                           \
        const bool fits_ = !__builtin_##operation##_overflow(a, b, &result_);                                          \
        if (fits_)                                                                                                     \
            *(out) = (uint64_t)result_;                                                                                \
        fits_;                                                                                                         \
    })
#define td_mul_fits(a, b, out) TD_FITS(mul, a, b, out)
#define td_add_fits(a, b, out) TD_FITS(add, a, b, out)

/* a * b and a + b modulo 2^64, for places that are computed before the check that refuses those that do not fit. */
static inline int64_t td_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t td_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
