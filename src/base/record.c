/* See record.h. While a listener hears a call, what it calls itself is not told. */
#include "base/record.h"

#include <stddef.h>

atomic_int td_listeners;

static _Thread_local td_listener here;
static _Thread_local int listens, busy;

const td_listener *td_record_listener(void)
{
    return listens ? &here : NULL;
}

void td_record_listen(const td_listener *listener)
{
    if (!listens && listener)
        atomic_fetch_add(&td_listeners, 1);
    else if (listens && !listener)
        atomic_fetch_sub(&td_listeners, 1);
    listens = listener != NULL;
    if (listener)
        here = *listener;
}

void td_record_tell(const td_recorded *call)
{
    if (!listens || busy)
        return;
    busy = 1;
    here.hear(here.context, call);
    busy = 0;
}
