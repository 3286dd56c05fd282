#!/usr/bin/env python3
"""cuda_exec_test.py - `ptxbridge exec`: cuda_exec_test.py PTXBRIDGE PROGRAM, where PROGRAM is driver_saxpy."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND, PROGRAM = sys.argv[1], sys.argv[2]


def run(*arguments, env=None):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **(env or {})})


class Exec(unittest.TestCase):
    def test_runs_a_program_and_keeps_its_status_and_arguments(self):
        self.assertEqual(run("exec", "--device", "cpu", "--", PROGRAM).stdout, "driver_saxpy: ok\n")
        done = run("exec", "--device", "cpu", "sh", "-c", 'echo "$1 $PTXBRIDGE_DEVICE"; exit 7', "x", "--trace")
        self.assertEqual((done.returncode, done.stdout), (7, "--trace cpu\n"))

    def test_says_what_it_cannot_start(self):
        missing = run("exec", "./no/such/program")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("no program", missing.stderr)
        self.assertEqual(run("exec").returncode, 2)
        unknown = run("exec", "--device", "nosuch", PROGRAM)
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("nosuch", unknown.stderr)
        self.assertEqual(run("exec", PROGRAM, env={"PTXBRIDGE_DEVICE": "cpu,nosuch"}).returncode, 3)

    def test_trace_shows_calls_with_arguments_and_results(self):
        trace = run("exec", "--device", "cpu", "--trace", PROGRAM).stderr
        self.assertRegex(trace, r"cuMemAlloc_v2\(\*address=0x[0-9a-f]+, bytes=20000\) = 0")
        self.assertRegex(trace, r'cuModuleGetFunction\(.*name="no_such_kernel"\) = 500 CUDA_ERROR_NOT_FOUND')
        self.assertRegex(trace, r"cuLaunchKernel\(function=0x[0-9a-f]+, grid_x=40, .*block_x=128, .*\) = 0\n")

    def test_stats_count_launches(self):
        done = run("exec", "--device", "cpu", "--stats", PROGRAM)
        self.assertRegex(done.stderr, r"\b2 +[0-9.]+ +[0-9.]+ +[0-9.]+  saxpy\n")
        self.assertEqual(done.stdout, "driver_saxpy: ok\n")

    def test_dumped_launches_are_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "dump"
            self.assertEqual(run("exec", "--device", "cpu", "--dump", str(target), PROGRAM).returncode, 0)
            cases = sorted(target.glob("*.json"))
            self.assertEqual(len(cases), 2)
            self.assertEqual(len(list(target.glob("*.ptx"))), 1)
            for case in cases:
                report = run("run", str(case), "--json")
                self.assertEqual(report.returncode, 0, report.stderr)
                self.assertEqual(len(json.loads(case.read_text())["expect"]), 1)
            # The expectation is what the kernel made: another input gives another output.
            text = json.loads(cases[0].read_text())
            text["params"][2] = {"u32": 0}
            cases[0].write_text(json.dumps(text))
            self.assertEqual(run("run", str(cases[0])).returncode, 1)


unittest.main(argv=sys.argv[:1])
