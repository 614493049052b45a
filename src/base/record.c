/* See record.h. While a listener hears a call, what it calls itself is not told. The listener of all threads is for
 * simulators, which make each call on any of their threads: a lock guards it, and the lock is held while it hears. */
#include "base/record.h"

#include <pthread.h>
#include <stddef.h>

atomic_int td_listeners;

static _Thread_local td_listener here;
static _Thread_local bool listens;
static _Thread_local int quiet; /* not told, this thread; counted */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static td_listener everywhere; /* guarded by the lock */
static atomic_bool listens_everywhere;

const td_listener *td_record_listener(void)
{
    if (listens)
        return &here;
    return listens_everywhere ? &everywhere : NULL;
}

void td_record_listen(const td_listener *listener, bool all)
{
    if (all)
        pthread_mutex_lock(&lock);
    const bool did = all ? listens_everywhere : listens, does = listener != NULL;
    if (all)
        listens_everywhere = does;
    else
        listens = does;
    if (listener)
        *(all ? &everywhere : &here) = *listener;
    if (did != does)
        atomic_fetch_add(&td_listeners, does ? 1 : -1);
    if (all)
        pthread_mutex_unlock(&lock);
}

void td_record_pause(void)
{
    quiet++;
}

void td_record_resume(void)
{
    quiet--;
}

void td_record_tell(const td_recorded *call)
{
    if (quiet)
        return;
    quiet++;
    if (listens) {
        here.hear(here.context, call);
    } else if (listens_everywhere) {
        pthread_mutex_lock(&lock);
        if (listens_everywhere)
            everywhere.hear(everywhere.context, call);
        pthread_mutex_unlock(&lock);
    }
    quiet--;
}
