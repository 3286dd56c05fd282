#!/usr/bin/env python3
"""Holds what `ptxbridge inspect` finds of dec2's memory, parameters, constants and registers against the figures of tests/data/dec2_memory.json.

Usage: inspect_memory_cli_test.py PTXBRIDGE SOURCE_DIR
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))
CORPUS = os.path.join(SOURCE, "ptx_corpus")
DEC2 = os.path.join(CORPUS, "dec2", "dec2.ptx")
KERNEL = "cuda_dldn_engine_swin_dec2_kernel"


def run(*args, status=0):
    p = subprocess.run([COMMAND, "inspect", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, encoding="utf-8")
    assert p.returncode == status, "%s: %d\n%s%s" % (" ".join(args), p.returncode, p.stdout[-2000:], p.stderr)
    return p


def function(path, *args):
    return json.loads(run(path, "--json", *args).stdout)["functions"][0]


def kernel(name, block):
    return function(os.path.join(CORPUS, "kernels", name + ".ptx"), "--entry", name, "--block", block)


def base(f, name):
    return next(b for b in f["memory"] if b["base"] == name)


def value(formula, lane, z):
    """Formulas over lane and warp alone, as numbers; all of them are sums of products."""
    return eval(re.sub(r"tid\.x|laneid", str(lane), formula.replace("tid.z", str(z)).replace("/", "//")), {})


class MemoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(SOURCE, "tests", "data", "dec2_memory.json"), encoding="utf-8") as f:
            cls.figures = json.load(f)
        cls.dec2 = function(DEC2, "--entry", KERNEL, "--block", ",".join(map(str, cls.figures["block"])))

    # ------------------------------------------------------------ parameters and textures

    def test_parameters_of_dec2(self):
        self.assertEqual(self.dec2["param_bytes"], self.figures["param_bytes"])
        self.assertEqual([(p["offset"], p["type"]) for p in self.dec2["params"]], [(o, t) for o, t, _ in self.figures["params"]])
        for got, (offset, _, becomes) in zip(self.dec2["params"], self.figures["params"]):
            self.assertIn(becomes, got["becomes"], offset)

    def test_textures_of_dec2(self):
        handles = [t["handle"] for t in self.dec2["textures"]]
        self.assertEqual({h: handles.count(h) for h in handles}, self.figures["textures"])
        by_handle = {t["handle"]: t for t in self.dec2["textures"]}
        for handle in ("param_0+96", "param_0+104"):
            self.assertEqual(by_handle[handle]["coordinates"], self.figures["pixel"])
        self.assertEqual(by_handle["param_0+112"]["coordinates"], self.figures["surface_pixel"])
        self.assertTrue(by_handle["param_0+112"]["writes"])
        # The nine taps: columns and rows one before, at, and one behind the pixel, clamped, scaled by param_0+136 and +140.
        taps = {tuple(t["coordinates"]) for t in self.dec2["textures"] if t["handle"] == "param_0+88"}
        self.assertEqual(len(taps), 9)
        self.assertEqual(len({x for x, _ in taps}), 3)
        self.assertEqual(len({y for _, y in taps}), 3)
        for x, y in taps:
            self.assertIn("[param_0+136]", x)
            self.assertIn("[param_0+0] - 1", x)
            self.assertIn("[param_0+140]", y)
            self.assertIn("[param_0+4] - 1", y)

    # ------------------------------------------------------------ the weight image

    def test_weights_of_dec2(self):
        want, got = self.figures["weights"], base(self.dec2, self.figures["weights"]["base"])
        self.assertEqual(got["extent"], [0, want["bytes"]])
        self.assertEqual((got["touched"], got["gap_bytes"], got["by_several"], got["open"]), (want["bytes"], 0, 0, 0))
        self.assertEqual(got["slots"], want["slots"])
        self.assertEqual(got["writes"], 0)
        self.assertEqual(sum(len(p["accesses"]) for p in got["patterns"] if p["bytes"] == 16), want["loads_of_16_bytes"])
        strides = {t["stride"] for p in got["patterns"] for t in p["terms"] if t["of"] == ["tid.z"]}
        self.assertEqual(strides, set(want["warp_strides"]))

    def test_each_region_of_the_weights_is_read_once(self):
        loads = [(p["formula"], p["bytes"], a["offset"]) for p in base(self.dec2, "param_0+40")["patterns"] for a in p["accesses"]]
        left, end = set(loads), 0
        for r in self.figures["weights"]["regions"]:
            regions = [(r["first"] + r.get("repeat", 0) * i, r["first"] + r.get("repeat", 0) * i + r["bytes"]) for i in range(r.get("times", 1))]
            mine = [l for l in left if l[:2] == (r["index"], r["load"]) and
                    any(a <= l[2] + value(l[0], 0, 0) < b for a, b in regions)]
            touched = set()
            for formula, size, offset in mine:
                for z in range(4):
                    for lane in range(32):
                        at = offset + value(formula, lane, z)
                        touched.update(range(at, at + size))
            with self.subTest(region=r["content"]):
                self.assertEqual(touched, {b for a, e in regions for b in range(a, e)})
            left -= set(mine)
            end = max(end, max(e for _, e in regions))
        self.assertEqual(left, set())
        self.assertEqual(end, self.figures["weights"]["bytes"])

    def test_planes_of_dec2(self):
        for name, want in self.figures["planes"].items():
            got = base(self.dec2, name)
            with self.subTest(base=name):
                self.assertEqual(got[want["way"]], want["accesses"])
                self.assertEqual(got["reads"] + got["writes"], want["accesses"])
                # A plane is 8 words a pixel times the extent: its multiples tell the planes apart.
                planes = set()
                for p in got["patterns"]:
                    of = [(t["stride"], "*".join(t["of"])) for t in p["terms"]]
                    stride, plane = want["plane"].split("*", 1)
                    planes.add(next((s // int(stride) for s, o in of if o == plane), 0))
                self.assertEqual(planes, set(range(want["groups_of_planes"])))

    # ------------------------------------------------------------ shared memory

    def test_shared_memory_of_dec2(self):
        want, got = self.figures["shared"], self.dec2["shared"]
        self.assertEqual(got["bytes"], want["bytes"])
        self.assertEqual((got["open"], got["overruns"], got["decided"]), (0, [], True))
        smem = next(b for b in self.dec2["memory"] if b["space"] == "shared")
        self.assertEqual((smem["writes"], smem["reads"], smem["extent"], smem["touched"]),
                         (want["writes"], want["reads"], [0, want["bytes"]], want["bytes"]))
        for formula in want["formulas"]:
            self.assertIn(formula, [p["formula"] for p in smem["patterns"]])
        i = got["intervals"]
        self.assertEqual([x["writes"] for x in i], [want["patch_stores"], 0, 6, 0, 4, 0, 4, 0])
        self.assertEqual([x["reads"] for x in i], [0, 24, 0, 18, 0, 4, 0, 5])
        written = [x["written"]["bytes"] for x in i if x["writes"]]
        self.assertEqual(written, [want["bytes"], want["normed_bytes"], want["heads_bytes"], want["logit_bytes"]])
        self.assertEqual(i[3]["read"]["bytes"], want["normed_bytes"])
        # Tiles 4 and 5 are stored by two warps each (ptx_corpus/dec2/README.md).
        self.assertEqual([(c["both_write"], sorted(c["warps"]), c["byte"]) for c in got["conflicts"]],
                         [(True, [0, 2], 6144), (True, [0, 2], 6656), (True, [0, 2], 7168)])
        self.assertEqual([b["verdict"] for b in got["barriers"]], ["needed"] * 5 + ["redundant", "needed"])

    # ------------------------------------------------------------ constants and registers

    def test_constants_of_dec2(self):
        got = {(c["bits"], c["type"]): c for c in self.dec2["constants"]}
        for bits, kind, half, number in self.figures["constants"]:
            c = got[bits, kind]
            self.assertIn({"type": "f16", "bits": half, "value": number}, c["converted"])
            self.assertEqual(c["definitions"], 1)
        epilogues = {e["number"]: (e["first"], e["last"]) for e in self.dec2["epilogues"]}
        activation = got["0x3ED306EB", "f32"]
        self.assertLessEqual(epilogues[14][0], activation["definition"])
        self.assertLessEqual(activation["last_use"], epilogues[36][1])

    def test_carried_registers_of_dec2(self):
        carried = [r for r in self.dec2["registers"]["carried"] if not r["constant"] and not r["at_entry"]]
        indices = self.indices()
        for name in ("residual", "shared_operand"):
            want = self.figures[name]
            lives = [r for r in carried if (r["from"], r["to"]) == (want["from"], want["to"])]
            packed = [r for r in lives if r["register"] not in indices]
            self.assertEqual(len(packed), want["values"], name)

    @staticmethod
    def indices():
        """Registers of addresses and parts of them: those that integer instructions outside of { } blocks write."""
        with open(DEC2, encoding="utf-8") as f:
            return set(re.findall(r"^\s*(?:add|shl|shr|mul|mad|and|or|cvt)\.(?!\w*f16)[\w.]+\s+(%rd?\d+),", f.read(), re.M))

    # ------------------------------------------------------------ other kernels

    def test_strides_of_other_kernels(self):
        f = kernel("attention", "8,1,1")
        self.assertEqual([p["formula"] for p in base(f, "param_0")["patterns"]], ["512*ctaid.x + 64*param_4*ctaid.y + 64*tid.x"])
        self.assertEqual([(p["least"], p["most"], p["step"]) for p in base(f, "param_3")["patterns"]], [(0, 60, 4)])
        self.assertRegex(base(f, "param_1")["patterns"][0]["formula"], r"^512\*turn\(s\d+\) \+ 64\*param_4\*ctaid\.y \+ 32\*turn\(s\d+\) \+ 4\*tid\.x$")
        f = kernel("fp8_gemm_f16", "32,1,1")
        terms = [{(t["stride"], "*".join(sorted(t["of"]))) for t in p["terms"]} for p in base(f, "param_0")["patterns"]]
        self.assertTrue(any((64, "(param_5 >> 2)*ctaid.y") in t and (4, "(param_5 >> 2)*(tid.x >> 2)") in t and (4, "(tid.x & 3)") in t for t in terms))
        f = kernel("hgemm_mma", "64,1,1")
        tiles = [p for b in f["memory"] for p in b["patterns"] if p["bytes"] == 16]
        self.assertEqual([p["formula"] for p in tiles], ["768*(tid.x >> 5) + 48*(tid.x & 15) + 16*((tid.x & 31) >> 4)", "48*(tid.x & 15) + 16*((tid.x & 31) >> 4)"])
        stores = base(f, "param_2")["patterns"]
        self.assertEqual(sorted(a["offset"] for a in stores[0]["accesses"]), [0, 4, 32, 36])

    def test_attention(self):
        """Figures from flash_attention.cu: rows of 64 + 8 halves are 144 bytes, a tile of 32 of them 4608, tq, tk[2] and tv[2] five tiles."""
        f = kernel("flash_attention", "64,1,1")
        shared = f["shared"]
        self.assertEqual((shared["bytes"], shared["open"], shared["overruns"], shared["decided"], shared["conflicts"]), (5 * 4608, 0, [], True, []))
        self.assertEqual([b["verdict"] for b in shared["barriers"]], ["needed", "needed"])
        tiles = {b["base"][-2:]: b for b in f["memory"] if b["space"] == "shared"}
        for name, n, reads in (("tq", 1, 4), ("tk", 2, 8), ("tv", 2, 8)):
            b = tiles[name]
            self.assertEqual((b["touched"], b["extent"], b["open"], b["reads"]), (n * 32 * 128, [0, n * 4608 - 16], 0, reads), name)
        reads = {b: [p["formula"] for p in tiles[b]["patterns"] if p["writes"] == 0] for b in tiles}
        self.assertEqual(len(reads["tk"]), 1)             # rows of keys, the buffer of the turn
        self.assertRegex(reads["tk"][0], r"^4608\*\(turn\(s\d+\) & 1\) \+ 1152\*\(\(tid.x & 31\) >> 4\) \+ 144\*\(tid.x & 7\) \+ 16\*\(\(tid.x >> 3\) & 1\)$")
        self.assertEqual(len([i for i in shared["intervals"] if i["writes"]]), 3)
        out = base(f, "param_3")                          # 16 rows of 128 bytes a warp, eight words of four threads in each, rows 8 apart
        self.assertEqual([p["formula"] for p in out["patterns"]],
                         ["4096*ctaid.x + 2048*(tid.x >> 5) + 128*param_4*ctaid.y + 128*((tid.x & 31) >> 2) + 4*(tid.x & 3)"])
        self.assertEqual(sorted(a["offset"] for a in out["patterns"][0]["accesses"]), sorted(1024 * h + 16 * n for h in range(2) for n in range(8)))
        loop = next(l for l in f["loops"] if l["depth"] == 1 and "ctaid.x" in l["turns"])
        self.assertEqual((loop["turns"], loop["single_exit"]), ("ctaid.x + 1", True))
        # Without the barrier at the end of a turn the next tile is written while this one is read; and the first one is there for the copies.
        with open(os.path.join(CORPUS, "kernels", "flash_attention.ptx"), encoding="utf-8") as g:
            lines = g.read().split("\n")
        for n, line in enumerate(lines):
            if "bar.sync" in line:
                with tempfile.TemporaryDirectory(prefix="ptxbridge_inspect_") as folder:
                    path = os.path.join(folder, "k.ptx")
                    with open(path, "w", encoding="utf-8") as g:
                        g.write("\n".join(lines[:n] + [""] + lines[n + 1:]))
                    self.assertGreater(len(function(path, "--block", "64")["shared"]["conflicts"]), 20)
        # One warp for each head, rows of 36 bytes, 32 of them used.
        f = kernel("window_attention", "32,2,1")
        self.assertEqual((f["shared"]["bytes"], f["shared"]["conflicts"], f["shared"]["open"]), (2 * 32 * 36, [], 0))
        vt = next(b for b in f["memory"] if b["space"] == "shared")
        self.assertEqual((vt["touched"], vt["extent"], vt["writes"], vt["reads"]), (2048, [0, 2300], 32, 8))
        bias = base(f, "param_1")                         # two heads of 7 x 15 floats, all of them
        self.assertEqual((bias["extent"], bias["touched"], bias["gap_bytes"]), ([0, 840], 840, 0))
        strides = {(t["stride"], "*".join(t["of"])) for p in base(f, "param_0")["patterns"] for t in p["terms"]}
        self.assertLessEqual({(1536, "ctaid.x"), (32, "tid.y"), (576, "param_3")}, strides)

    def test_loops(self):
        def loops(name, block):
            return [(l["depth"], l["turns"], l["single_exit"]) for l in kernel(name, block)["loops"]]
        self.assertEqual(loops("hgemm_mma", "64,1,1")[:2], [(1, "⌈param_5 / 16⌉", True), (2, "2", True)])
        self.assertEqual(loops("matmul_tiled", "16,16,1"), [(1, "⌈param_5 / 16⌉", True)])
        self.assertEqual(loops("attention", "8,1,1"), [(1, "⌈param_4 / 8⌉", True), (2, "16", True), (2, "at most 8", False)])
        self.assertEqual(loops("scan_block", "160,1,1"), [(1, "8", True)])
        self.assertEqual(loops("conv1d_const", "64,1,1")[-1], (1, "9", True))
        self.assertEqual(loops("softmax", "64,1,1"), [(1, "⌈(param_2 - tid.x) / 64⌉", True)] * 3)
        # A guard on a parameter keeps threads from the end of the counters, so that the overrun is a possible one.
        self.assertEqual([(o["high"], o["size"], o["uncertain"]) for o in kernel("kmeans_step", "64,1,1")["shared"]["overruns"]], [(256, 32, True)])
        # 32 words and 64 threads that each store one, with no branch before it.
        self.assertEqual([(o["high"], o["size"], o["uncertain"]) for o in kernel("fault_shared_oob", "64,1,1")["shared"]["overruns"]], [(256, 128, False)])

    def test_markdown_has_every_section(self):
        text = run(DEC2, "--markdown", "--block", "32,1,4").stdout
        for heading in ("Parameters", "Memory", "Textures and surfaces", "Shared memory between barriers", "Constants", "Registers"):
            self.assertIn("\n### " + heading + "\n", text)
        self.assertIn("| param_0+40 | global | 341 | 0 | 1082 | 0…212768 | 212768 bytes, no gaps |  |", text)
        self.assertNotIn("\n### Textures", run(os.path.join(CORPUS, "kernels", "saxpy.ptx"), "--markdown").stdout)

    def test_a_block_alone_asks_for_the_analysis(self):
        text = run(os.path.join(CORPUS, "kernels", "attention.ptx"), "--block", "8").stdout
        self.assertIn("a block of 8 x 1 x 1 threads", text)

    # ------------------------------------------------------------ --param and --slice

    def test_one_parameter(self):
        text = run(DEC2, "--entry", KERNEL, "--block", "32,1,4", "--param", "param_0+48").stdout
        self.assertEqual(text.count("st.global.u32, 4 bytes at"), 12)
        self.assertEqual(run(DEC2, "--param", KERNEL + "_param_0+48").stdout.count("st.global.u32, 4 bytes at"), 12)
        self.assertIn("loads nothing", run(DEC2, "--param", "param_0+64").stdout)
        j = json.loads(run(DEC2, "--param", "param_0+2", "--json").stdout)["functions"][0]["param"]
        self.assertEqual([p["offset"] for p in j], [0])
        for bad in ("param_0+144", "param_1", "param_0+x", "param_0+", "+3", ""):
            run(DEC2, "--param", bad, status=2)

    def test_slices(self):
        j = json.loads(run(DEC2, "--slice", "%r2017@1689", "--json").stdout)["functions"][0]["slice"]
        lines = [s["line"] for s in j]
        self.assertEqual(lines, sorted(lines))
        self.assertIn("mov.u32 %r5, %tid.z;", [s["text"] for s in j])
        self.assertNotIn(1689, lines)                     # the store is no part of what its address is made of
        plain = json.loads(run(DEC2, "--slice", "%r2017@1689", "--no-branches", "--json").stdout)["functions"][0]["slice"]
        self.assertEqual((len(plain), len(j)), (25, 29))
        more = [s["text"] for s in j if s not in plain]   # the pixel's bounds, which the branch to the store is taken on
        self.assertTrue(any("bra" in t for t in more) and any(t.startswith("setp") for t in more), more)
        self.assertIn("25 statements", run(DEC2, "--slice", "%r2017@1689", "--no-branches").stdout)
        self.assertIn("29 statements", run(DEC2, "--slice", "%r2017@1689").stdout)
        run(DEC2, "--no-branches", status=2)
        for bad in ("%r2017", "%r2017@", "%r2017@x", "%r1@1689", "%r2017@1", "%r2017@99999999", "@1689", ""):
            run(DEC2, "--slice", bad, status=2)

    def test_functions_in_error_and_without_body(self):
        with tempfile.TemporaryDirectory(prefix="ptxbridge_inspect_") as folder:
            path = os.path.join(folder, "bad.ptx")
            with open(path, "w", encoding="utf-8") as f:
                f.write(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry e(.param .u64 p) {\n.reg .b64 %d<4>;\n.reg .b32 %r<4>;\n"
                        "ld.param.u64 %d1, [p];\nfrobnicate %r1;\nst.global.u32 [%d1+8], %r1;\n}\n.visible .entry z() {\n}\n.func (.reg .b32 %o) g(.reg .b32 %a) {\n"
                        "add.s32 %o, %a, 1;\nret;\n}\n")
            for output in ("--json", "--markdown", "--html"):
                p = subprocess.run([COMMAND, "inspect", path, output, "--entry", "e"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
                self.assertIn(p.returncode, (0, 1), p.stderr)
            text = subprocess.run([COMMAND, "inspect", path, "--markdown"], stdout=subprocess.PIPE, timeout=60, encoding="utf-8").stdout
            self.assertIn("| p | 0 | u64 | 1 | s1 | global pointer, 1 write |", text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
