/* One plan from a tensor to the arrays that a memory lies in: the layout of the tensor and the organisation of the
 * memory, compiled together, so that nothing is put together in between. over.c hands them to backdoor/blocks.c. */
#ifndef TD_OVER_JOINED_H
#define TD_OVER_JOINED_H

#include "over/parts.h"

typedef struct td_joined td_joined;

/* The two plans: the tensor's, of whole words and elements of whole bytes that nothing converts, and that of the
 * organisation, a tensor of bits whose words begin `pitch` bits apart. NULL where they do not join to boxes that move
 * fast, a dump would find copies, or there is no memory for them: the words then go in blocks. */
td_joined *td_joined_create(const td_plan *plan, const td_plan *organisation, bool back);
void td_joined_destroy(td_joined **joined);

/* When plans are joined. Tests set it: small calls, and boxes that go faster in blocks, must be right too. */
typedef enum td_join_when { TD_JOIN_FAST, TD_JOIN_ALWAYS, TD_JOIN_NEVER } td_join_when;
extern td_join_when td_join_plans;

/* `stream`: it is large, and may store past the caches. */
void td_joined_run(const td_joined *joined, unsigned char *tensor, unsigned char *const *array, bool stream);

#endif
