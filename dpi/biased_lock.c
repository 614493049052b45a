/* A biased lock with an asymmetric barrier, see biased_lock.h. The lock is biased towards the first thread that calls,
 * its owner. The owner writes that it is inside, and then reads whether the bias is over; whoever ends the bias writes
 * that, and then reads whether the owner is inside. Between its write and its read each side needs a memory barrier, or
 * the two could miss each other. The side that ends the bias makes the barrier for both, by membarrier(2): it pays a
 * system call once, and the owner's calls have no barrier at all. Without membarrier nobody owns the lock, and every
 * call locks. */
#include "biased_lock.h"

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the choice of the owner, and the end of the bias */
static _Atomic(pthread_t) owner;                         /* 0: nobody yet */
static atomic_bool over;                                 /* the bias ends, or has ended */
static atomic_bool shared;                               /* it has ended, and the owner is outside: every call locks */
static atomic_uint inside;                               /* calls of the owner, nested; only the owner writes */

static void choose_owner(void)
{
    pthread_mutex_lock(&lock);
    if (!atomic_load(&owner) && !atomic_load(&shared)) {
        if (can_barrier())
            atomic_store(&owner, pthread_self());
        else {
            atomic_store(&over, true);
            atomic_store(&shared, true);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void end_bias(void)
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

bool td_dpi_enter_biased(void)
{
    if (atomic_load_explicit(&shared, memory_order_acquire))
        return false;
    if (!atomic_load_explicit(&owner, memory_order_relaxed))
        choose_owner();
    if (atomic_load_explicit(&owner, memory_order_relaxed) == pthread_self()) {
        const unsigned outer = atomic_load_explicit(&inside, memory_order_relaxed);
        atomic_store_explicit(&inside, outer + 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the compiler keeps the order; the processor may not, see above */
        if (outer || !atomic_load_explicit(&over, memory_order_relaxed))
            return true;
        atomic_store_explicit(&inside, outer, memory_order_release);
    }
    end_bias();
    return false;
}

void td_dpi_leave_biased(void)
{
    const unsigned outer = atomic_load_explicit(&inside, memory_order_relaxed) - 1;
    atomic_store_explicit(&inside, outer, memory_order_release);
}
