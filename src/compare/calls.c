/* The short calls of section 10 of the public header, each a td_compare of compare.c with the members that it names. */
#include "base/status.h"
#include "tensordoor.h"

#include <stdint.h>

td_status td_backdoor_compare_tensor(const td_memory *memory, const td_tensor *golden, const td_layout *layout,
                                     const char *policy, const char *as, td_report **out)
{
    td_memory *const bank = (td_memory *)(uintptr_t)memory; /* only read */
    return td_backdoor_compare_tensor_banks(memory ? &bank : NULL, 1, golden, layout, policy, as, out);
}

td_status td_backdoor_compare_tensor_banks(td_memory *const *banks, size_t count, const td_tensor *golden,
                                           const td_layout *layout, const char *policy, const char *as, td_report **out)
{
    if (!out || !layout || !golden || !banks)
        return td_fail(TD_ARGUMENT, "backdoor_compare_tensor: the %s is NULL; pass one",
                       !out      ? "output"
                       : !layout ? "layout"
                       : !golden ? "golden tensor"
                                 : "memory");
    return td_compare(
        &(td_comparison){
            .banks = banks, .bank_count = count, .golden = golden, .layout = layout, .policy = policy, .as = as},
        out);
}

td_status td_tensor_compare(const td_tensor *expected, const td_tensor *actual, const char *policy, td_report **out)
{
    if (!out)
        return td_fail(TD_ARGUMENT, "tensor_compare: the output is NULL; pass one");
    return td_compare(&(td_comparison){.actual = actual, .golden = expected, .policy = policy}, out);
}
