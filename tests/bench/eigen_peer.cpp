/* Eigen as a peer, where the build of td-bench found it: a shuffle of a tensor of two to four axes, on one thread, from
 * our source into the peers' destination. It takes no part in what a shuffle cannot say: conversions, words by table,
 * bits, more axes, two threads. The command has no C++ and does without it (tool/bench/eigen_none.c). */
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unsupported/Eigen/CXX11/Tensor>

#include "tool/bench/eigen_peer.h"

namespace
{

bench_eigen_move of;

template <typename T, int rank> void shuffle()
{
    using tensor = Eigen::Tensor<T, rank, Eigen::RowMajor, Eigen::Index>;
    Eigen::array<Eigen::Index, rank> dims, moved, order;
    for (int i = 0; i < rank; i++) {
        dims[i] = static_cast<Eigen::Index>(of.dim[i]);
        order[i] = of.perm[i];
        moved[i] = static_cast<Eigen::Index>(of.dim[of.perm[i]]);
    }
    Eigen::TensorMap<const tensor> src(static_cast<const T *>(of.src), dims);
    Eigen::TensorMap<tensor> dst(static_cast<T *>(of.dst), moved);
    dst = src.shuffle(order);
}

template <typename T> void shuffle_any()
{
    if (of.rank == 2)
        shuffle<T, 2>();
    else if (of.rank == 3)
        shuffle<T, 3>();
    else
        shuffle<T, 4>();
}

void run_once()
{
    if (of.elem_bytes == 1)
        shuffle_any<uint8_t>();
    else if (of.elem_bytes == 2)
        shuffle_any<uint16_t>();
    else
        shuffle_any<float>();
}

} // namespace

extern "C" bool bench_eigen_set(const bench_eigen_move *move)
{
    of = *move;
    return of.rank >= 2 && of.rank <= 4 && (of.elem_bytes == 1 || of.elem_bytes == 2 || of.elem_bytes == 4);
}

extern "C" double bench_eigen_time(uint64_t repetitions)
{
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < repetitions; i++)
        run_once();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    return took.count() / static_cast<double>(repetitions);
}
