/* See alone.h. The thread that is alone writes that it is inside and then looks whether it is alone still; whoever ends that
 * writes it down and then looks whether the other is inside. Between its two steps each needs a barrier, or both could
 * miss each other. Whoever ends it makes the barrier for both, by membarrier, so that the calls themselves have none:
 * that is what they save. Without membarrier nobody is ever alone. */
#include "alone.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__linux__) && defined(SYS_membarrier)
#include <linux/membarrier.h>

static bool can_barrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void barrier_for_all(void)
{
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); /* registered: it cannot fail */
}
#else
static bool can_barrier(void)
{
    return false;
}

static void barrier_for_all(void) {}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards who is chosen, and the end */
static _Atomic(pthread_t) chosen;                        /* 0: nobody yet */
static atomic_bool over;                                 /* the chosen one is no longer alone, or about to be */
static atomic_bool shared;                               /* and has seen it: every call locks */
static atomic_uint inside;                               /* calls of the chosen one, nested; only it writes */

static void choose(void)
{
    pthread_mutex_lock(&lock);
    if (!atomic_load(&chosen) && !atomic_load(&shared)) {
        if (can_barrier())
            atomic_store(&chosen, pthread_self());
        else {
            atomic_store(&over, true);
            atomic_store(&shared, true);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void share(void)
{
    pthread_mutex_lock(&lock);
    if (!atomic_load(&shared)) {
        atomic_store(&over, true);
        barrier_for_all();
        while (atomic_load_explicit(&inside, memory_order_acquire))
            sched_yield();
        atomic_store_explicit(&shared, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

bool td_dpi_enter_alone(void)
{
    if (atomic_load_explicit(&shared, memory_order_acquire))
        return false;
    if (!atomic_load_explicit(&chosen, memory_order_relaxed))
        choose();
    if (atomic_load_explicit(&chosen, memory_order_relaxed) == pthread_self()) {
        const unsigned outer = atomic_load_explicit(&inside, memory_order_relaxed);
        atomic_store_explicit(&inside, outer + 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the order; the processor may not, see above */
        if (outer || !atomic_load_explicit(&over, memory_order_relaxed))
            return true;
        atomic_store_explicit(&inside, outer, memory_order_release);
    }
    share();
    return false;
}

void td_dpi_leave_alone(void)
{
    const unsigned outer = atomic_load_explicit(&inside, memory_order_relaxed) - 1;
    atomic_store_explicit(&inside, outer, memory_order_release);
}
