/* See text.h. The parsers of layouts, options and file names call it, and everything that prints more than a message.
 * It refuses nothing but memory. */
#include "base/text.h"
#include "base/fp_mode.h"

#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the C locale, rounding to nearest -- */

typedef struct setting {
    locale_t locale;
    unsigned mode;
    int rounding; /* the C library looks at that of the x87, which td_mode_enter leaves */
} setting;

static locale_t c_locale;
static pthread_once_t c_locale_made = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* All are settings of this thread alone. Without memory for a locale the caller's stays. */
static setting enter(void)
{
    (void)pthread_once(&c_locale_made, make_c_locale);
    const setting old = {c_locale ? uselocale(c_locale) : (locale_t)0, td_mode_enter(), fegetround()};
    if (old.rounding != FE_TONEAREST)
        (void)fesetround(FE_TONEAREST);
    return old;
}

static void leave(setting old)
{
    if (old.locale)
        (void)uselocale(old.locale);
    if (old.rounding != FE_TONEAREST)
        (void)fesetround(old.rounding);
    td_mode_leave(old.mode);
}

int td_text_vprint(char *text, size_t bytes, const char *fmt, va_list args)
{
    const setting old = enter();
    const int length = vsnprintf(text, bytes, fmt, args);
    leave(old);
    return length;
}

int td_text_print(char *text, size_t bytes, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int length = td_text_vprint(text, bytes, fmt, args);
    va_end(args);
    return length;
}

double td_text_real(const char *text, char **end)
{
    const setting old = enter();
    const double value = strtod(text, end);
    leave(old);
    return value;
}

float td_text_real_f32(const char *text, char **end)
{
    const setting old = enter();
    const float value = strtof(text, end);
    leave(old);
    return value;
}

/* -- a string that grows -- */

void td_text_add(td_text *t, const char *fmt, ...)
{
    if (t->failed)
        return;
    va_list args;
    va_start(args, fmt);
    int need = td_text_vprint(NULL, 0, fmt, args);
    va_end(args);
    if (need < 0) {
        t->failed = true;
        return;
    }
    size_t wanted = t->used + (size_t)need + 1;
    if (wanted > t->room) {
        size_t room = wanted * 2 > 128 ? wanted * 2 : 128;
        char *grown = realloc(t->text, room);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->text = grown;
        t->room = room;
    }
    va_start(args, fmt);
    (void)td_text_vprint(t->text + t->used, t->room - t->used, fmt, args);
    va_end(args);
    t->used += (size_t)need;
}

void td_text_bits(td_text *t, uint64_t first, uint64_t bits, int64_t step)
{
    const uint64_t last = first + (uint64_t)((int64_t)(bits - 1) * step);
    if (bits == 1)
        td_text_add(t, "bit %" PRIu64, first);
    else
        td_text_add(t, "bits %" PRIu64 ":%" PRIu64, last, first);
    if (bits > 1 && step != 1)
        td_text_add(t, " step %" PRId64, step);
}

const char *td_text_unexpected(const char *at, char *text)
{
    const unsigned char byte = (unsigned char)*at;
    if (!byte)
        snprintf(text, TD_UNEXPECTED_BYTES, "unexpected end");
    else if (byte < 0x20 || byte > 0x7e)
        snprintf(text, TD_UNEXPECTED_BYTES, "unexpected byte 0x%02x", (unsigned)byte);
    else
        snprintf(text, TD_UNEXPECTED_BYTES, "unexpected character '%c'", byte);
    return text;
}

bool td_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool td_is_name_char(char c)
{
    return td_is_name_start(c) || (c >= '0' && c <= '9');
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

bool td_text_number(const char **at, uint64_t *value)
{
    const char *p = *at;
    int base = 10;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
    }
    if (digit_value(*p) >= base)
        return false;
    uint64_t sum = 0;
    for (; digit_value(*p) < base || (*p == '_' && digit_value(p[1]) < base); p++) {
        if (*p == '_')
            continue;
        if (!td_mul_fits(sum, (uint64_t)base, &sum) || !td_add_fits(sum, (uint64_t)digit_value(*p), &sum))
            return false;
    }
    *value = sum;
    *at = p;
    return true;
}
