"""Counts single tests over the meson logs named as arguments and prints the line that ends tests/run. A test that
speaks TAP counts as its points, any other as one; a test that failed without a failing point counts as one failure
more."""
import json
import re
import sys

passed = failed = skipped = 0
for log in sys.argv[1:]:
    with open(log) as lines:
        for line in lines:
            test = json.loads(line)
            points = re.findall(r"^(not ok|ok)\b[^\n#]*(# SKIP)?", test.get("stdout") or "", re.M)
            bad = sum(1 for ok, skip in points if ok == "not ok")
            skips = sum(1 for ok, skip in points if skip)
            passed += len(points) - bad - skips
            skipped += skips
            failed += bad
            if test["result"] == "SKIP":
                skipped += 0 if points else 1
            elif test["result"] != "OK":
                failed += 0 if bad else 1
                if not bad:
                    print(f"failed: {test['name']} ({test['result']})")
            elif not points:
                passed += 1

print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
