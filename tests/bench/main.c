/* td-bench: the bench as a program of its own. */
#include "tool/bench/bench.h"

int main(int argc, char **argv)
{
    return bench_main(argc - 1, argv + 1);
}
