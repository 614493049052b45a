/* See families.h. */
#include "check/families.h"

const td_check_family *const td_check_families[] = {
#define X(family) &td_check_##family,
    TD_CHECK_FAMILIES(X)
#undef X
};
const size_t td_check_family_count = sizeof td_check_families / sizeof td_check_families[0];
