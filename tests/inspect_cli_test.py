#!/usr/bin/env python3
"""Runs `ptxbridge inspect` as its users do: the figures of dec2, other kernels, its forms of output, and the page in a headless browser.

Usage: inspect_cli_test.py PTXBRIDGE SOURCE_DIR
The standard library is enough. The browser's part is skipped, with a message, where no Chromium is installed.
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))
CORPUS = os.path.join(SOURCE, "ptx_corpus")
DEC2 = os.path.join(CORPUS, "dec2", "dec2.ptx")

# Clicks a phase and an epilogue in the page and writes what it saw into the title.
PROBE = """<script>addEventListener('load', () => {
  const seen = () => [...document.querySelectorAll('.segment')].filter(s => s.getBoundingClientRect().height > 0).map(s => s.id);
  const box = e => e.getBoundingClientRect(), strip = [...document.querySelectorAll('.strip button')];
  const before = seen();
  document.querySelector('.strip [data-show=f0-P9]').click();
  const phase = seen(), lines = document.querySelector('#f0-P9 pre').textContent.trim().split('\\n').length;
  document.querySelector('.blocks [data-show=f0-E16]').click();
  document.title = JSON.stringify({before, phase, lines, epilogue: seen(), parts: strip.length, blocks: document.querySelectorAll('.blocks button').length,
    on: document.querySelectorAll('button.on').length, grid: document.querySelectorAll('#f0-P1 .grid td').length,
    inOrder: strip.every((b, i) => i == 0 || box(b).left >= box(strip[i - 1]).right - 1), visible: strip.every(b => box(b).width >= 10 && box(b).height >= 20),
    external: performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length});
});</script>"""


class Outline(html.parser.HTMLParser):
    """Tags that were opened and not closed, ids, what buttons show, and the text of each segment's statements."""
    VOID = {"meta", "br", "link", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.ids, self.shown, self.links, self.segment, self.statements = [], [], [], [], [], None, {}

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [v for k, v in attrs.items() if k in ("src", "href", "data", "srcset")]
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if "data-show" in attrs:
            self.shown.append(attrs["data-show"])
        if tag == "section":
            self.segment = attrs["id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "pre":
            self.statements[self.segment] = self.statements.get(self.segment, "") + data

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)


class InspectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(SOURCE, "tests", "data", "dec2_phases.json"), encoding="utf-8") as f:
            cls.figures = json.load(f)
        cls.dec2 = json.loads(cls.run_command(DEC2, "--json", "--phases").stdout)["functions"][0]

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ptxbridge_inspect_")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    @staticmethod
    def run_command(*args, status=0):
        p = subprocess.run([COMMAND, "inspect", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, encoding="utf-8")
        assert p.returncode == status, "%s: %d\n%s%s" % (" ".join(args), p.returncode, p.stdout[-2000:], p.stderr)
        return p

    def kernel(self, name, *args, status=0):
        return json.loads(self.run_command(os.path.join(CORPUS, "kernels", name + ".ptx"), "--json", "--phases", *args, status=status).stdout)["functions"][0]

    # ------------------------------------------------------------ dec2

    def test_statements_and_lines_of_dec2(self):
        with open(DEC2, encoding="utf-8") as f:
            lines = f.read().split("\n")
        parts = sorted(self.dec2["phases"] + self.dec2["epilogues"], key=lambda p: p["first"])
        self.assertEqual(parts[0]["first"], 1)
        self.assertEqual(parts[-1]["last"], self.dec2["statements"])
        for a, b in zip(parts, parts[1:]):
            self.assertEqual(a["last"] + 1, b["first"])
            self.assertLess(a["last_line"], b["first_line"])
        for p in self.dec2["phases"]:
            self.assertIn("mma.sync", lines[p["first_line"] - 1])
            self.assertEqual(sum("mma.sync" in line for line in lines[p["first_line"] - 1:p["last_line"]]), p["mma"])
            self.assertTrue(lines[p["last_line"] - 1].rstrip().endswith(";"))
            self.assertEqual([m["statement"] for m in p["instructions"]], list(range(p["first"], p["last"] + 1)))

    def test_phases_of_dec2(self):
        phases = self.dec2["phases"]
        self.assertEqual(len(phases), len(self.figures["phases"]))
        self.assertEqual(sum(p["mma"] for p in phases), self.figures["mma"])
        for i, (got, want) in enumerate(zip(phases, self.figures["phases"])):
            with self.subTest(phase=i + 1):
                self.assertEqual([got[k] for k in ("M", "N", "K", "mma")], [want[k] for k in ("M", "N", "K", "mma")])
                self.assertTrue(got["full"])
                self.assertEqual(got["M"] // 16 * (got["N"] // 8) * (got["K"] // 32), got["mma"])
                self.assertEqual(len({(m["row"], m["column"], m["slice"]) for m in got["instructions"]}), got["mma"])
                for role in "BC":
                    loads = [g for g in got["sources"][role]["loads"] if not got["sources"][role]["through"]]
                    if want[role] is None:
                        self.assertEqual(loads, [])
                        continue
                    self.assertEqual(len(loads), 1)
                    g, w = loads[0], want[role]
                    self.assertEqual((g["base"], g["index"]), (self.figures["base"], w["index"]))
                    self.assertEqual((g["least"], g["most"] + g["bytes"] - 4), (w["first"], w["last_word"]))

    def test_products_over_phases_of_dec2(self):
        got = [[["P%d" % p for p in g["phases"]], g["M"], g["N"], g["K"]] for g in self.dec2["groups"] if len(g["phases"]) > 1]
        self.assertEqual(got, self.figures["products"])
        self.assertFalse(any(g["loops"] for g in self.dec2["groups"]))
        got = [[["P%d" % p for p in g["phases"]], g["M"], g["N"], g["K"], g["full"]] for g in self.dec2["joins"]]
        self.assertEqual(got, self.figures["joins"])

    def test_sources_of_dec2(self):
        for phase, roles in self.figures["sources"].items():
            for role, want in roles.items():
                got = self.dec2["phases"][int(phase) - 1]["sources"][role]
                with self.subTest(phase=phase, role=role):
                    self.assertEqual(got["phases"], want["phases"])
                    self.assertTrue(got["complete"])
                    self.assertEqual((got["special_registers"], got["unwritten"]), (0, 0))
                    if "through" in want:
                        self.assertIn(want["through"], got["through"])
        for phase, roles in self.figures["stored"].items():                # behind shared memory
            for role, phases in roles.items():
                got = self.dec2["phases"][int(phase) - 1]["sources"][role]["stored"]
                self.assertEqual(got["phases"], phases)
                self.assertIn("cvt.rn.satfinite.e4m3x2.f16x2", got["through"])
        self.assertIn("rsqrt.approx.ftz.f32", self.dec2["phases"][1]["sources"]["A"]["stored"]["through"])
        shared = self.figures["shared_a"]      # one normed tile is the A operand of every even phase of the MLP
        operands = [self.dec2["phases"][p - 1]["sources"]["A"] for p in shared["phases"]]
        for a in operands:
            self.assertEqual(a["phases"], [shared["of"]])
            self.assertEqual(a["loads"], operands[0]["loads"])
            self.assertEqual(a["through"], operands[0]["through"])

    def test_epilogues_of_dec2(self):
        epilogues = self.dec2["epilogues"]
        self.assertEqual(len(epilogues), 39)
        total = {}
        for e in epilogues:
            for op, n in e["operations"].items():
                total[op] = total.get(op, 0) + n
            self.assertEqual(sum(e["operations"].values()), e["instruction_count"])
            self.assertEqual(sum(e["work"].values()), e["instruction_count"])
        for op, n in self.figures["operations"].items():
            self.assertEqual(total.get(op), n, op)
        for number, want in self.figures["epilogues"].items():
            e = epilogues[int(number)]
            with self.subTest(epilogue=number):
                for op, n in want["operations"].items():
                    self.assertEqual(e["operations"].get(op), n, op)
                names = [g["name"] for g in e["guesses"]]
                for name in want.get("names", []):
                    self.assertIn(name, names)
                for work, n in want.get("work", {}).items():
                    self.assertEqual(e["work"].get(work, 0), n)
                for text in want.get("evidence", []):
                    self.assertIn(text, " ".join(g["evidence"] for g in e["guesses"]))
        memory = {(m["work"], m["space"], m["bytes"]): m["count"] for m in epilogues[1]["memory"] if m["space"] != "param"}
        self.assertEqual(memory, {("load", "global", 4): 36, ("load", "global", 16): 2, ("load", "shared", 4): 24, ("load", "shared", 16): 18,
                                  ("store", "shared", 4): 36, ("store", "shared", 16): 6})
        for group in self.figures["shapes"]:
            like = {n for n, e in enumerate(epilogues) if e["shape"] == epilogues[group["epilogues"][0]]["shape"]}
            self.assertEqual(like, set(group["epilogues"]))

    def test_markdown_of_dec2(self):
        text = self.run_command(DEC2, "--markdown").stdout
        whole, text = text, text[:text.index("### Products over several phases")]
        rows = [line for line in text.split("\n") if re.match(r"\| P\d+ \|", line)]
        self.assertEqual(len(rows), 38)
        for row, want in zip(rows, self.figures["phases"]):
            cells = [c.strip() for c in row.strip("|").split(" | ")]
            self.assertEqual(cells[2:6], [str(want[k]) for k in ("M", "N", "K", "mma")])
            self.assertTrue(cells[6].endswith("= %d" % want["mma"]))
            self.assertEqual(cells[7], "yes")
            if want["B"]:
                self.assertIn("%d…%d" % (want["B"]["first"], want["B"]["last_word"]), cells[9])
        text = whole[whole.index("### Epilogues"):whole.index("#### E0")]
        self.assertEqual(len([line for line in text.split("\n") if re.match(r"\| E\d+ \|", line)]), 39)
        text = whole
        for line in text.split("\n"):                  # tables keep their shape
            if line.startswith("|"):
                self.assertTrue(line.endswith("|"), line)
        heads = re.findall(r"^(#+) ", text, re.M)
        self.assertEqual(heads[:3], ["#", "##", "###"])

    # ------------------------------------------------------------ other kernels

    def test_other_kernels(self):
        k = self.kernel("hgemm_mma")
        self.assertEqual([(p["M"], p["N"], p["K"], p["mma"], p["loop_from"]) for p in k["phases"]], [(16, 16, 16, 2, 1)])
        a, b = (k["phases"][0]["sources"][r]["loads"] for r in "AB")
        self.assertTrue(a[0]["instruction"].startswith("ldmatrix") and b[0]["instruction"].startswith("ldmatrix"))
        self.assertIn("48*", a[0]["index"])            # a row of shared memory is 24 halves
        self.assertIn("48*", b[0]["index"])
        self.assertEqual((a[0]["base"][-2:], b[0]["base"][-2:]), ("ta", "tb"))
        for role, param in (("A", "param_0"), ("B", "param_1")):
            self.assertEqual({g["base"] for g in k["phases"][0]["sources"][role]["stored"]["loads"]}, {param})
        k = self.kernel("fp8_gemm_f32")
        self.assertEqual(len(k["phases"]), 10)
        self.assertTrue(all((p["M"], p["N"], p["K"]) == (16, 8, 32) for p in k["phases"]))
        self.assertEqual([(g["phases"], g["M"], g["N"], g["K"], g["loops"]) for g in k["groups"]],
                         [([1, 3, 5, 7], 16, 8, 128, True), ([2, 4, 6, 8], 16, 8, 128, True), ([9], 16, 8, 32, True), ([10], 16, 8, 32, True)])
        for n, p in enumerate(k["phases"][:8]):        # 32 bytes a slice, 128 a turn
            for g in p["sources"]["A"]["loads"] + p["sources"]["B"]["loads"]:
                self.assertEqual((g["least"], g["most"]), (32 * (n // 2), 32 * (n // 2) + 16))
                self.assertIn("128*turn(", g["index"])
        k = self.kernel("fp8_gemm_f16")
        self.assertEqual([(g["phases"], g["K"]) for g in k["groups"]], [([1, 2, 3, 4], 128), ([5], 32)])
        k = self.kernel("imma_s8")
        self.assertEqual([len(p["products"]) for p in k["phases"]], [3] * 5)
        self.assertTrue(all(p["mixed"] for p in k["phases"]))
        k = self.kernel("wmma_shapes")
        self.assertEqual([(p["M"], p["N"], p["K"]) for p in k["phases"]], [(32, 8, 16), (8, 32, 16)])
        k = self.kernel("wmma_gemm")
        self.assertEqual([(g["phases"], g["M"], g["N"], g["K"]) for g in k["groups"]], [([1, 2, 3, 4], 16, 16, 64), ([5], 16, 16, 16)])
        self.assertEqual(self.kernel("dmma_f64")["groups"][0]["K"], 16)

    def test_attention(self):
        """flash_attention: a turn multiplies 16 x 64 queries with 32 keys, and 16 x 32 weights with 64 columns; 32 mma of 16 x 8 x 16."""
        k = self.kernel("flash_attention", "--block", "64")
        self.assertEqual(sum(p["mma"] for p in k["phases"]), 32)
        self.assertTrue(all(p["full"] and p["M"] == 16 and p["K"] == 16 for p in k["phases"]))
        joins = [(g["M"], g["N"], g["K"], g["mma"], g["full"]) for g in k["joins"]]
        self.assertEqual(joins, [(16, 32, 64, 16, True), (16, 64, 32, 16, True)])
        first, second = (k["joins"][i]["phases"] for i in (0, 1))
        for n in first:
            a, b = (k["phases"][n - 1]["sources"][r] for r in "AB")
            self.assertEqual({g["base"][-2:] for g in a["loads"]} | {g["base"][-2:] for g in b["loads"]}, {"tq", "tk"})
            self.assertEqual({g["base"] for g in b["stored"]["loads"]}, {"param_1"})
        for n in second:                                  # the weights are the first product's, and what it adds to comes round scaled
            a, b, c = (k["phases"][n - 1]["sources"][r] for r in "ABC")
            self.assertLessEqual(set(a["phases"]), set(first))
            self.assertEqual({g["base"][-2:] for g in b["loads"]}, {"tv"})
            self.assertIn("cvt.rn.f16x2.f32", a["through"])
        guesses = [(e["number"], g["name"], g["evidence"]) for e in k["epilogues"] for g in e["guesses"]]
        softmax = [(e, t) for e, n, t in guesses if n == "softmax with maximum"]
        self.assertEqual([e for e, _ in softmax], [first[-1]])
        # Two rows of a thread: 8 weights each and one for what was summed up before; 8 tiles of 4 and 2 sums are scaled; two inverses.
        for text in ("exponentials: 18 by ex2.approx.ftz.f32", "inverses: 2", "online: multiplications of what the loop brings round by one: 34", "other epilogues"):
            self.assertIn(text, softmax[0][1])
        self.assertIn((second[-1], "division by a softmax's sum", "inverses of what E%d sums up: 2, multiplications by them: 32" % first[-1]), guesses)
        self.assertIn((0, "asynchronous copies"), [(e, n) for e, n, _ in guesses])
        k = self.kernel("window_attention", "--block", "32,2")
        self.assertEqual([(g["M"], g["N"], g["K"], g["mma"], g["full"]) for g in k["joins"]], [(32, 32, 32, 8, True)] * 2)
        names = [g["name"] for g in k["epilogues"][8]["guesses"]]
        self.assertEqual(names[0], "softmax without maximum")
        self.assertIn("requantise → P9's A, P10's A", names)
        self.assertIn("exponentials: 32", k["epilogues"][8]["guesses"][0]["evidence"])

    def test_names_of_other_kernels(self):
        def names(kernel):
            return {g["name"]: g["evidence"] for e in self.kernel(kernel)["epilogues"] for g in e["guesses"]}
        found = names("math_f32")                         # hypotf is a root of two squares; no norm is anywhere
        self.assertNotIn("RMS norm", found)
        self.assertIn("of squares: 2", found["root of a sum of squares"])
        self.assertIn("hyperbolic tangent", found)
        self.assertNotIn("sigmoid", found)
        self.assertIn("exponentials: 3 by ex2", names("black_scholes")["exponentials"])
        self.assertIn("reduction over lanes", names("reduce_block"))
        self.assertIn("of squares: 12", names("nbody")["root of squared differences"])

    def test_kernels_without_mma(self):
        for name, guess in (("attention", "softmax with maximum"), ("softmax", "softmax with maximum"), ("layer_norm", "normalisation with mean")):
            k = self.kernel(name)
            self.assertEqual((k["phases"], len(k["epilogues"])), ([], 1))
            self.assertIn(guess, [g["name"] for g in k["epilogues"][0]["guesses"]])
        out = self.run_command(os.path.join(CORPUS, "kernels", "saxpy.ptx"), "--phases").stdout
        self.assertIn("No mma", out)

    # ------------------------------------------------------------ options

    def test_one_phase(self):
        out = self.run_command(DEC2, "--phase", "9").stdout
        self.assertIn("48 mma.sync.aligned.m16n8k32", out)
        self.assertIn("4·4·3 = 48: holds", out)
        self.assertEqual(len(re.findall(r"^ +s\d+ +L\d+", out, re.M)), 48)
        self.assertIn("residual add → P10's C", out)
        self.assertNotIn("Epilogues\n", out)
        j = json.loads(self.run_command(DEC2, "--phase", "9", "--json").stdout)["functions"][0]
        self.assertEqual((j["phase"]["number"], j["epilogue"]["number"]), (9, 9))
        self.assertNotIn("phases", j)

    def test_wrong_use(self):
        for args in (("--phase", "39"), ("--phase", "0"), ("--phase", "x"), ("--entry", "nobody"), ("--json", "--markdown"), ("--html", "--phases"),
                     ("--block", "32,x"), ("--block", "2048"), ("--block", "1,2,3,4"), ("--block", "")):
            p = self.run_command(DEC2, *args, status=2)
            self.assertEqual(p.stdout, "")
            self.assertIn("ptxbridge inspect:", p.stderr)
        two = self.write("two.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry a() { ret; }\n.visible .entry b() { ret; }\n")
        self.run_command(two, "--phase", "1", status=2)
        self.assertEqual([f["name"] for f in json.loads(self.run_command(two, "--phases", "--json").stdout)["functions"]], ["a", "b"])
        self.assertEqual([f["name"] for f in json.loads(self.run_command(two, "--entry", "b", "--json").stdout)["functions"]], ["b"])
        self.run_command(self.write("none.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"), "--phases", status=2)
        self.run_command(os.path.join(self.folder, "missing.ptx"), "--phases", status=2)

    def test_functions_in_error(self):
        bad = self.write("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry good() { ret; }\n"
                                    ".visible .entry bad() { .reg .b32 %r<3>;\n frobnicate.u32 %r1;\n mov.b32 %r1, 5;\n L: }\n")
        self.run_command(bad, "--entry", "good", "--markdown")
        for form in ("--markdown", "--html", "--json", "--phases"):
            out = self.run_command(bad, "--entry", "bad", form, status=1).stdout
            self.assertIn("frobnicate", out)

    def test_damaged_files(self):
        with open(os.path.join(CORPUS, "kernels", "imma_s8.ptx"), "rb") as f:
            text = f.read()
        body = text.index(b"{", text.index(b"mov.u32"))
        for n, (at, what) in enumerate(((body, b"}"), (body + 3000, b"{{{"), (body + 5000, b"\0\xff\xfe"), (body + 4000, b"@@@"), (len(text) // 2, b"\"/*"),
                                        (len(text) // 3, b"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {},{},{},{};"))):
            path = self.write("d%d.ptx" % n, text[:at] + what + text[at:])
            for form in ("--markdown", "--html", "--json"):
                p = subprocess.run([COMMAND, "inspect", path, "--entry", "imma_s8", form], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
                self.assertIn(p.returncode, (0, 1, 2), p.stderr[-500:])
                if form == "--json" and p.returncode < 2:
                    json.loads(p.stdout)

    # ------------------------------------------------------------ the page

    def write_page(self):
        text = self.run_command(DEC2, "--html").stdout
        return self.write("page.html", text), text

    def test_page_is_whole_and_needs_nothing(self):
        _, text = self.write_page()
        outline = Outline()
        outline.feed(text)
        self.assertEqual((outline.open, outline.bad, outline.links), ([], [], []))
        self.assertNotRegex(text, r"url\(|@import|https?:")
        self.assertIn("default-src 'none'", text)
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        self.assertLessEqual(set(outline.shown), set(outline.ids))
        segments = ["f0-P%d" % n for n in range(1, 39)] + ["f0-E%d" % n for n in range(39)]
        self.assertEqual(sorted(set(outline.shown)), sorted(segments))
        for p in self.dec2["phases"]:
            lines = outline.statements["f0-P%d" % p["number"]].strip().split("\n")
            self.assertEqual(len(lines), p["statements"])
            self.assertRegex(lines[0], r"^s%d +L%d +mma\.sync" % (p["first"], p["first_line"]))
        self.assertEqual(sum(t.strip().count("\n") + 1 for t in outline.statements.values()), self.dec2["statements"])

    def test_page_in_a_browser(self):
        browser = next((b for b in ("chromium", "chromium-browser", "google-chrome", "chrome") if shutil.which(b)), None)
        if not browser:
            self.skipTest("no Chromium or Chrome is installed")
        page, text = self.write_page()
        with open(page, "w", encoding="utf-8") as f:   # the policy allows scripts in the page itself
            f.write(text.replace("</head>", PROBE + "</head>"))
        p = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + os.path.join(self.folder, "profile"),
                            "--window-size=1300,2000", "--virtual-time-budget=5000", "--dump-dom", "file://" + page],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        title = re.search(r"<title>(\{.*?\})</title>", p.stdout)
        if not title and p.returncode:
            self.skipTest("%s does not start here: %s" % (browser, p.stderr.strip()[-300:]))
        self.assertTrue(title, p.stderr[-1000:])
        seen = json.loads(title.group(1))
        self.assertEqual(seen["before"], [])
        self.assertEqual((seen["phase"], seen["lines"]), (["f0-P9"], 48))
        self.assertEqual(seen["epilogue"], ["f0-E16"])
        self.assertEqual((seen["parts"], seen["blocks"], seen["on"], seen["grid"]), (77, 39, 2, 36))
        self.assertTrue(seen["inOrder"] and seen["visible"])
        self.assertEqual(seen["external"], 0)


if __name__ == "__main__":
    unittest.main()
