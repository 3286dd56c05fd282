#!/usr/bin/env python3
"""Runs the `ptxbridge` command as its users do, on the standard library alone.

Usage: cli_test.py PTXBRIDGE SOURCE_DIR
"""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

COMMAND = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))

KERNELS = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 total;

.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .f32 by)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f2, [by];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 ret;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    mul.f32 %f1, %f1, %f2;
    st.global.f32 [%rd5], %f1;
    atom.global.add.u32 %r3, [total], 1;
    ret;
}

.visible .entry unknown(.param .u32 n)
{
    .reg .b32 %r<3>;
    frobnicate.u32 %r1, %r2;
    ret;
}

.visible .entry traps()
{
    trap;
    ret;
}

.visible .entry forever()
{
again:
    bra again;
}
"""


def npy(values, shape, descr="<f4", kind="f"):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join(map(str, shape)))
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%d%s" % (len(values), kind), *values)


def read_npy(path, kind):
    with open(path, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack("<%d%s" % ((len(data) - start) // struct.calcsize(kind), kind), data[start:]))


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, XDG_CACHE_HOME=self.path("cache"))
        self.environment.pop("PTXBRIDGE_DEBUG", None)
        self.environment.pop("PTXBRIDGE_CACHE", None)
        self.write("k.ptx", KERNELS)
        self.write("in.npy", npy([float(i) for i in range(100)], [100]))
        self.write("want.npy", npy([2.5 * i for i in range(100)], [100]))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data.encode() if isinstance(data, str) else data)
        return self.path(name)

    def case(self, **changes):
        case = {"ptxbridge_case": 1, "ptx": "k.ptx", "entry": "scale", "grid": [4], "block": [32],
                "buffers": {"x": {"npy": "in.npy"}, "y": {"zeros": {"dtype": "f32", "shape": [100]}}},
                "params": [{"buffer": "x"}, {"buffer": "y"}, {"u32": 100}, {"f32": 2.5}],
                "expect": [{"buffer": "y", "npy": "want.npy"}]}
        case.update(changes)
        return self.write("case.json", json.dumps({k: v for k, v in case.items() if v is not None}))

    def run_command(self, *arguments, status=0, stdout=subprocess.PIPE, env=None):
        done = subprocess.run([COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120,
                              env=dict(self.environment, **(env or {})))
        self.assertEqual(done.returncode, status, "%s\n%s\n%s" % (arguments, done.stdout, done.stderr))
        return done

    # ------------------------------------------------------------ help and wrong use

    def test_help_and_version(self):
        self.assertRegex(self.run_command("--version").stdout, r"^ptxbridge \d+\.\d+\.\d+\n$")
        overview = self.run_command("--help").stdout
        for name in ["run", "translate", "inspect", "devices", "cache"]:
            self.assertIn(name, overview)
            self.assertIn("Usage: ptxbridge " + name, self.run_command(name, "--help").stdout)

    def test_wrong_use(self):
        for arguments in [[], ["nonsense"], ["run"], ["run", "--nonsense"], ["run", "--repeat"], ["run", "--repeat", "0", "x"],
                          ["run", "--timeout-ms", "soon", "x"], ["run", "--mma-model", "pascal", "x"], ["run", "--npy", "noequals", "x"],
                          ["run", self.path("k.ptx")], ["run", "--grid", "4", self.case()], ["translate"], ["translate", self.path("k.ptx")],
                          ["translate", self.path("k.ptx"), "--target", "gfx1100", "--emit", "tea"], ["inspect"],
                          ["inspect", "a", "b"], ["devices", "x"], ["compare", self.case(), "--devices", "cpu,cpu", "--trace-memory", "1"],
                          ["conform", "--mutations", "--filter", "add"], ["conform", "--list", "--json", "-"], ["cache", "eat"], ["cache", "list", "x"], ["cache", "clear", "--json"]]:
            done = self.run_command(*arguments, status=2)
            self.assertEqual(done.stdout, "", arguments)
            self.assertNotEqual(done.stderr, "", arguments)

    def test_output_that_cannot_be_written(self):
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w") as full:
                self.run_command("inspect", "--json", self.path("k.ptx"), status=2, stdout=full)
                self.run_command("--help", status=2, stdout=full)

    def test_a_state_file_that_cannot_be_written(self):
        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        conform = [COMMAND, "conform", "--filter", "^add.u32$", "--random", "8"]
        if subprocess.run([COMMAND, "conform", "--help"], env=self.environment, capture_output=True).returncode:
            self.skipTest("this build has no conform")
        done = subprocess.run(conform + ["--state", self.path("state")], env=self.environment, capture_output=True, text=True, preexec_fn=no_room)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("could not be written", done.stderr)

    def test_inspect_of_offsets_at_the_end_of_the_address_space(self):
        self.write("far.ptx", KERNELS[:KERNELS.index(".visible")] + """.visible .entry far()
{
    .reg .b32 %r;
    .reg .b64 %a;
    mov.u64 %a, 0;
    ld.global.u32 %r, [%a+9223372036854775807];
    ld.global.u32 %r, [%a+-9223372036854775808];
    st.global.u32 [%a+18446744073709551612], %r;
    ret;
}
""")
        self.assertIn("far", self.run_command("inspect", self.path("far.ptx"), "--markdown", "--block", "32").stdout)

    # ------------------------------------------------------------ case files

    def test_case_passes(self):
        out = self.run_command("run", self.case()).stdout
        self.assertIn("passed", out)
        self.assertRegex(out, r"buffer y +f32\[100\] +exact +0 +0 +0 +pass")
        self.assertIn("parse", out)

    def test_case_fails(self):
        self.write("want.npy", npy([2.5 * i + (1 if i == 7 else 0) for i in range(100)], [100]))
        out = self.run_command("run", self.case(), status=1).stdout
        self.assertIn("FAILED", out)
        self.assertRegex(out, r"first at \[7\]: got 17\.5 \(0x418c0000\), expected 18\.5 \(0x41940000\)")
        report = json.loads(self.run_command("run", "--json", self.case(), status=1).stdout)
        self.assertFalse(report["passed"])
        verdict = report["cases"][0]["expectations"][0]
        self.assertEqual((verdict["differing"], verdict["first"], verdict["max_abs"]), (1, 7, 1.0))
        self.run_command("run", self.case(expect=[{"buffer": "y", "npy": "want.npy", "tolerance": {"abs": 1.0}}]))

    def test_case_errors_have_places(self):
        path = self.write("bad.json", '{\n  "ptxbridge_case": 1,\n  "ptxx": "k.ptx"\n}\n')
        done = self.run_command("run", path, status=2)
        self.assertTrue(done.stderr.startswith(path + ":3:3: error: $.ptxx: unknown key"), done.stderr)
        done = self.run_command("run", self.write("worse.json", '{\n  "a": \n'), status=2)
        self.assertRegex(done.stderr, r"worse\.json:\d+(:\d+)?: error: ")
        done = self.run_command("run", self.case(params=[{"buffer": "x"}, {"buffer": "y"}, {"u64": 100}, {"f32": 2.5}]), status=2)
        self.assertIn("parameter n: the entry declares 4 bytes", done.stderr)
        done = self.run_command("run", self.case(params=[{"buffer": "x"}]), status=2)
        self.assertIn("takes 4 parameters, 1 are given", done.stderr)
        done = self.run_command("run", self.case(ptx="none.ptx"), status=2)
        self.assertIn("none.ptx", done.stderr)

    def test_globals_and_wanted_arrays(self):
        case = self.case(globals={"total": {"values": {"dtype": "u32", "data": [5]}}},
                         expect=[{"global": "total", "values": {"dtype": "u32", "data": [105]}}])
        self.run_command("run", case, "--repeat", "3", "--npy", "y=" + self.path("y.npy"), "--npy", "total=" + self.path("t.npy"))
        self.assertEqual(read_npy(self.path("y.npy"), "f"), [2.5 * i for i in range(100)])
        self.assertEqual(read_npy(self.path("t.npy"), "B"), [105, 0, 0, 0])
        done = self.run_command("run", case, "--npy", "nothing=" + self.path("n.npy"), status=2)
        self.assertIn("nothing", done.stderr)

    def test_several_cases(self):
        good = self.case()
        bad = self.write("bad.json", "{}")
        out = self.run_command("run", good, good)
        self.assertEqual(out.stdout.count("passed"), 2)
        self.run_command("run", good, bad, status=2)
        self.assertEqual(self.run_command("run", "--quiet", good).stdout, "")

    def test_faults(self):
        case = self.case(entry="traps", params=None, expect=None, grid=[1], block=[1])
        out = self.run_command("run", case, status=1).stdout
        self.assertRegex(out, r"k\.ptx:%d:\d+: error: " % (KERNELS[:KERNELS.index("trap;")].count("\n") + 1))
        self.assertIn("thread (0,0,0)", out)
        case = self.case(entry="traps", params=None, expect=[{"fault": "trap"}], grid=[1], block=[1])
        self.run_command("run", case)
        case = self.case(entry="forever", params=None, expect=[{"fault": "timeout"}], grid=[1], block=[1])
        self.run_command("run", case, "--timeout-ms", "100")
        case = self.case(entry="traps", params=None, expect=[{"fault": "timeout"}], grid=[1], block=[1])
        report = json.loads(self.run_command("run", "--json", case, status=1).stdout)
        self.assertEqual(report["cases"][0]["fault"], "trap")

    def test_repeat_reports_times(self):
        self.assertIn("of 4 runs", self.run_command("run", "--repeat", "4", self.case()).stdout)
        report = json.loads(self.run_command("run", "--repeat", "4", "--json", self.case()).stdout)
        self.assertEqual(len(report["cases"][0]["run_ms"]["all"]), 4)

    def test_device_that_is_not_there(self):
        done = self.run_command("run", "--device", "abacus", self.case(), status=3)
        self.assertIn("known: cpu", done.stderr)

    # ------------------------------------------------------------ launches by options

    def direct(self, *more, status=0):
        return self.run_command("run", self.path("k.ptx"), "--entry", "scale", "--grid", "4", "--block", "32", *more, status=status)

    def test_direct_launch(self):
        out = self.direct("--arg", self.path("in.npy"), "--arg", "out:f32[100]", "--arg", "u32:100", "--arg", "f32:0.5",
                          "--out-dir", self.path("results")).stdout
        self.assertRegex(out, r"buffer out +f32\[100\] +yes +0 +49\.5 +0 0\.5 1 ")
        self.assertRegex(out, r"buffer in +f32\[100\] +no")
        self.assertEqual(read_npy(self.path("results/out.npy"), "f"), [0.5 * i for i in range(100)])
        self.assertFalse(os.path.exists(self.path("results/in.npy")))

    def test_cooperative_launch(self):
        self.write("g.ptx", b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry where(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    or.b32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
""")
        def run(*more, status=0):
            return self.run_command("run", self.path("g.ptx"), "--entry", "where", "--arg", "out:u32[1]", *more, status=status)
        for more, there in ((("--cooperative",), True), ((), False)):
            run("--npy", "out=" + self.path("out.npy"), *more)
            self.assertEqual(read_npy(self.path("out.npy"), "I")[0] != 0, there)
        done = run("--grid", "1000000", "--cooperative", status=2)
        self.assertRegex(done.stderr, r"error: 1000000 blocks of a cooperative launch; at most [0-9]+ can run at once")
        done = self.run_command("run", "--cooperative", self.case(), status=2)
        self.assertIn("go with --entry", done.stderr)
        case = {"ptxbridge_case": 1, "ptx": "g.ptx", "entry": "where", "grid": [2], "block": [32], "cooperative": True,
                "buffers": {"out": {"zeros": {"dtype": "u32", "shape": [1]}}}, "params": [{"buffer": "out"}],
                "expect": [{"buffer": "out", "zeros": {"dtype": "u32", "shape": [1]}}]}
        for cooperative, status in ((True, 1), (False, 0)):
            case["cooperative"] = cooperative
            self.write("g.json", json.dumps(case).encode())
            self.run_command("run", self.path("g.json"), status=status)

    def test_direct_forms_of_arguments(self):
        self.write("raw.bin", struct.pack("<100f", *range(100)))
        self.direct("--arg", "x=" + self.path("raw.bin"), "--arg", "out:u32[10,10]", "--arg", "u32:0x64", "--arg", "f32:nan")
        self.direct("--arg", "null", "--arg", "null", "--arg", "u32:0", "--arg", "f32:-1e3")
        for bad in ["u32:-1", "u32:x", "u32:4294967296", "u99:1", "out:f32[", "out:f32[1", "out:f32[]", "f32:", "thing", ":", "u8:256"]:
            done = self.direct("--arg", bad, status=2)
            self.assertIn(bad, done.stderr)
        done = self.direct("--arg", self.path("in.npy"), "--arg", self.path("in.npy"), status=2)
        self.assertIn('two buffers "in"', done.stderr)
        self.run_command("run", self.path("k.ptx"), "--entry", "scale", "--grid", "0", status=2)
        self.run_command("run", self.path("k.ptx"), "--entry", "scale", "--grid", "1,1,1,1", status=2)

    def test_picture(self):
        self.direct("--arg", self.path("in.npy"), "--arg", "out:f32[10,10]", "--arg", "u32:100", "--arg", "f32:0.01",
                    "--png", "out=" + self.path("out.png"))
        with open(self.path("out.png"), "rb") as f:
            data = f.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">IIB", data[16:25]), (10, 10, 8))
        at = data.index(b"IDAT")
        size = struct.unpack(">I", data[at - 4:at])[0]
        self.assertEqual(len(zlib.decompress(data[at + 4:at + 4 + size])), 10 * 11)
        self.direct("--arg", self.path("in.npy"), "--arg", "out:f32[100]", "--arg", "u32:1", "--arg", "f32:1", "--png",
                    "out=" + self.path("no.png"), status=2)

    # ------------------------------------------------------------ bad functions, inspect

    def test_bad_function_spoils_itself_alone(self):
        done = self.run_command("run", self.path("k.ptx"), "--entry", "unknown", "--arg", "u32:1", status=2)
        line = KERNELS[:KERNELS.index("frobnicate")].count("\n") + 1
        self.assertRegex(done.stderr, r"k\.ptx:%d:5: error: .*frobnicate" % line)
        self.assertIn("^", done.stderr)
        done = self.run_command("run", self.path("k.ptx"), "--entry", "nowhere", status=2)
        self.assertIn("nowhere", done.stderr)

    def test_inspect(self):
        out = self.run_command("inspect", self.path("k.ptx"), status=1).stdout
        for text in ["entry scale, line 6", "cannot be run", "frobnicate", "not lowered: 1", "mul.wide.u32", ".global .u32 total"]:
            self.assertIn(text, out)
        report = json.loads(self.run_command("inspect", "--json", self.path("k.ptx"), status=1).stdout)
        scale = report["functions"][0]
        self.assertEqual([p["offset"] for p in scale["params"]], [0, 8, 16, 20])
        self.assertEqual(scale["status"], "ok")
        self.assertEqual(report["functions"][1]["status"], "bad input")
        counts = {o["instruction"]: o["count"] for o in report["instructions"]}
        self.assertEqual(counts["add.s64"], 2)
        self.assertEqual(report["not_lowered"][0]["function"], "unknown")
        self.assertEqual(sum(counts.values()), sum(f["instructions"] for f in report["functions"]))
        self.assertEqual(self.run_command("inspect", self.write("x.ptx", "hello"), status=2).stdout, "")
        self.assertIn("no PTX", self.run_command("inspect", COMMAND, status=2).stderr)
        self.run_command("inspect", self.path("none.ptx"), status=2)

    def test_devices(self):
        self.assertIn("cpu:", self.run_command("devices").stdout)
        devices = json.loads(self.run_command("devices", "--json").stdout)["devices"]
        self.assertEqual(devices[0]["name"], "cpu")
        self.assertTrue(devices[0]["available"])

    def test_environment_is_checked(self):
        for name, value in [("PTXBRIDGE_CPU_THREADS", "many"), ("PTXBRIDGE_CPU_THREADS", "-1"), ("PTXBRIDGE_CPU_THREADS", "99999999999"),
                            ("PTXBRIDGE_CPU_LEVEL", "zz")]:
            self.assertIn(value, self.run_command("run", self.case(), env={name: value}, status=3).stderr)
        self.run_command("run", self.case(), env={"PTXBRIDGE_CPU_THREADS": "3"})

    def test_debug_prints_phases(self):
        done = self.run_command("run", self.case(), env={"PTXBRIDGE_DEBUG": "parse,run"})
        self.assertRegex(done.stderr, r"ptxbridge: parse .*: [0-9.]+ ms")
        self.assertRegex(done.stderr, r"ptxbridge: run scale: [0-9.]+ ms")
        self.assertNotIn("decode", done.stderr)

    # ------------------------------------------------------------ translate and cache

    def test_cache_of_nothing(self):
        self.assertEqual(self.run_command("cache", "path").stdout, self.path("cache") + "/ptxbridge\n")
        self.assertIn("0 entries", self.run_command("cache").stdout)
        self.run_command("cache", "path", status=1, env={"PTXBRIDGE_CACHE": "0"})
        self.run_command("cache", "verify")
        self.run_command("cache", "clear")

    def test_translate(self):
        targets = self.run_command("translate", "--targets").stdout.split()
        if not targets:
            done = self.run_command("translate", self.path("k.ptx"), "--target", "gfx1100", "-o", self.path("k.o"), status=2)
            self.assertIn("no translator", done.stderr)
            return
        scale = ["translate", self.path("k.ptx"), "--target", targets[0], "--entry", "scale"]
        done = self.run_command("translate", self.path("k.ptx"), "--target", targets[0], "-o", self.path("all.o"))
        self.assertIn("left out", done.stderr)
        self.run_command(*scale, "-o", self.path("k.o"))
        with open(self.path("k.o"), "rb") as f:
            first = f.read()
        self.assertEqual(first[:4], b"\x7fELF")
        done = self.run_command(*scale, "-o", self.path("k.o"), env={"PTXBRIDGE_DEBUG": "cache"})
        self.assertIn("cache hit", done.stderr)
        self.run_command(*scale, "-o", self.path("again.o"), env={"PTXBRIDGE_CACHE": "0"})
        for name in ["k.o", "again.o"]:
            with open(self.path(name), "rb") as f:
                self.assertEqual(f.read(), first)
        self.assertIn("define", self.run_command(*scale, "--emit", "llvm").stdout)
        self.assertIn("scale", self.run_command(*scale, "--emit", "asm").stdout)
        self.run_command(*scale, status=2)   # an object without -o
        done = self.run_command("translate", self.path("k.ptx"), "--target", "gfx1", "-o", self.path("x"), status=2)
        self.assertIn("known: ", done.stderr)
        self.run_command("translate", self.path("k.ptx"), "--target", targets[0], "--entry", "unknown", "-o", self.path("x"), status=2)
        entries = json.loads(self.run_command("cache", "list", "--json").stdout)["entries"]
        self.assertEqual(len(entries), 4)
        damaged = os.path.join(self.path("cache"), "ptxbridge", entries[0]["key"])
        with open(damaged, "r+b") as f:
            f.seek(100)
            f.write(b"damage")
        self.assertIn("1 damaged", self.run_command("cache", "verify", status=1).stdout)
        self.run_command("cache", "verify")
        self.assertIn("3 entries removed", self.run_command("cache", "clear").stdout)

    def test_translate_leaves_out_what_does_not_fit(self):
        if not self.run_command("translate", "--targets").stdout.split():
            self.skipTest("this build has no translator")
        with open(self.path("lds.ptx"), "w") as f:
            f.write(""".version 8.0
.target sm_80
.address_size 64
.visible .entry fits() { ret; }
.visible .entry big(.param .u64 out)
{
    .reg .b32 %r, %s;
    .reg .b64 %a;
    .shared .align 4 .b8 s[200000];
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [%a];
    mov.u32 %s, s;
    add.u32 %s, %s, %r;
    st.shared.u32 [%s], %r;
    ret;
}
""")
        translate = ["translate", self.path("lds.ptx"), "--target", "gfx1100", "--emit", "asm"]
        done = self.run_command(*translate)
        self.assertIn('lds.ptx:5: warning: entry "big" is left out', done.stderr)
        self.assertIn("local memory (200000) exceeds limit", done.stderr)
        self.assertIn("fits:", done.stdout)
        self.assertNotIn("big:", done.stdout)
        self.assertIn("lds.ptx:5:", self.run_command(*translate, "--entry", "big", status=2).stderr)

    def test_translate_of_nothing_that_runs(self):
        if not self.run_command("translate", "--targets").stdout.split():
            self.skipTest("this build has no translator")
        self.write("bad.ptx", KERNELS[:KERNELS.index(".visible")] + ".visible .entry only() { frobnicate; }\n")
        done = self.run_command("translate", self.path("bad.ptx"), "--target", "gfx1100", "-o", self.path("bad.o"), status=2)
        self.assertIn("'frobnicate' is not an instruction", done.stderr)
        self.assertFalse(os.path.exists(self.path("bad.o")))

    def test_errors_outside_of_functions_are_told(self):
        self.write("odd.ptx", KERNELS + ".global .u64 pointer = nowhere;\n.visible .entry traps() { ret; }\n")
        done = self.run_command("run", self.path("odd.ptx"), "--entry", "traps", status=1)
        self.assertIn("warning: 'nowhere' is not a variable", done.stderr)
        self.assertIn("warning: function 'traps' is already defined", done.stderr)
        self.assertNotIn("frobnicate", done.stderr)   # spoils a function, which would say so
        done = self.run_command("compare", self.case(ptx="odd.ptx"), "--devices", "cpu,cpu")
        self.assertEqual(done.stderr.count("'nowhere' is not a variable"), 1)

    def test_a_case_that_cannot_be_run_stands_in_the_json(self):
        bad = self.write("bad.json", "{")
        done = self.run_command("run", self.case(), bad, "--json", status=2)
        cases = json.loads(done.stdout)["cases"]
        self.assertEqual([c["passed"] for c in cases], [True, False])
        self.assertIn("bad.json:1", cases[1]["error"])
        done = self.run_command("run", self.case(block=[2048]), "--json", status=2)
        self.assertRegex(json.loads(done.stdout)["cases"][0]["error"], r"case\.json:1:\d+: error: block size 2048")

    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.path("pipe.ptx"))
        self.assertIn("is not a regular file", self.run_command("inspect", self.path("pipe.ptx"), status=2).stderr)
        self.run_command("run", self.case(buffers={"x": {"npy": "pipe.ptx"}, "y": {"raw": "pipe.ptx"}}), status=2)

    def test_environment_that_means_nothing(self):
        for name, value, said in [("PTXBRIDGE_DEBUG", "parse,pars", 'there is no part "pars"'), ("PTXBRIDGE_CACHE", "off", "PTXBRIDGE_CACHE is 0 or 1"),
                                  ("PTXBRIDGE_CACHE_MB", "-1", "PTXBRIDGE_CACHE_MB is a number")]:
            self.assertIn(said, self.run_command("cache", "path", env={name: value}).stderr)
        self.assertEqual(self.run_command("cache", "path", env={"PTXBRIDGE_CACHE": "1", "PTXBRIDGE_CACHE_MB": "7"}).stderr, "")
        devices = json.loads(self.run_command("devices", "--json", env={"PTXBRIDGE_CPU_THREADS": "many"}).stdout)["devices"]
        cpu = [d for d in devices if d["name"] == "cpu"][0]
        self.assertFalse(cpu["available"])
        self.assertIn("PTXBRIDGE_CPU_THREADS", cpu["reason"])
        if any(d["name"] == "sim" for d in devices):
            done = self.run_command("run", self.case(), "--device", "sim:gfx1100", status=3, env={"PTXBRIDGE_SIM_THREADS": "many"})
            self.assertIn("PTXBRIDGE_SIM_THREADS is a number", done.stderr)

    def test_a_wrong_value_names_its_option(self):
        for command in (["run", self.path("k.json")], ["record", self.path("k.json"), "-o", self.path("r.npz")],
                        ["compare", self.path("k.json"), "--devices", "cpu,cpu"]):
            self.assertIn('--timeout-ms cannot be "soon"', self.run_command(*command, "--timeout-ms", "soon", status=2).stderr)

    # ------------------------------------------------------------ conform, record

    def test_conform_state_is_of_one_run(self):
        state, some = self.path("state"), ["conform", "--filter", "^add.f32|^add.sat", "--random", "64"]
        first = self.run_command(*some, "--state", state).stdout
        self.assertIn("0 failed", first)
        self.assertIn("0 failed", self.run_command(*some, "--state", state).stdout)
        for other in [["--seed", "5"], ["--random", "65"], ["--exhaustive"], ["--mma-model", "ieee"]]:
            done = self.run_command(*some, *other, "--state", state, status=2)
            self.assertIn("another device, version or options", done.stderr)
        with open(state, "wb") as f:
            f.write(bytes(range(256)) * 8)
        self.run_command(*some, "--state", state, status=2)

    def test_conform_counts_units_of_f64(self):
        """Codes of f64 are longer than a double is exact: their distance is that of integers."""
        report = self.path("f64.json")
        self.run_command("conform", "--exhaustive", "--filter", "rsqrt.approx.f64", "--json", report)
        self.assertEqual([c["largest_ulp"] for c in json.load(open(report))["cases"]], [1])

    def test_conform_filter(self):
        listed = lambda which: self.run_command("conform", "--list", "--filter", which).stdout.splitlines()
        names = listed("cvt.*e4m3*|ex2*|rcp*|rsqrt*|add.f16|mul.f16|fma.rn.f16x2")
        self.assertTrue(all(re.match(r"cvt\..*e4m3|ex2|rcp|rsqrt|(add|mul)\.f16|fma\.rn\.f16x2", name) for name in names), names)
        for name in ("cvt.rn.f16x2.e4m3x2", "ex2.approx.f32", "rcp.rn.f32", "rsqrt.approx.f32", "add.f16", "mul.f16", "fma.rn.f16x2"):
            self.assertIn(name, names)
        self.assertEqual(listed("^add.f16$"), ["add.f16"])
        self.assertIn("no case has a name", self.run_command("conform", "--list", "--filter", "f16", status=2).stderr)

    def test_a_good_record_stays(self):
        case, record = os.path.join(SOURCE, "ptx_corpus", "kernels", "saxpy.json"), self.path("r.npz")
        self.run_command("record", case, "-o", record)
        # The case fails now, for the device cannot be opened, and so does another, which goes into the file.
        done = self.run_command("record", case, self.path("missing.json"), "-o", record, "--append", status=2,
                                env={"PTXBRIDGE_CPU_LEVEL": "none"})
        self.assertIn("cannot be opened", done.stderr)
        self.run_command("compare", case, "--against", record)

    def test_fast_mma_needs_matrix_cores(self):
        case = os.path.join(SOURCE, "ptx_corpus", "kernels", "saxpy.json")
        for words in [["run", case], ["record", case, "-o", self.path("f.npz")], ["compare", case, "--devices", "cpu,cpu"]]:
            self.assertIn("matrix cores", self.run_command(*words, "--mma", "fast", status=2).stderr)

    # ------------------------------------------------------------ the corpus, as far as it is small

    def test_corpus_saxpy(self):
        case = os.path.join(SOURCE, "ptx_corpus", "kernels", "saxpy.json")
        self.run_command("run", case)


if __name__ == "__main__":
    unittest.main()
