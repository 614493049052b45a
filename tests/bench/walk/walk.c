/* Through how many files does a call pass? walk.py builds this program with the library and -finstrument-functions; it
 * prints, step by step, the function that runs (one line for each entry, and one for each return, which names the
 * function that goes on) during a load with a new plan (cold), the same load again (warm), and a load into a memory
 * inside a design, each after a line with its name. */
#include "handles.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))

static void *step[1 << 20], *stack[256];
static size_t count, depth;
static int noting;

QUIET void __cyg_profile_func_enter(void *function, void *caller);
QUIET void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (!noting || count == sizeof step / sizeof *step || depth == sizeof stack / sizeof *stack)
        return;
    step[count++] = stack[depth++] = function;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
    if (!noting || count == sizeof step / sizeof *step || depth == 0)
        return;
    if (--depth)
        step[count++] = stack[depth - 1];
}

QUIET static void begin(void)
{
    count = depth = 0;
    noting = 1;
}

QUIET static void end(const char *name)
{
    noting = 0;
    printf("%s\n", name);
    for (size_t i = 0; i < count; i++)
        printf("%p\n", step[i]);
}

/* The shims that SystemVerilog imports, as td_dpi_pkg.sv declares them. */
int td_dpi_tensor_create(const char *dtype, const char *shape, td_dpi_u64 *handle, const char **message);
int td_dpi_memory_create(const char *name, td_dpi_u64 width_bits, td_dpi_u64 depth_words, td_dpi_u64 *handle,
                         const char **message);
int td_dpi_layout_create(const char *pattern, const char *options, const char *address, td_dpi_u64 *handle,
                         const char **message);
int td_dpi_backdoor_load_tensor(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as,
                                const char **message);
int td_dpi_transfer_tensor(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, int use,
                           int *partial, int *borrowed, const char **message);
int td_dpi_transfer_load(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout, const char *as, const char **message);
int td_dpi_transfer_chunk(td_dpi_u64 memory, td_dpi_u64 borrowed, int direction, uint32_t *chunk);

static const char *message;

QUIET static void check(int status)
{
    if (status) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
}

QUIET static void load(const char *name, td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout)
{
    begin();
    check(td_dpi_backdoor_load_tensor(memory, tensor, layout, "", &message));
    end(name);
}

QUIET static void load_design(td_dpi_u64 memory, td_dpi_u64 tensor, td_dpi_u64 layout)
{
    static uint32_t chunk[512];
    int partial = 0, borrowed = 0;
    begin();
    check(td_dpi_transfer_tensor(memory, tensor, layout, "", 0, &partial, &borrowed, &message));
    check(td_dpi_transfer_load(memory, tensor, layout, "", &message));
    while (td_dpi_transfer_chunk(memory, 0, 0, chunk) > 0) {
    }
    end("design");
}

QUIET int main(void)
{
    td_dpi_u64 tensor, memory, design, plain, strided;
    td_speed_threads(1);
    check(td_dpi_tensor_create("i16", "8 16 16", &tensor, &message));
    check(td_dpi_memory_create("owned", 64, 4096, &memory, &message));
    check(td_dpi_memory_create("design", 64, 8192, &design, &message));
    check(td_dpi_layout_create("b w (ct cs) -> (b w ct) cs", "cs=4", "", &plain, &message));
    check(td_dpi_layout_create("b w (ct cs) -> (b w ct) cs", "cs=4", "0x40 + 512*b + 16*w + 2*ct", &strided, &message));
    load("cold", memory, tensor, plain);
    load("warm", memory, tensor, plain);
    load_design(design, tensor, strided);
    return 0;
}
