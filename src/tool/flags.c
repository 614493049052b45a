/* `tensordoor flags`: the command lines that compile and run a testbench with this installation. Where that is follows
 * from where the command itself lies, so a moved or staged installation is right too; a build that is not installed is
 * told by the library beside the command. It looks at no simulator and starts none. */
#include "tool/tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const tool_usage usage = {
    .command = "flags",
    .file = NULL,
    .about = "Prints what compiles a testbench with tensordoor on one simulator, and on a second line what runs it,\n"
             "where that takes a command of its own. Append your files and the top module:\n"
             "    $(tensordoor flags --verilator) --top tb tb.sv",
};

enum { VERILATOR, VCS, QUESTA, XCELIUM, XSIM, SIMULATORS, UVM = SIMULATORS, FLAGS };

typedef struct places {
    char sv[PATH_MAX];
    char lib[PATH_MAX]; /* the folder of libtensordoor.so */
    char uvm[PATH_MAX]; /* the folder of uvm_pkg.sv; "": without UVM */
} places;

static bool is_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0;
}

/* False where the path would be longer than any that the system opens. */
static bool join(char *out, const char *folder, const char *name)
{
    int length = snprintf(out, PATH_MAX, "%s%s%s", folder, *name ? "/" : "", name);
    return length > 0 && length < PATH_MAX;
}

/* Library and SystemVerilog sources of an installation under `root`. */
static bool find_under(const char *root, const char *lib, const char *sv, places *out)
{
    return join(out->lib, root, lib) && join(out->sv, root, sv) && is_file(out->lib, "libtensordoor.so") &&
           is_file(out->sv, "td.f");
}

static bool find_installation(places *out)
{
    char self[PATH_MAX];
    const char *run_as = (const char *)(uintptr_t)getauxval(AT_EXECFN); /* where /proc is not mounted */
    if (!realpath("/proc/self/exe", self) && !(run_as && realpath(run_as, self)))
        return false;
    *strrchr(self, '/') = '\0';
    if (is_file(self, "libtensordoor.so"))
        return join(out->lib, self, "") && join(out->sv, TD_SOURCE_SV, "") && is_file(out->sv, "td.f");
    size_t folder = strlen(self), bin = strlen(TD_BINDIR);
    if (folder <= bin || strcmp(self + folder - bin, TD_BINDIR) != 0 || self[folder - bin - 1] != '/')
        return false;
    self[folder - bin - 1] = '\0';
    return find_under(self, TD_LIBDIR, TD_SVDIR, out);
}

static bool find_uvm(places *out)
{
    const char *home = getenv("UVM_HOME");
    if (!home || !*home)
        return false;
    return (join(out->uvm, home, "src") && is_file(out->uvm, "uvm_pkg.sv")) ||
           (join(out->uvm, home, "") && is_file(out->uvm, "uvm_pkg.sv"));
}

