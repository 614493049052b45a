/* How a program of a build with -Dportable=true begins: the C runtime's first object calls __libc_start_main as of
 * glibc 2.34, which old hosts do not have. The old one is called here instead, with what it wants of a program: a
 * function that runs the constructors. Linked into programs alone; newer glibcs keep the old entry and its meaning. */
typedef void constructor(int argc, char **argv, char **environment);

extern constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern constructor *__init_array_end[] __attribute__((visibility("hidden")));

static void run_constructors(int argc, char **argv, char **environment)
{
    for (constructor **next = __init_array_start; next < __init_array_end; next++)
        (*next)(argc, argv, environment);
}

int td_old_start(int (*run)(int, char **, char **), int argc, char **argv, constructor *init, void (*fini)(void),
                 void (*rtld_fini)(void), void *stack_end);
__asm__(".symver td_old_start,__libc_start_main@GLIBC_2.2.5");

__attribute__((visibility("hidden"))) int td_start(int (*run)(int, char **, char **), int argc, char **argv,
                                                   constructor *init, void (*fini)(void), void (*rtld_fini)(void),
                                                   void *stack_end) __asm__("__libc_start_main");

int td_start(int (*run)(int, char **, char **), int argc, char **argv, constructor *init, void (*fini)(void),
             void (*rtld_fini)(void), void *stack_end)
{
    return td_old_start(run, argc, argv, init ? init : run_constructors, fini, rtld_fini, stack_end);
}
