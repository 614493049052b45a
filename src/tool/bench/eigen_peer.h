/* What Eigen is asked for: a permutation of axes of whole bytes. In C and in C++. */
#ifndef TD_BENCH_EIGEN_PEER_H
#define TD_BENCH_EIGEN_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_eigen_move {
    int rank;
    uint64_t dim[8];
    int perm[8];
    size_t elem_bytes;
    const void *src;
    void *dst;
} bench_eigen_move;

/* False where it cannot do the move, or is not there. */
bool bench_eigen_set(const bench_eigen_move *move);
/* The time of one repetition, in ns. */
double bench_eigen_time(uint64_t repetitions);

#ifdef __cplusplus
}
#endif

#endif
