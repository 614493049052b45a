/* `tensordoor bench`: the bench of tests/bench, which is also a program of its own (td-bench). */
#include "../../tests/bench/bench.h"
#include "tool/tool.h"

int tool_bench(int argc, char **argv)
{
    return bench_main(argc, argv);
}
