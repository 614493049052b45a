/* Families of kernels checked one after the other, with a line for each: `tensordoor bench --validate`. The list of
 * families is the caller's, so that a test can pass one that is wrong. */
#include "check/check.h"
#include "check/versions.h"

/* How many kernels this instruction set has of its own: those that are others than without it. */
static size_t count_own(const td_check_family *family, const version *v)
{
    td_check_kernel before[TD_CHECK_MOST_KERNELS], now[TD_CHECK_MOST_KERNELS];
    const size_t count = family->kernels(v->flags, now);
    size_t own = v == all_versions() ? count : 0;
    if (v == all_versions())
        return own;
    (void)family->kernels((v - 1)->flags, before);
    for (size_t i = 0; i < count; i++)
        own += now[i] != before[i];
    return own;
}

static size_t validate_family(FILE *out, const td_check_family *family, size_t *versions)
{
    char why[400];
    void *state = NULL;
    size_t wrong = 0;
    fprintf(out, "kernels/%-12s", family->name);
    for (const version *v = all_versions(); v->isa; v++) {
        const size_t own = count_own(family, v);
        *versions += own;
        if (own)
            fprintf(out, " %3zu in %s", own, v->isa);
    }
    if (family->begin && family->begin(&state)) {
        fprintf(out, ": no memory for its checks\n");
        return 1;
    }
    for (size_t i = 0; i < family->count; i++)
        if (!td_check_run(&family->checks[i], &state, why, sizeof why)) {
            fprintf(out, "%s %s: %s\n", wrong ? "" : ": WRONG\n", family->checks[i].name, why);
            wrong++;
        }
    if (family->end)
        (void)family->end(&state);
    if (!wrong)
        fprintf(out, ": right\n");
    fflush(out);
    return wrong;
}

size_t td_check_validate(FILE *out, const td_check_family *const *families, size_t count, td_check_wants *wants,
                         const char *text, uint64_t seed, size_t *chosen)
{
    size_t wrong = 0, versions = 0;
    *chosen = 0;
    td_check_seed = seed;
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "kernels/%s", families[i]->name);
        if (!wants(name, text))
            continue;
        wrong += validate_family(out, families[i], &versions);
        (*chosen)++;
    }
    if (!*chosen)
        return 0;
    fprintf(out, "%zu kernels of %zu %s checked on random data, seed %llu: ", versions, *chosen,
            *chosen == 1 ? "family" : "families", (unsigned long long)seed);
    if (wrong)
        fprintf(out, "%zu %s NOT hold, so no time is worth anything\n", wrong, wrong == 1 ? "check does" : "checks do");
    else
        fprintf(out, "all right\n");
    return wrong;
}
