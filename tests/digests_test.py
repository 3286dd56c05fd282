#!/usr/bin/env python3
"""The digests of long tables: each line is of a case that there is, complete, and in the order of names. (The digests themselves take minutes each:
ptxbridge conform --exhaustive --filter NAME --digests FILE.)"""
import subprocess
import sys

command, path = sys.argv[1:3]
names = set(subprocess.run([command, "conform", "--list"], capture_output=True, text=True, check=True).stdout.splitlines())
before = ""
lines = open(path, encoding="utf-8").read().splitlines()
assert lines, "no digests"
for line in lines:
    digest, inputs, name = line.split(None, 2)
    assert len(digest) == 16 and int(digest, 16), line
    assert 2 ** 16 < int(inputs) <= 2 ** 32 and int(inputs) & (int(inputs) - 1) == 0, f"not a table: {line}"
    assert name in names, f"no case has this name: {name}"
    assert before < name, f"not in the order of names: {name}"
    before = name
print(len(lines), "long tables")
