"""TD_PROFILE: the table at the end of a command, and the files that the library writes when the process ends."""
import json
import os
import subprocess

from harness import TOOL, main, read, succeed

PACK = ["pack", "t.npy", "--pattern", "a (b k) -> (b a) k", "--options", "k=4", "--width", "64", "-o", "m.hex"]


def profiled(wish, *args):
    done = subprocess.run([TOOL, *args], capture_output=True, text=True, env={**os.environ, "TD_PROFILE": wish})
    assert done.returncode == 0, done
    return done.stdout, done.stderr


def names(steps):
    return {step["name"]: step for step in steps}


def a_table_at_the_end():
    succeed("fill", "ramp start=0 step=1", "-o", "t.npy", "-s", "64 64", "--dtype", "i16")
    out, err = profiled("1", *PACK)
    assert out == succeed(*PACK), out
    assert err.startswith("tensordoor profile: "), err
    lines = [line.split() for line in err.splitlines()]
    assert ["tensor_open", "1"] in [line[:2] for line in lines], err
    assert ["backdoor_load_tensor", "1", "8.00", "KiB"] in [line[:4] for line in lines], err
    assert profiled("0", *PACK)[1] == "" and profiled("", *PACK)[1] == ""


def files_at_the_end():
    succeed("fill", "ramp start=0 step=1", "-o", "t.npy", "-s", "64 64", "--dtype", "i16")
    assert profiled("p.txt", *PACK)[1] == ""
    assert read("p.txt").startswith("tensordoor profile: ")
    assert profiled("p.json", *PACK)[1] == ""
    profile = json.loads(read("p.json"))
    load = names(profile["operations"])["backdoor_load_tensor"]
    assert load["calls"] == 1 and load["bytes"] == 8192
    assert names(names(load["steps"])["cache"]["steps"]).keys() <= {"plan"}, load
    assert profiled("trace:trace.json", *PACK)[1] == ""
    events = [e for e in json.loads(read("trace.json"))["traceEvents"] if e["ph"] == "X"]
    (load,) = [e for e in events if e["name"] == "backdoor_load_tensor"]
    (move,) = [e for e in events if e["name"].startswith("move ")]
    assert load["ts"] <= move["ts"] and move["ts"] + move["dur"] <= load["ts"] + load["dur"] + 0.002, (load, move)
    assert move["args"]["bytes"] == 8192 and move["tid"] == load["tid"]
    if os.path.exists("/dev/stderr"):  # not in a container without /proc
        assert profiled("/dev/stderr", *PACK)[1].startswith("tensordoor profile: ")


def a_file_that_cannot_be_written_changes_nothing():
    succeed("fill", "ramp start=0 step=1", "-o", "t.npy", "-s", "64 64", "--dtype", "i16")
    assert profiled("none/p.json", *PACK)[1] == ""
    assert sorted(os.listdir(".")) == ["m.hex", "t.npy"], os.listdir(".")


main([a_table_at_the_end, files_at_the_end, a_file_that_cannot_be_written_changes_nothing])
