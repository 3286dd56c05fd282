#!/usr/bin/env python3
"""cuda_exec_test.py - `ptxbridge exec`: cuda_exec_test.py PTXBRIDGE SAXPY POINTERS IMAGES HEAP DEVICE..., with the programs driver_saxpy,
driver_pointers, driver_images and driver_heap, and the devices on which dumped launches are run again.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND, PROGRAM, POINTERS, IMAGES, HEAP, DEVICES = *sys.argv[1:6], sys.argv[6:]


def run(*arguments, env=None):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **(env or {})})


class Exec(unittest.TestCase):
    def test_runs_a_program_and_keeps_its_status_and_arguments(self):
        self.assertEqual(run("exec", "--device", "cpu", "--", PROGRAM).stdout, "driver_saxpy: ok\n")
        self.assertEqual(run("exec", "--device", "cpu", "sh", "-c", "kill -9 $$").returncode, -9)
        done = run("exec", "--device", "cpu", "sh", "-c", 'echo "$1 $PTXBRIDGE_DEVICE"; exit 7', "x", "--trace")
        self.assertEqual((done.returncode, done.stdout), (7, "--trace cpu\n"))

    def test_says_what_it_cannot_start(self):
        missing = run("exec", "./no/such/program")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("no program", missing.stderr)
        self.assertEqual(run("exec").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            for name, contents, mode, said in (
                    ("narrow", b"\x7fELF\x01\x01\x01" + bytes(100), 0o755, "32-bit"), ("closed", b"#!/bin/sh\n", 0o644, "not executable"),
                    ("lost", b"#!/no/such/interpreter\n", 0o755, "interpreter"), ("text", b"echo\n", 0o755, "format")):
                path = pathlib.Path(folder) / name
                path.write_bytes(contents)
                path.chmod(mode)
                done = run("exec", "--device", "cpu", "--", str(path))
                self.assertEqual(done.returncode, 2, name)
                self.assertIn(said, done.stderr)
            self.assertIn("a folder", run("exec", "--device", "cpu", "--", folder).stderr)
            self.assertEqual(run("exec", "--device", "cpu", "--dump", str(path), "--", PROGRAM).returncode, 2)
        unknown = run("exec", "--device", "nosuch", PROGRAM)
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("nosuch", unknown.stderr)
        self.assertEqual(run("exec", PROGRAM, env={"PTXBRIDGE_DEVICE": "cpu,nosuch"}).returncode, 3)
        nvidia = run("exec", "--device", "cuda", PROGRAM, env={"PTXBRIDGE_CUDA_LIBRARY": "/no/such/library"})
        self.assertEqual(nvidia.returncode, 3)
        self.assertIn("cuda", nvidia.stderr)

    def test_the_environment_means_something_or_is_refused(self):
        for value, sound in (("9.0", True), ("90", True), ("12.1", True), ("sm_90", False), ("8.95", False), ("many", False)):
            done = run("exec", "--device", "cpu", PROGRAM, env={"PTXBRIDGE_CAPABILITY": value})
            self.assertEqual((done.returncode == 0, done.stderr.count(f"PTXBRIDGE_CAPABILITY={value}")), (sound, 0 if sound else 1), value)
        for value, sound in (("3", True), ("many", False), ("-1", False), ("3x", False), ("99999999999999999999", False)):
            done = run("exec", "--device", "cpu", PROGRAM, env={"PTXBRIDGE_DUMP_LAUNCHES": value})
            self.assertEqual((done.returncode == 0, f"PTXBRIDGE_DUMP_LAUNCHES={value} is not" in done.stderr), (sound, not sound), value)
        done = run("exec", "--device", ",".join(17 * ["cpu"]), PROGRAM)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("more than 16", done.stderr)

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
            # Distances are those of its elements.
            text = json.loads(cases[0].read_text())
            expected = text["expect"][0]
            self.assertEqual((expected["dtype"], [b["dtype"] for b in text["buffers"].values()]), ("f32", ["f32", "f32"]))
            raw = target / expected["raw"]
            contents = raw.read_bytes()
            raw.write_bytes(bytes([contents[0] ^ 1]) + contents[1:])
            report = json.loads(run("run", str(cases[0]), "--json").stdout)
            self.assertIn('"max_ulp": 1', json.dumps(report))
            expected["tolerance"] = {"ulp": 1}
            cases[0].write_text(json.dumps(text))
            self.assertEqual(run("run", str(cases[0])).returncode, 0)
            raw.write_bytes(contents[1:])
            self.assertIn("no whole number of f32", run("run", str(cases[0])).stderr)
            raw.write_bytes(contents)
            # What the module lacks is told at the place of the case that names it.
            pointer, text["params"][0] = text["params"][0], {"global": "nowhere"}
            cases[0].write_text(json.dumps(text, indent=1))
            self.assertRegex(run("run", str(cases[0])).stderr, r"case\d\.json:\d+:\d+: error: .*\"nowhere\"")
            text["params"][0] = pointer
            # The expectation is what the kernel made: another input gives another output.
            text["params"][2] = {"u32": 0}
            cases[0].write_text(json.dumps(text))
            self.assertEqual(run("run", str(cases[0])).returncode, 1)

    def test_pointers_in_memory_are_carried_over(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder)
            done = run("exec", "--device", "cpu", "--dump", folder, POINTERS)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            path = target / "case1.json"
            case = json.loads(path.read_text())
            self.assertEqual(len(case["buffers"]), 6)
            found = sum(len(x.get("pointers", [])) for x in [*case["buffers"].values(), *case["globals"].values()])
            self.assertEqual(found, 4)             # table -> 0 -> 1 -> 2, extra -> 3
            for device in DEVICES:
                self.assertEqual(run("run", str(path), "--device", device).returncode, 0)
            # Recordings of two devices agree although addresses do not.
            if len(DEVICES) > 1:
                self.assertEqual(run("compare", str(path), "--devices", ",".join(DEVICES)).returncode, 0)
            # Other places for what the kernel has to leave, or for what it finds: seen.
            expected = {e.get("buffer", e.get("global")): e for e in case["expect"]}
            for name, e in expected.items():
                for pointer in e["pointers"]:
                    key = "buffer_offset" if "buffer" in pointer else "global_offset"
                    kept = pointer.pop(key, None)
                    pointer[key] = 4 if kept != 4 else 8
                    path.write_text(json.dumps(case))
                    self.assertEqual(run("run", str(path)).returncode, 1, (name, pointer))
                    del pointer[key]
                    if kept is not None:
                        pointer[key] = kept
            changed = [b for b in case["buffers"].values() if "pointers" in b]
            changed[0]["pointers"][0]["offset"] = 1 << 20
            path.write_text(json.dumps(case))
            wrong = run("run", str(path))
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("is outside", wrong.stderr)

    def test_textures_and_surfaces_are_carried_over(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("exec", "--device", "cpu", "--dump", folder, IMAGES)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            path = pathlib.Path(folder) / "case1.json"
            text = path.read_text()
            case = json.loads(text)
            self.assertEqual((len(case["textures"]), len(case["surfaces"])), (8, 3))
            self.assertEqual(case["textures"]["t1"]["max_lod"], "inf")
            self.assertEqual(case["expect"][-1]["surface"], case["textures"]["t1"]["image"])
            for device in DEVICES:
                done = run("run", str(path), "--device", device)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            if len(DEVICES) > 1:
                self.assertEqual(run("compare", str(path), "--devices", ",".join(DEVICES)).returncode, 0)
            # Each of these matters to what the kernel reads, so that something else is seen (1), or cannot be so (2).
            for section, name, key, value, status in (
                    ("textures", "t0", "read", "element", 1), ("textures", "t0", "format", "s8", 1), ("textures", "t0", "shape", [8, 2, 4], 1),
                    ("textures", "t1", "max_lod", 1, 1), ("textures", "t1", "lod_bias", 1, 1), ("textures", "t1", "min_lod", 3, 1),
                    ("textures", "t1", "last_level", 2, 1), ("textures", "t1", "first_level", 1, 1), ("textures", "t1", "last_level", 5, 2),
                    ("textures", "t2", "kind", "3d", 1), ("textures", "t2", "kind", "2d", 2),
                    ("textures", "t2", "shape", [6, 4, 4, 1], 2), ("textures", "t2", "shape", [5, 4, 4, 2], 2),
                    ("textures", "t3", "border", [-8, 1, 2, 3], 1), ("textures", "t3", "address", "clamp", 1), ("textures", "t3", "address", "wrap", 2),
                    ("textures", "t4", "pitch", 48, 1), ("textures", "t4", "buffer_offset", 28, 1), ("textures", "t4", "buffer_offset", 256, 2),
                    ("textures", "t4", "pitch", 80, 2), ("textures", "t4", "pitch", 8, 2), ("textures", "t4", "buffer_offset", 30, 2),
                    ("textures", "t4", "filter", "linear", 2), ("textures", "t5", "first_layer", 0, 1), ("textures", "t5", "last_layer", 1, 1),
                    ("textures", "t5", "last_layer", 4, 2), ("textures", "t5", "first_layer", 3, 2), ("textures", "t5", "format", "f16", 2),
                    ("textures", "t5", "image", "t1", 2), ("textures", "t5", "image", "b1", 2),
                    ("textures", "t7", "srgb", False, 1), ("textures", "t7", "read", "element", 2),
                    ("surfaces", "s6", "first_level", 1, 1), ("surfaces", "s6", "last_level", 0, 2), ("surfaces", "image1", "levels", 4, 2),
                    ("surfaces", "image1", "levels", 6, 2), ("surfaces", "image4", "kind", "cube", 2)):
                changed = json.loads(text)
                changed[section][name][key] = value
                path.write_text(json.dumps(changed))
                done = run("run", str(path))
                self.assertEqual(done.returncode, status, (section, name, key, value, done.stdout, done.stderr))
                self.assertEqual(status == 2, "error" in done.stderr)
            for old, new in (('"texture": "t0"', '"texture": "t7"'), ('"texture": "t5"', '"texture": "t2"'), ('"texture": "t2"', '"texture": "t5"'), ('"surface": "s6"', '"surface": "image1"')):
                path.write_text(text.replace(old, new))
                self.assertEqual(run("run", str(path)).returncode, 1, (old, new))
            path.write_text(text.replace('"surface": "image1", "raw"', '"surface": "s6", "raw"'))
            self.assertIn("which are what can be expected", run("run", str(path)).stderr)

    def test_files_that_cannot_be_written_are_told(self):
        for file, said in (("case1_b0.bin", "case1_b0.bin could not be written"), ("case1_b2_after.bin", "case1_b2_after.bin could not be written")):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / file).mkdir()
                done = run("exec", "--device", "cpu", "--dump", folder, PROGRAM)
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"case1.json is not whole: {said}", done.stderr)
                self.assertIn(f"NOT WHOLE: {said}", json.loads((pathlib.Path(folder) / "case1.json").read_text())["description"])

    def test_heaps_functions_copies_and_cooperative_grids_are_carried_over(self):
        for met in DEVICES:
            with tempfile.TemporaryDirectory() as folder:
                done = run("exec", "--device", met, "--dump", folder, HEAP)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                paths = [pathlib.Path(folder) / f"case{i}.json" for i in range(1, 5)]
                cases = [json.loads(p.read_text()) for p in paths]
                self.assertEqual([c["entry"] for c in cases], ["make", "use", "slow", "meet"])
                self.assertEqual([c.get("cooperative", False) for c in cases], [False, False, False, True])
                for device in DEVICES:
                    for path in paths:
                        done = run("run", str(path), "--device", device, "--repeat", "2")
                        self.assertEqual(done.returncode, 0, (met, device, done.stdout, done.stderr))
                if len(DEVICES) > 1 and met == DEVICES[0]:
                    self.assertEqual(run("compare", *map(str, paths), "--devices", ",".join(DEVICES)).returncode, 0)
                # What they say matters.
                blocks = [b for b in cases[1]["buffers"].values() if b.get("heap")]
                self.assertEqual((len(blocks), sum("pointers" in b for b in blocks)), (6, 5))
                for path, old, new, status in ((paths[1], '"function": "twice"', '"function": "square"', 1), (paths[1], ', "heap": true}', "}", 1),
                                               (paths[1], '"function": "twice"', '"function": "thrice"', 2), (paths[0], '{"offset": 0, "heap": true}', '{"offset": 0, "buffer": "b0"}', 1),
                                               (paths[0], '"function": "square"', '"function": "twice"', 1),
                                               (paths[1], '"pointers": [{"offset": 0, "buffer": "b2"}', '"pointers": [{"offset": 0, "heap": true}', 2)):
                    text = path.read_text()
                    self.assertIn(old, text)
                    path.write_text(text.replace(old, new))
                    done = run("run", str(path))
                    self.assertEqual(done.returncode, status, (old, new))
                    if status == 2:
                        self.assertRegex(done.stderr, rf"^{path}:\d+:\d+: error: ")
                    path.write_text(text)
                # Blocks are given back between runs: two of these do not fit; and what kernels may free has no texels.
                for key, value, status in (("large", {"zeros": {"dtype": "u8", "shape": [(16 << 20) + 1]}, "heap": True}, 0), ("large", {}, 2)):
                    case = json.loads(paths[1].read_text())
                    case["buffers"][key] = value or {"zeros": {"dtype": "u8", "shape": [4]}, "heap": True}
                    case["textures"] = {} if value else {"t": {"buffer": key, "format": "u8", "shape": [4, 1]}}
                    (pathlib.Path(folder) / "more.json").write_text(json.dumps(case))
                    done = run("run", str(pathlib.Path(folder) / "more.json"), "--device", DEVICES[-1], "--repeat", "2")
                    self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                    self.assertEqual(status == 2, "textures and surfaces do not reach" in done.stderr)


unittest.main(argv=sys.argv[:1])