/* One word of a command line: `before`, a path, `after`; in quotes where the shell would read something else. */
static void put(const char *before, const char *folder, const char *after)
{
    bool plain =
        strspn(folder, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@") == strlen(folder);
    const char *quote = plain ? "" : "'";
    printf(" %s%s", quote, before);
    for (const char *c = folder; *c; c++)
        if (*c == '\'')
            printf("'\\''");
        else
            putchar(*c);
    printf("%s%s", after, quote);
}

/* UVM from its sources, without the C that comes with it. */
static void put_uvm(const places *at)
{
    if (*at->uvm) {
        printf(" +define+UVM_NO_DPI");
        put("+incdir+", at->uvm, "");
        put("", at->uvm, "/uvm_pkg.sv");
    }
}

static void put_files(const places *at)
{
    put_uvm(at);
    printf(" -F");
    put("", at->sv, "/td.f");
    if (*at->uvm) {
        printf(" -F");
        put("", at->sv, "/uvm/td_uvm.f");
    }
}

/* Vivado's xvlog reads the paths of a list from where it runs, so it gets the list itself. */
static bool put_list(const char *folder, const char *name)
{
    char path[PATH_MAX], line[PATH_MAX];
    FILE *list = join(path, folder, name) ? fopen(path, "r") : NULL;
    if (!list)
        return false;
    bool whole = true; /* no line and no path was cut */
    while (whole && fgets(line, sizeof line, list)) {
        whole = strchr(line, '\n') || feof(list);
        line[strcspn(line, "\r\n")] = '\0';
        if (strcmp(line, "+incdir+.") == 0) {
            printf(" -i");
            put("", folder, "");
        } else if (*line && strncmp(line, "//", 2) != 0) {
            char file[PATH_MAX];
            whole = whole && join(file, folder, line);
            if (whole)
                put("", file, "");
        }
    }
    fclose(list);
    return whole;
}

static bool put_xvlog(const places *at)
{
    char uvm[PATH_MAX];
    printf("xvlog -sv");
    if (*at->uvm) {
        printf(" -d UVM_NO_DPI -i");
        put("", at->uvm, "");
        put("", at->uvm, "/uvm_pkg.sv");
    }
    return put_list(at->sv, "td.f") && (!*at->uvm || (join(uvm, at->sv, "uvm") && put_list(uvm, "td_uvm.f")));
}

/* All but xvlog read -F with paths relative to the list. VCS, Questa and xelab add ".so" to the name of a library
 * themselves; xrun wants it written. */
static bool print_lines(int simulator, const places *at)
{
    switch (simulator) {
    case VERILATOR:
        printf("verilator --binary%s", *at->uvm ? " -Wno-fatal" : "");
        put_files(at);
        printf(" -LDFLAGS");
        put("-Wl,-rpath,", at->lib, "");
        put("", at->lib, "/libtensordoor.so");
        break;
    case VCS:
        printf("vcs -full64 -sverilog");
        put_files(at);
        printf("\n./simv -sv_lib");
        put("", at->lib, "/libtensordoor");
        break;
    case QUESTA:
        printf("vlog -sv");
        put_files(at);
        printf("\nvsim -c -do \"run -all; quit -f\" -sv_lib");
        put("", at->lib, "/libtensordoor");
        break;
    case XCELIUM:
        printf("xrun -64bit -sv");
        put_files(at);
        printf(" -sv_lib");
        put("", at->lib, "/libtensordoor.so");
        break;
    default:
        if (!put_xvlog(at))
            return false;
        /* -dpi_absolute (UG900): without it xsim looks for lib*.so in LD_LIBRARY_PATH alone. */
        printf("\nxelab -R -dpi_absolute -sv_root");
        put("", at->lib, "");
        printf(" -sv_lib libtensordoor");
    }
    printf("\n");
    return true;
}

int tool_flags(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [VERILATOR] = {"verilator", 0, false, NULL, "Verilator: one command that compiles and links", NULL},
        [VCS] = {"vcs", 0, false, NULL, "Synopsys VCS", NULL},
        [QUESTA] = {"questa", 0, false, NULL, "Siemens Questa", NULL},
        [XCELIUM] = {"xcelium", 0, false, NULL, "Cadence Xcelium: one command that compiles and runs", NULL},
        [XSIM] = {"xsim", 0, false, NULL, "AMD Vivado's simulator", NULL},
        [UVM] = {"uvm", 0, false, NULL, "with UVM, from its sources in the folder UVM_HOME, and td_uvm_pkg", NULL},
    };
    const char *file = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &file);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    int simulator = SIMULATORS, count = 0;
    for (int i = 0; i < SIMULATORS; i++)
        if (flags[i].value) {
            simulator = i;
            count++;
        }
    if (count != 1)
        return tool_fail(usage.command, "%s simulator; pass one of --verilator --vcs --questa --xcelium --xsim",
                         count ? "more than one" : "no");
    places at = {"", "", ""};
    if (!find_installation(&at))
        return tool_fail(usage.command, "libtensordoor.so and td.f are not where this command was installed with them; "
                                        "run meson install again");
    if (flags[UVM].value && !find_uvm(&at))
        return tool_fail(usage.command, "--uvm needs UVM_HOME in the environment: the folder of UVM's sources, with "
                                        "src/uvm_pkg.sv in it");
    if (!print_lines(simulator, &at))
        return tool_fail(usage.command, "cannot read td.f or uvm/td_uvm.f in %s", at.sv);
    return TOOL_OK;
}
