/* The mode of floating point that the library calculates in: the one that C starts with. A simulator that was linked
 * for fast mathematics flushes denormals, and some tests round otherwise or trap; the caller's mode is left behind as
 * it was. */
#ifndef TD_MODE_H
#define TD_MODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static inline unsigned td_mode_enter(void)
{
#if defined(__x86_64__)
    const unsigned mode = _mm_getcsr();
    if ((mode & 0xffc0) != 0x1f80) /* all but the flags: to nearest, nothing trapped, denormals kept */
        _mm_setcsr(0x1f80);
    return mode;
#else
    return 0;
#endif
}

static inline void td_mode_leave(unsigned mode)
{
#if defined(__x86_64__)
    if ((mode & 0xffc0) != 0x1f80)
        _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

#endif
