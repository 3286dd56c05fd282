#!/usr/bin/env python3
"""run.py - runs one program of this folder and compares what it prints: run.py COMMAND... -- NAME

The program has to end with 0 and to print NAME.out where that file exists, else the line "NAME: ok".
"""
import pathlib
import subprocess
import sys

split = len(sys.argv) - 2
command, name = sys.argv[1:split], sys.argv[split + 1]
expected_file = pathlib.Path(__file__).parent / f"{name}.out"
expected = expected_file.read_text() if expected_file.exists() else f"{name}: ok\n"
done = subprocess.run(command, capture_output=True, text=True)
if done.returncode != 0 or done.stdout != expected:
    print(f"exit status {done.returncode}\n--- printed\n{done.stdout}--- expected\n{expected}--- stderr\n{done.stderr}")
    sys.exit(1)
print(done.stdout, end="")
