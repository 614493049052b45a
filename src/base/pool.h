/* Threads for large moves. move.c, rows.c, exec.c and scan.c ask; nothing else does. The pool starts at the first work that gains by
 * it, sleeps between calls, and stops with the library. Work is cut into pieces beforehand; a thread that wakes late
 * finds them taken, so a call never waits for one that has not begun. One call at a time has the pool: another one that
 * comes meanwhile runs by itself. */
#ifndef TD_POOL_H
#define TD_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Work on pieces [begin, end), which lie one behind the other. Must not allocate, fail, or call the pool. */
typedef void td_pool_work(void *context, unsigned begin, unsigned end);

#define TD_POOL_PIECES 64

/* Into how many pieces to cut a move of so many bytes that has `steps` to share: 1 when it is better left whole. */
unsigned td_pool_pieces(uint64_t bytes, uint64_t steps);

/* Runs every piece and returns when all are done: the first one here, by the time of which the others are shared with the
 * pool or not. The first time that it matters the pool is started and timed, in less than 2 ms. With TD_PARALLEL_BYTES in
 * the environment all are shared. */
void td_pool_run(unsigned pieces, td_pool_work *work, void *context);

/* The most threads that a call may have, the caller among them; 0 for what the environment or the machine says. */
void td_pool_limit(unsigned threads);

#endif
