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
        self.assertIn("25 statements", run(DEC2, "--slice", "%r2017@1689").stdout)
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
