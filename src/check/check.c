/* Running one check: what does not hold jumps back to here. Checks run one after the other, in one thread. */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>

uint64_t td_check_seed;
bool td_check_thorough;

static jmp_buf back;
static char reason[400];

void td_check_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    longjmp(back, 1);
}

bool td_check_run(const td_check *check, void **state, char *why, size_t size)
{
    if (setjmp(back)) {
        snprintf(why, size, "%s", reason);
        return false;
    }
    check->run(state);
    return true;
}
