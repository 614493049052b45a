"""`tensordoor flags`: the command lines, from a build and from an installation that was moved. Speaks TAP."""
import os
import shlex
import shutil
import subprocess

from harness import TOOL, main, refuse, succeed

ROOT = os.environ["TD_SOURCE_ROOT"]
BUILD = os.path.dirname(os.path.realpath(TOOL))
SV = os.path.join(ROOT, "sv")
LIB = os.path.join(BUILD, "libtensordoor")


def verilator_in_one_line():
    line = f"verilator --binary -F {SV}/td.f -LDFLAGS -Wl,-rpath,{BUILD} {LIB}.so\n"
    assert succeed("flags", "--verilator") == line, succeed("flags", "--verilator")


def two_lines_where_running_is_a_step():
    assert succeed("flags", "--vcs") == f"vcs -full64 -sverilog -F {SV}/td.f\n./simv -sv_lib {LIB}\n"
    assert succeed("flags", "--questa") == (f"vlog -sv -F {SV}/td.f\n"
                                            f'vsim -c -do "run -all; quit -f" -sv_lib {LIB}\n')
    assert succeed("flags", "--xcelium") == f"xrun -64bit -sv -F {SV}/td.f -sv_lib {LIB}.so\n"


def listed(folder, name):
    """What td.f names, as words of xvlog."""
    words = []
    for line in open(os.path.join(folder, name)).read().split("\n"):
        if line.startswith("+incdir+"):
            words += ["-i", folder]
        elif line and not line.startswith("//"):
            words.append(os.path.join(folder, line))
    return words


def xsim_gets_the_files_themselves():
    first, second = succeed("flags", "--xsim").splitlines()
    assert shlex.split(first) == ["xvlog", "-sv"] + listed(SV, "td.f"), first
    assert len(listed(SV, "td.f")) > 3
    assert second == f"xelab -R -dpi_absolute -sv_root {BUILD} -sv_lib libtensordoor", second


def uvm_comes_from_its_sources():
    os.makedirs("uvm/src")
    open("uvm/src/uvm_pkg.sv", "w").close()
    home = os.path.abspath("uvm")
    os.environ["UVM_HOME"] = home
    try:
        before = f" +define+UVM_NO_DPI +incdir+{home}/src {home}/src/uvm_pkg.sv -F {SV}/td.f -F {SV}/uvm/td_uvm.f"
        out = succeed("flags", "--verilator", "--uvm")
        assert out == f"verilator --binary -Wno-fatal{before} -LDFLAGS -Wl,-rpath,{BUILD} {LIB}.so\n", out
        assert succeed("flags", "--uvm", "--xcelium") == f"xrun -64bit -sv{before} -sv_lib {LIB}.so\n"
        first = shlex.split(succeed("flags", "--xsim", "--uvm").splitlines()[0])
        uvm = ["-d", "UVM_NO_DPI", "-i", home + "/src", home + "/src/uvm_pkg.sv"]
        assert first == ["xvlog", "-sv"] + uvm + listed(SV, "td.f") + listed(SV + "/uvm", "td_uvm.f"), first
    finally:
        del os.environ["UVM_HOME"]


def refusals_say_what_to_pass():
    which = "simulator; pass one of --verilator --vcs --questa --xcelium --xsim"
    refuse("tensordoor flags: no " + which, "flags")
    refuse("tensordoor flags: more than one " + which, "flags", "--vcs", "--xsim")
    refuse("tensordoor flags: --uvm needs UVM_HOME in the environment: the folder of UVM's sources, with "
           "src/uvm_pkg.sv in it", "flags", "--vcs", "--uvm")
    os.environ["UVM_HOME"] = 1000 * "long/"  # than any path that the system opens
    try:
        refuse("tensordoor flags: --uvm needs UVM_HOME in the environment: the folder of UVM's sources, with "
               "src/uvm_pkg.sv in it", "flags", "--vcs", "--uvm")
    finally:
        del os.environ["UVM_HOME"]

def a_command_alone_says_so():
    shutil.copy(TOOL, "tensordoor")
    done = subprocess.run(["./tensordoor", "flags", "--vcs"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == ("tensordoor flags: libtensordoor.so and td.f are not where this command was installed "
                           "with them; run meson install again\n"), done.stderr


main([verilator_in_one_line, two_lines_where_running_is_a_step, xsim_gets_the_files_themselves,
      uvm_comes_from_its_sources, refusals_say_what_to_pass, a_command_alone_says_so])
