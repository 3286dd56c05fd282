#!/usr/bin/env python3
"""cuda_forward_test.py - `ptxbridge exec --stats --dump` where calls are forwarded to a real driver:
cuda_forward_test.py PTXBRIDGE PLAYED_DRIVER SMALL_DRIVER SPIED FORWARD DEVICE,... PROGRAM...

PLAYED_DRIVER is the library of tests/played_driver, SMALL_DRIVER one with few functions (tests/cuda_abi_library); SPIED and FORWARD are the programs
driver_spied and driver_forward. Launches dumped from SPIED and from each PROGRAM are run again on the devices.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND, PLAYED, SMALL, SPIED, FORWARD = sys.argv[1:6]
DEVICES, PROGRAMS = sys.argv[6].split(","), sys.argv[7:]


def run(*arguments, library=PLAYED, **env):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True,
                          env={**os.environ, "PTXBRIDGE_DEVICE": "auto", "PTXBRIDGE_CUDA_LIBRARY": library, **env})


def table(stderr):
    """{kernel: (launches, total, mean, longest)}"""
    rows = re.findall(r"^ptxbridge: +(\d+) +([0-9.]+) +([0-9.]+) +([0-9.]+)  (.*)$", stderr, re.M)
    return {name: (int(n), float(total), float(mean), float(longest)) for n, total, mean, longest, name in rows}


def load(folder):
    """The cases of a folder in the order of their launches."""
    paths = sorted(pathlib.Path(folder).glob("case*.json"), key=lambda p: int(p.stem[4:]))
    return [(path, json.loads(path.read_text())) for path in paths]


class Forwarded(unittest.TestCase):
    def check_cases(self, folder):
        """All on the first device, one of each kernel on the others."""
        met = set()
        for path, case in load(folder):
            self.assertNotIn("NOT WHOLE", case["description"])
            devices = DEVICES[:1] if case["entry"] in met else DEVICES
            met.add(case["entry"])
            for device in devices:
                done = run("run", str(path), "--device", device, library="")
                self.assertEqual(done.returncode, 0, (path, device, done.stdout, done.stderr))

    def test_every_way_to_launch(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("exec", "--stats", "--dump", folder, SPIED)
            self.assertEqual((done.returncode, done.stdout), (0, "driver_spied: ok\n"), done.stderr)
            counts = table(done.stderr)
            self.assertEqual({name: row[0] for name, row in counts.items()},
                             {"fill": 8, "count": 2, "sample": 1, "peek": 1, "bump": 1, "hidden": 2, "fail": 1, "fill (captured)": 1,
                              "fill (beside a capture)": 1})
            for name, (n, total, mean, longest) in counts.items():
                self.assertEqual(total > 0, "(" not in name, name)
                self.assertTrue(abs(total - n * mean) < 0.01 and longest <= total, name)
            for said in ("that is captured", "while another stream is captured", "the kernels of graphs", "it holds no PTX", "are not dumped"):
                self.assertEqual(done.stderr.count(said), 1, said)
            cases = load(folder)
            self.assertEqual([case["entry"] for _, case in cases],
                             ["count"] + 5 * ["fill"] + ["count", "sample", "peek"] + 3 * ["fill"] + ["bump", "fail"])
            values = [case["params"][1]["u32"] for _, case in cases if case["entry"] == "fill"]
            self.assertEqual(values, [100, 200, 300, 400, 500, 600, 700, 701])
            self.assertEqual([i for i, (_, case) in enumerate(cases) if case.get("cooperative")], [10, 11])
            self.assertEqual([cases[2][1]["shared"], cases[3][1]["shared"], cases[3][1]["block"]], [64, 16, [32, 1, 1]])
            self.assertEqual(cases[4][1]["params"][0]["offset"], 64)               # in the middle of pinned memory
            self.assertEqual(cases[-1][1]["expect"], [{"fault": "trap"}])
            # A handle in memory is carried over, one whose array is gone stays a number.
            peek = cases[8][1]
            self.assertEqual((len(peek["textures"]), [p["offset"] for p in peek["buffers"]["b1"]["pointers"]]), (1, [0]))
            self.check_cases(folder)
            # Variables are the module's, or the library's that was launched.
            held = [(pathlib.Path(folder) / cases[i][1]["globals"]["total"]["raw"]).read_bytes() for i in (0, 6)]
            self.assertEqual([int.from_bytes(h[:8], "little") for h in held], [5, 7])

    def test_every_kind_of_memory(self):
        for kind in ("device", "pitch", "managed", "async", "pool", "pinned", "host", "registered", "mapped"):
            with tempfile.TemporaryDirectory() as folder:
                done = run("exec", "--dump", folder, "--", SPIED, kind)
                self.assertEqual((done.returncode, done.stderr), (0, ""), kind)
                case = load(folder)[0][1]
                self.assertEqual([case["params"][0].get("offset"), len(case["buffers"]), len(case["expect"])], [16, 1, 1], kind)

    def test_what_other_threads_write_is_not_the_launch(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("exec", "--dump", folder, "--", SPIED, "threads")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            cases = load(folder)
            self.assertEqual(len(cases), 10)
            for path, case in cases:
                before = (path.parent / case["buffers"]["b1"]["raw"]).read_bytes()
                after = (path.parent / case["expect"][0]["raw"]).read_bytes() if case["expect"] and "raw" in case["expect"][0] else before
                self.assertEqual(before[128:], after[128:], path.name)

    def test_numbers_that_are_equal_to_a_handle_stay_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            run("exec", "--dump", folder, SPIED)
            path, case = next((p, c) for p, c in load(folder) if c["entry"] == "sample")
            self.assertEqual(len(case["textures"]), 1)
            self.assertEqual([list(p)[0] for p in case["params"]], ["texture", "u64", "buffer"])
            self.assertNotIn("pointers", next(iter(case["buffers"].values())))
            texels = path.parent / case["textures"]["t0"]["raw"]
            data = bytearray(texels.read_bytes())
            self.assertEqual(data[20:24], (105).to_bytes(4, "little"))
            data[20] ^= 1                          # the texel that the kernel reads
            texels.write_bytes(data)
            self.assertEqual(run("run", str(path), library="").returncode, 1)

    def test_programs(self):
        for program in PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                done = run("exec", "--dump", folder, program)
                self.assertEqual((done.returncode, done.stderr), (0, ""), program)
                self.assertGreater(len(load(folder)), 0, program)
                self.check_cases(folder)

    def test_expectations_are_what_the_driver_made(self):
        with tempfile.TemporaryDirectory() as folder:
            run("exec", "--dump", folder, SPIED)
            path, case = load(folder)[1]
            case["params"][1]["u32"] += 1
            path.write_text(json.dumps(case))
            self.assertEqual(run("run", str(path), library="").returncode, 1)

    def test_limits_and_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            run("exec", "--dump", folder, SPIED, PTXBRIDGE_DUMP_LAUNCHES="2", PTXBRIDGE_CAPABILITY="9.0")
            entries = [case["entry"] for _, case in load(folder)]
            self.assertEqual({name: entries.count(name) for name in entries}, {"count": 2, "fill": 2, "sample": 1, "peek": 1, "bump": 1, "fail": 1})
            self.assertEqual({case["mma_model"] for _, case in load(folder)}, {"hopper"})
        for extra in ([], ["--stats"]):
            done = run("exec", *extra, SPIED, PTXBRIDGE_DUMP_LAUNCHES="many")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("PTXBRIDGE_DUMP_LAUNCHES=many is not"), 1)

    def test_statistics_alone_and_nothing_at_all(self):
        done = run("exec", "--stats", SPIED)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(table(done.stderr)["fill"][0], 8)
        self.assertNotIn("dump:", done.stderr)
        self.assertEqual((lambda d: (d.returncode, d.stderr))(run("exec", SPIED)), (0, ""))

    def test_statistics_wait_for_nothing(self):
        done = run("exec", "--stats", "--", SPIED, "waits")
        self.assertEqual((done.returncode, done.stdout), (0, "driver_spied: ok\n"))
        self.assertEqual(table(done.stderr)["wait"][0], 3)
        self.assertGreater(table(done.stderr)["wait"][1], 0)

    def test_traced_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("exec", "--trace", "--stats", "--dump", folder, SPIED)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertRegex(done.stderr, r"cuLaunchKernel_ptsz\(function=.*block_x=32, .*\) = 0\n")
            self.assertEqual((table(done.stderr)["fill"][0], len(load(folder))), (8, 14))

    def test_a_driver_with_few_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("exec", "--stats", "--dump", folder, FORWARD, library=SMALL)
            self.assertEqual((done.returncode, done.stdout), (0, "forwarded\n"), done.stderr)
            self.assertEqual(table(done.stderr)["twice"][0], 1)
            case = load(folder)[0][1]
            self.assertEqual((case["params"][0]["offset"], case["mma_model"]), (16, "blackwell"))
            self.check_cases(folder)
            self.assertGreater(table(run("exec", "--stats", FORWARD, library=SMALL).stderr)["twice"][1], 0)


unittest.main(argv=sys.argv[:1])
