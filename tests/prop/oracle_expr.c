/* The oracle's address expressions: C's integer arithmetic and precedence in 64 bits, evaluated straight from the text,
 * once for every word. See oracle.h. */
#include "oracle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct evaluation {
    oracle *o;
    const char *p;
    uint64_t index;
    bool bad;
} evaluation;

static int64_t binary(evaluation *e, int level);

static int64_t bad(evaluation *e)
{
    e->bad = true;
    return 0;
}

static char peek(evaluation *e)
{
    e->p = oracle_skip_spaces(e->p);
    return *e->p;
}

static bool take(evaluation *e, char c)
{
    if (peek(e) != c)
        return false;
    e->p++;
    return true;
}

static bool named(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

/* rev(x, bits), interleave(x, y) with x in the even bits, min, max, dim(n). */
static int64_t call(evaluation *e, const char *name, size_t length)
{
    int64_t x = binary(e, 0);
    if (named(name, length, "dim"))
        return take(e, ')') && x >= 0 && x < (int64_t)e->o->in.rank ? (int64_t)e->o->in.dim[x] : bad(e);
    int64_t y = take(e, ',') ? binary(e, 0) : bad(e);
    if (!take(e, ')'))
        return bad(e);
    if (named(name, length, "min"))
        return x < y ? x : y;
    if (named(name, length, "max"))
        return x > y ? x : y;
    uint64_t value = 0;
    if (named(name, length, "rev")) {
        if (y < 1 || y > 62 || x < 0 || x >> y)
            return bad(e);
        for (int64_t i = 0; i < y; i++)
            if (x >> i & 1)
                value |= (uint64_t)1 << (y - 1 - i);
        return (int64_t)value;
    }
    if (!named(name, length, "interleave") || x < 0 || y < 0 || x >> 31 || y >> 31)
        return bad(e);
    for (int i = 0; i < 31; i++)
        value |= ((uint64_t)(x >> i) & 1) << (2 * i) | ((uint64_t)(y >> i) & 1) << (2 * i + 1);
    return (int64_t)value;
}

static int64_t primary(evaluation *e)
{
    char c = peek(e);
    if (take(e, '(')) {
        int64_t value = binary(e, 0);
        return take(e, ')') ? value : bad(e);
    }
    if (take(e, '-'))
        return -primary(e);
    if (take(e, '+'))
        return primary(e);
    if (isdigit((unsigned char)c)) {
        char *end = NULL;
        bool hex = c == '0' && (e->p[1] == 'x' || e->p[1] == 'X');
        uint64_t value = strtoull(e->p, &end, hex ? 16 : 10);
        e->p = end;
        return value <= INT64_MAX ? (int64_t)value : bad(e);
    }
    size_t n = oracle_word_length(e->p);
    const char *name = e->p;
    e->p += n;
    if (n && take(e, '('))
        return call(e, name, n);
    oracle_axis *axis = n ? oracle_find_axis(e->o, name, n) : NULL;
    if (!axis && named(name, n, "index"))
        return (int64_t)e->index;
    const oracle_group *groups[] = {&e->o->word, &e->o->bank, &e->o->lane};
    for (size_t g = 0; axis && g < 3; g++)
        for (size_t i = 0; i < groups[g]->count; i++)
            if (&e->o->axes[groups[g]->axis[i]] == axis)
                return (int64_t)axis->value;
    return bad(e);
}

static int64_t apply(evaluation *e, char op, int64_t a, int64_t b)
{
    int64_t value = 0;
    bool overflow = false;
    switch (op) {
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '<':
        overflow = b < 0 || b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, &value);
        break;
    case '>':
        return b < 0 || b > 62 ? bad(e) : a >> b;
    case '+':
        overflow = __builtin_add_overflow(a, b, &value);
        break;
    case '-':
        overflow = __builtin_sub_overflow(a, b, &value);
        break;
    case '*':
        overflow = __builtin_mul_overflow(a, b, &value);
        break;
    case '/':
        return b == 0 || b == -1 ? (b ? -a : bad(e)) : a / b;
    default:
        return b == 0 || b == -1 ? (b ? 0 : bad(e)) : a % b;
    }
    return overflow ? bad(e) : value;
}

/* Levels from the loosest to the tightest, as in C: | ^ & shifts sums products. */
static int64_t binary(evaluation *e, int level)
{
    static const char *const operators[] = {"|", "^", "&", "<>", "+-", "*/%"};
    if (level == 6)
        return primary(e);
    int64_t value = binary(e, level + 1);
    for (char op = peek(e); !e->bad && op != '\0' && strchr(operators[level], op); op = peek(e)) {
        e->p++;
        if ((op == '<' || op == '>') && !take(e, op))
            return bad(e);
        int64_t right = binary(e, level + 1);
        value = e->bad ? 0 : apply(e, op, value, right);
    }
    return value;
}

bool oracle_evaluate(oracle *o, const char *text, uint64_t index, int64_t *value)
{
    evaluation e = {o, text, index, false};
    *value = binary(&e, 0);
    if (e.bad || peek(&e) != '\0')
        return oracle_refuse(o, "address", text);
    return true;
}
