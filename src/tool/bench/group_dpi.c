/* The crossing into C of a simulation that really runs: Verilator compiles a small testbench (dpi_bench.sv,
 * dpi_bench.c) against this installation, and its process then gets its work line by line, so that its rounds alternate
 * with the same calls from C. It takes the time of a compilation, and is skipped where there is no verilator. */
#include "base/clock.h"
#include "base/status.h"
#include "tool/bench/child.h"
#include "tool/bench/simple.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__asm__(".section .rodata\n"
        "bench_dpi_sv: .incbin \"" DPI_BENCH ".sv\"\n"
        ".byte 0\n"
        "bench_dpi_c: .incbin \"" DPI_BENCH ".c\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char bench_dpi_sv[], bench_dpi_c[];

/* `size` is the number by which the testbench knows the work. */
static const bench_simple_case cases[] = {
    {"crossing", NULL, "", 0, 0},       {"smallest_load_dpi", NULL, "", 4, 0}, /* the call into C alone */
    {"smallest_load", NULL, "", 1, 0},                                         /* through the classes */
    {"tensor_3x64x64", NULL, "", 2, 0}, {"matrix_1024x4", NULL, "", 3, 0},
};

static bench_child sim;
static bool missing;
static char folder[] = "/tmp/td-bench-dpi-XXXXXX", trouble[200];

/* The lines are all of this file: folders of mkdtemp, and what `tensordoor flags` prints for a shell. */
static bool shell(const char *line)
{
    return system(line) == 0; /* NOLINT(cert-env33-c) */
}

static void stop(void)
{
    char command[128];
    (void)bench_child_stop(&sim);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)shell(command); /* what is left lies in /tmp */
}

static bool write_text(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    const bool good = file && fputs(text, file) >= 0;
    return (!file || fclose(file) == 0) && good;
}

/* The command that knows the flags: this program, or the one that was built with it. */
static bool find_command(char *out, size_t size)
{
    static const char *const places[] = {"/tensordoor", "/../../tensordoor"};
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < 2; i++)
        if ((size_t)snprintf(out, size, "%s%s", self, places[i]) < size && access(out, X_OK) == 0)
            return true;
    return false;
}

static bool build(void)
{
    char command[PATH_MAX], line[2 * PATH_MAX];
    if (!find_command(command, sizeof command)) {
        snprintf(trouble, sizeof trouble, "/proc/self/exe does not say where tensordoor is; mount /proc");
        return false;
    }
    if (!mkdtemp(folder) || !write_text("tb.sv", bench_dpi_sv) || !write_text("tb.c", bench_dpi_c)) {
        snprintf(trouble, sizeof trouble, "cannot write into %s", folder);
        return false;
    }
    snprintf(line, sizeof line,
             "cd %s && $('%s' flags --verilator) --Mdir made --top td_bench_dpi tb.sv tb.c -o sim "
             ">log 2>&1",
             folder, command);
    if (shell(line))
        return true;
    snprintf(trouble, sizeof trouble, "Verilator does not compile the testbench in %s: see the log there", folder);
    return false;
}

static void become_sim(void *path)
{
    execl(path, path, (char *)NULL);
}

static bool start(void)
{
    char path[96], line[64];
    snprintf(path, sizeof path, "%s/made/sim", folder);
    return bench_child_start(&sim, &(bench_child_work){become_sim, path, .asked = true}) &&
           bench_child_line(&sim, line, sizeof line) && strcmp(line, "ready") == 0;
}

/* Tried once. */
static bool started(void)
{
    static bool tried;
    if (tried)
        return sim.pid > 0;
    tried = true;
    if (!shell("verilator --version >/dev/null 2>&1")) {
        snprintf(trouble, sizeof trouble, "verilator is not installed");
        missing = true;
        return false;
    }
    if (!build())
        return false;
    if (start()) {
        atexit(stop);
        return true;
    }
    snprintf(trouble, sizeof trouble, "the simulation in %s does not start", folder);
    return false;
}

static double run_there(void *state, uint64_t repetitions)
{
    const bench_simple *s = state;
    char line[64];
    double ns = -1;
    if (bench_child_say(&sim, "%llu %llu", (unsigned long long)s->of->size, (unsigned long long)repetitions) &&
        bench_child_line(&sim, line, sizeof line) && sscanf(line, "%lf", &ns) == 1)
        return ns;
    if (sim.late)
        snprintf(trouble, sizeof trouble, "the simulation in %s gives no answer for %.3g s", folder,
                 bench_child_patience() / 1e9);
    else
        snprintf(trouble, sizeof trouble, "the simulation in %s has ended", folder);
    (void)bench_child_stop(&sim);
    (void)td_fail(TD_FILE, "%s", trouble);
    return -1;
}

static bool call_here(bench_simple *s)
{
    return (s->of->size == 3 ? td_backdoor_load_matrix(s->memory, s->tensor, 0, 1024)
                             : td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL)) != TD_OK;
}

static double run_here(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, call_here(state));
}

static __attribute__((noinline)) int plain_call(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

/* What the crossing is held against: a call of a function of C. */
static double run_plain(void *state, uint64_t repetitions)
{
    (void)state;
    int x = 0;
    const uint64_t start_ns = td_now_ns();
    for (uint64_t i = 0; i < repetitions; i++)
        x = plain_call(x);
    return (double)(td_now_ns() - start_ns) / (double)repetitions;
}

static void finish(void *state, bench_figure *figure)
{
    (void)state;
    bench_figure_extra(figure, "crossing_ns", figure->ns.median - figure->peer[0].ns.median);
    figure->hits = figure->allocations = figure->peak_bytes = -1; /* those of the other process */
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    if (!started()) {
        snprintf(why, size, "%s", trouble);
        return missing ? BENCH_SKIPPED : BENCH_BROKEN;
    }
    out->finish = finish;
    bench_add_runner(out, "tensordoor", run_there, s);
    if (s->of->size == 0) {
        out->elems = 1;
        bench_add_runner(out, "a call in C", run_plain, s);
        return BENCH_OPENED;
    }
    const bool small = s->of->size == 1 || s->of->size == 4, matrix = s->of->size == 3;
    if (td_tensor_create(small    ? "i8"
                         : matrix ? "i16"
                                  : "u8",
                         small    ? TD_SHAPE(1)
                         : matrix ? TD_SHAPE(1024, 4)
                                  : TD_SHAPE(3, 64, 64),
                         &s->tensor) ||
        td_memory_create("m", small ? 8 : 64, 4096, &s->memory) ||
        td_layout_create(small ? "a -> 1 a" : "c h (wt ws) -> (h wt c) ws", small ? "" : "ws=8", "", &s->layout))
        return BENCH_BROKEN;
    out->elems = (double)td_tensor_elems(s->tensor);
    out->bytes = out->elems * (double)td_tensor_elem_bytes(s->tensor);
    bench_add_runner(out, "from C", run_here, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_case};
const bench_group bench_group_dpi = {
    "dpi",
    "calls from a simulation by Verilator, against the same from C; compiles a testbench",
    true,
    &table,
    bench_simple_count,
    bench_simple_spec,
    bench_simple_open,
};
