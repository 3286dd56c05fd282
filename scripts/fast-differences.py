#!/usr/bin/env python3
"""Prints how far mma on matrix cores (--mma fast) is from the exact models, per corpus kernel and simulated target.

    scripts/fast-differences.py [--ptxbridge PATH] [--targets gfx1100,gfx1201,...] [CASE.json ...]

Without cases: every case of ptx_corpus/kernels whose PTX has an mma, and dec2 on one window. The table of docs/devices.md is its output.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MMA = re.compile(r"\bw?mma\.(sync|mma)\b|\bmma\.sp\b")


def cases_with_mma():
    found = []
    for case in sorted((ROOT / "ptx_corpus/kernels").glob("*.json")):
        module = json.loads(case.read_text()).get("ptx", case.stem + ".ptx")
        text = case.parent / module
        if text.is_file() and MMA.search(text.read_text()):
            found.append(case)
    return found + [ROOT / "ptx_corpus/dec2/dec2-window.json"]


def reason(run):
    if run.stdout.startswith("{"):
        for side in (s for c in json.loads(run.stdout)["cases"] for s in c.get("sides", [])):
            if side.get("text"):
                return side["text"]
    return (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[0]


def difference(ptxbridge, target, case):
    """Text of a cell: the output that differs most."""
    run = subprocess.run([ptxbridge, "compare", "--devices", f"sim:{target}", "--mma", "exact,fast", "--json", str(case)],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return "error: " + reason(run)
    outputs = [o for c in json.loads(run.stdout)["cases"] for o in c["outputs"] if o["differing"]]
    if not outputs:
        return "equal"
    worst = max(outputs, key=lambda o: o["max_ulp"])
    return f'{worst["differing"]} of {worst["elements"]}, {worst["max_ulp"]} ulp, {worst["max_abs"]:.3g}'


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--ptxbridge", default=str(ROOT / "build/release/ptxbridge"))
    options.add_argument("--targets", default="gfx1100,gfx1201,gfx90a,gfx942,gfx950")
    options.add_argument("cases", nargs="*", type=pathlib.Path)
    given = options.parse_args()
    targets = given.targets.split(",")
    if not pathlib.Path(given.ptxbridge).is_file():
        sys.exit(f"fast-differences: there is no {given.ptxbridge}; build it or give --ptxbridge")
    print("| case | " + " | ".join(targets) + " |")
    print("| --- " * (len(targets) + 1) + "|")
    failed = False
    for case in given.cases or cases_with_mma():
        cells = [difference(given.ptxbridge, t, case) for t in targets]
        failed |= any(c.startswith("error") for c in cells)
        print(f"| `{case.stem}` | " + " | ".join(cells) + " |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
