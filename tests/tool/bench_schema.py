"""What a run of `tensordoor bench` is, as JSON: `check(run)` raises AssertionError with the path of what is wrong.
Every member is listed; another one is an error too."""

STAT = {"median": float, "low": float, "high": float, "spread": float, "spread_low": float, "spread_high": float,
        "samples": int, "outliers": int}
FIGURE = {"group": str, "case": str, "series": str, "elems": int, "bytes": int, "threads": int, "calm": bool,
          "disturbed": int, "ns": STAT, "reference?": str, "ratio?": STAT, "peers": (str, STAT),
          "allocations?": float, "peak_bytes?": int, "hits?": float, "extra": (str, float)}
SKIPPED = {"group": str, "case": str, "skipped": str}
RUN = {"format": str, "version": int, "tensordoor": str, "commit": str, "time": str,
       "machine": {"processor": str, "system": str, "isa": str, "cores": int},
       "fitness": {"fit": bool, "load": float, "steal": float, "calibration": float, "clock": float, "calm": float,
                   "probe_clocks": float, "governor": str, "why": str},
       "method": {"samples": int, "measurement_ns": int, "warm_up_ns": int},
       "figures": [None]}


def hold(value, schema, path):
    if isinstance(schema, dict):
        assert isinstance(value, dict), path
        known = {name.rstrip("?") for name in schema}
        assert set(value) <= known, "%s has %s" % (path, set(value) - known)
        for name, inner in schema.items():
            if name.endswith("?") and name[:-1] not in value:
                continue
            assert name.rstrip("?") in value, "%s lacks %s" % (path, name)
            hold(value[name.rstrip("?")], inner, path + "." + name.rstrip("?"))
    elif isinstance(schema, tuple):
        assert isinstance(value, dict), path
        for name, inner in value.items():
            hold(inner, schema[1], path + "." + name)
    elif schema is float:
        assert isinstance(value, (int, float)) and not isinstance(value, bool), path
    else:
        assert isinstance(value, schema) and (schema is bool or not isinstance(value, bool)), "%s is %r" % (path, value)


def check(run):
    head = {name: schema for name, schema in RUN.items() if name != "figures"}
    hold({name: value for name, value in run.items() if name != "figures"}, head, "run")
    assert run["format"] == "tensordoor-bench" and run["version"] == 3
    assert isinstance(run["figures"], list) and run["figures"]
    for i, figure in enumerate(run["figures"]):
        hold(figure, SKIPPED if "skipped" in figure else FIGURE, "figures[%d]" % i)
        if "skipped" in figure:
            continue
        for stat in [figure["ns"], *figure["peers"].values()]:
            assert 0 <= stat["low"] <= stat["median"] <= stat["high"], (figure["case"], stat)
        assert ("ratio" in figure) == ("reference" in figure)
        assert "reference" not in figure or figure["reference"] == list(figure["peers"])[0]
