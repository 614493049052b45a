/* kernels FAMILY [--bench ...|--all]: the checks of a family of kernels (src/check) as a test that speaks TAP, or with
 * --bench their speed. TD_TEST_SEED draws other random data. */
#include "check/families.h"

static const td_check_family *find_family(const char *name)
{
    for (size_t i = 0; i < td_check_family_count; i++)
        if (strcmp(td_check_families[i]->name, name) == 0)
            return td_check_families[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const td_check_family *family = argc > 1 ? find_family(argv[1]) : NULL;
    const char *wish = getenv("TD_TEST_SEED");
    char why[400];
    void *state = NULL;
    int failed = 0;
    if (!family) {
        fprintf(stderr, "kernels FAMILY [--bench|--all]\n");
        return 2;
    }
    td_check_seed = wish ? strtoull(wish, NULL, 0) : 0;
    td_check_thorough = argc > 2 && strcmp(argv[2], "--all") == 0;
    if (argc > 2 && strcmp(argv[2], "--bench") == 0)
        return family->bench ? family->bench(argc - 1, argv + 1) : 0;
    printf("1..%zu\n# TD_TEST_SEED=%llu\n", family->count, (unsigned long long)td_check_seed);
    if (family->begin && family->begin(&state))
        return 1;
    for (size_t i = 0; i < family->count; i++) {
        const bool good = td_check_run(&family->checks[i], &state, why, sizeof why);
        if (!good)
            printf("# %s\n", why);
        printf("%s %zu - %s\n", good ? "ok" : "not ok", i + 1, family->checks[i].name);
        failed += !good;
    }
    if (family->end)
        (void)family->end(&state);
    return failed != 0;
}
