#!/usr/bin/env python3
"""Every planted fault is found, and the table in docs/conformance.md says by what. (After a change: the first three columns of
ptxbridge conform --mutations.)"""
import subprocess
import sys

command, page = sys.argv[1:3]
done = subprocess.run([command, "conform", "--mutations"], capture_output=True, text=True)
lines = done.stdout.splitlines()
printed = [line.rsplit(" | ", 1)[0] + " |" for line in lines if line.startswith("| ")]
assert done.returncode == 0 and len(printed) > 50, done.stdout + done.stderr
text = open(page, encoding="utf-8").read()
documented = [line for line in text[text.index("| wrong lowering |"):].splitlines() if line.startswith("| ")]
for a, b in zip(printed, documented):
    assert a == b, f"printed:    {a}\ndocumented: {b}"
assert len(printed) == len(documented), (len(printed), len(documented))
assert f"{len(printed) - 2} of {len(printed) - 2} are found." in text
print(lines[-1])
