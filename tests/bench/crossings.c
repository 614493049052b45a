/* Counts the calls from a simulation to C, by name, without touching either: an auditor of the dynamic linker, which
 * sees every call of a td_dpi_* function of the library.
 *
 *     LD_AUDIT=build/tests/bench/libcrossings.so build/tests/sim/bench_program/Vbench_program +rounds=1 +repeats=1 \
 *       +only=design/load +way=2
 *
 * For x86-64; it prints what it has counted to stderr when the process ends. */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 512 };
static struct {
    const char *name;
    unsigned long calls;
} counted[NAMES];

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)map;
    (void)space;
    (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name)
{
    (void)number;
    (void)from;
    (void)to;
    *flags |= LA_SYMB_NOPLTEXIT | (strncmp(name, "td_dpi_", 7) == 0 ? 0u : (unsigned)LA_SYMB_NOPLTENTER);
    return symbol->st_value;
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to,
                                  La_x86_64_regs *registers, unsigned *flags, const char *name, long *frame)
{
    int i = 0;
    (void)number;
    (void)from;
    (void)to;
    (void)registers;
    (void)flags;
    (void)frame;
    while (i < NAMES - 1 && counted[i].name && strcmp(counted[i].name, name) != 0)
        i++;
    counted[i].name = name;
    counted[i].calls++;
    return symbol->st_value;
}

__attribute__((destructor)) static void print(void)
{
    char line[160];
    unsigned long all = 0;
    for (int i = 0; i < NAMES && counted[i].name; i++) {
        const int length = snprintf(line, sizeof line, "%8lu %s\n", counted[i].calls, counted[i].name);
        (void)!write(STDERR_FILENO, line, (size_t)length);
        all += counted[i].calls;
    }
    if (all) {
        const int length = snprintf(line, sizeof line, "%8lu calls to C\n", all);
        (void)!write(STDERR_FILENO, line, (size_t)length);
    }
}
