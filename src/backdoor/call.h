/* What the operations on matrices and tensors have in common: arguments are checked, the conversion and the plan are found,
 * and a failure gets the operation and the memory's name in front. backdoor.c and compare.c call it. */
#ifndef TD_CALL_H
#define TD_CALL_H

#include "memory/memory.h"
#include "plan/plan.h"
#include "tensor/tensor.h"
#include "values/convert.h"

/* One call: the operation's name, its memories and the rest. */
typedef struct td_call {
    const char *operation;
    const td_memory *const *bank;
    size_t banks;
    const td_tensor *tensor;
    const td_layout *layout;
    const char *as;
    bool writes_tensor;
    bool compares; /* memory values are converted as in a dump, and nothing is written */
    bool truncate;
    bool dense; /* the memory's data is a staging buffer (td_plan_request) */
} td_call;

/* Puts "operation "memory": " in front of this thread's message; returns `status`. */
td_status td_call_fail(const td_call *c, td_status status);

/* tensors.c: the load or dump, with the operation's name in front of a failure. */
td_status td_call_run(const td_call *c);

td_status td_call_check_banks(const td_call *c);
td_status td_call_check(const td_call *c);

/* What the memory holds and how values get there: good until this thread asks for a few others. */
typedef struct td_conversion {
    td_dtype dtype;            /* of the memory */
    const td_convert *convert; /* NULL: bits as they are */
    td_convert *made;          /* for this call alone, or NULL */
} td_conversion;

/* The layout may insist on a dtype. On success the caller ends with td_call_convert_end. */
td_status td_call_convert(const td_call *c, td_conversion *out);
void td_call_convert_end(td_conversion *conversion);

/* The caller releases the plan. */
td_status td_call_plan(const td_call *c, td_dtype memory_dtype, td_plan **out);

/* The plan is good until this thread asks for another. */
td_status td_call_borrow_plan(const td_call *c, td_dtype memory_dtype, const td_plan **out);

/* The storage of each bank, in the caller's array of TD_CALL_FEW_BANKS when that is long enough; else the caller frees it. */
#define TD_CALL_FEW_BANKS 64
unsigned char **td_call_data(const td_call *c, unsigned char **few);

#endif
