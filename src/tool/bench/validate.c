/* `--validate` after the kernels (check/validate.c): every case that was chosen, checked with each instruction set that
 * this machine has. Nothing is timed. */
#include "tool/bench/validate.h"

#include "base/cpu.h"
#include "check/versions.h"
#include "tensordoor.h"

/* One case with one instruction set; the plan has to be another one for each. */
static bool validate_case(FILE *out, const bench_group *group, size_t number, const bench_settings *settings,
                          const version *v, bool *checked)
{
    bench_spec spec = {.threads = 1};
    char why[300] = "";
    bool good = false;
    bench_subject subject = {0};
    group->spec(group, number, &spec);
    td_cpu_mask(v->flags);
    td_plan_cache_clear();
    td_speed_threads(spec.threads);
    const bench_opened opened = group->open(group, number, settings, &subject, why, sizeof why);
    *checked = opened == BENCH_OPENED && subject.check;
    good = opened == BENCH_SKIPPED ||
           (opened == BENCH_OPENED && (!subject.check || subject.check(subject.state, why, sizeof why)));
    if (subject.close)
        subject.close(subject.state);
    td_speed_threads(0);
    td_cpu_mask(TD_CPU_ALL);
    td_plan_cache_clear();
    if (!good)
        fprintf(out, "%s/%s with %s: %s\n", group->name, spec.name, v->isa, why);
    return good;
}

size_t bench_validate_cases(FILE *out, const bench_settings *settings, const char *text, size_t *cases)
{
    size_t wrong = 0, checked = 0;
    *cases = 0;
    const bench_settings alone = {settings->method, true, settings->tune, NULL};
    for (size_t g = 0; g < bench_group_count; g++)
        for (size_t i = 0; i < bench_groups[g]->count(bench_groups[g]); i++) {
            bench_spec spec = {.threads = 1};
            bool has = false;
            bench_groups[g]->spec(bench_groups[g], i, &spec);
            if (!bench_chosen(bench_groups[g], &spec, text))
                continue;
            for (const version *v = all_versions(); v->isa; v++) {
                wrong += !validate_case(out, bench_groups[g], i, &alone, v, &has);
                checked += has;
            }
            (*cases)++;
        }
    if (!*cases)
        return 0;
    fprintf(out, "%zu %s checked, %zu times with all instruction sets: ", *cases, *cases == 1 ? "case" : "cases",
            checked);
    if (wrong)
        fprintf(out, "%zu times WRONG, so there is no time of it\n", wrong);
    else
        fprintf(out, "all right\n");
    return wrong;
}
