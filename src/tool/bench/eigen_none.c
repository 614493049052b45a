/* The command without Eigen; td-bench has tests/bench/eigen_peer.cpp in this file's place. */
#include "tool/bench/eigen_peer.h"

bool bench_eigen_set(const bench_eigen_move *move)
{
    (void)move;
    return false;
}

double bench_eigen_time(uint64_t repetitions)
{
    (void)repetitions;
    return -1;
}
