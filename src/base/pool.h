/* Threads for large moves and comparisons; exec and compare call it. The pool starts at the first work that gains by
 * it, sleeps between calls, and stops with the library. Work is cut into parts beforehand; a thread that wakes late
 * finds them taken, so a call never waits for one that has not begun. One call at a time has the pool: another call
 * meanwhile does its work by itself. */
#ifndef TD_POOL_H
#define TD_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Work on parts [begin, end). It cannot fail: what may be refused is kept for the caller, with its message, which is
 * the thread's. What it asks of the pool itself runs on its own thread. */
typedef void td_pool_work(void *context, unsigned begin, unsigned end);

#define TD_POOL_PARTS 64

/* Into how many parts to cut work on so many bytes that has `steps` to share: 1 when it is better left whole. */
unsigned td_pool_parts(uint64_t bytes, uint64_t steps);

/* Runs every part and returns when all are done. The caller runs the first; its time decides whether the others are
 * shared with the pool. The first time that it matters the pool is started and its wake-up latency is measured, in less
 * than 2 ms. With TD_PARALLEL_BYTES in the environment all parts are shared. */
void td_pool_run(unsigned parts, td_pool_work *work, void *context);

/* The most threads that a call may have, the caller among them; 0 for what the environment or the machine says. */
void td_pool_limit(unsigned threads);

#endif
