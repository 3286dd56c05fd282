#!/usr/bin/env python3
"""Runs `ptxbridge record` and `ptxbridge compare` as their users do, and looks at the HTML report in a headless browser.

Usage: compare_cli_test.py PTXBRIDGE SOURCE_DIR
The standard library is enough. The browser's part is skipped, with a message, where no Chromium is installed.
"""
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

COMMAND = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))
KERNELS = os.path.join(SOURCE, "ptx_corpus", "kernels")
MMA, SAXPY = os.path.join(KERNELS, "bf16_mma.json"), os.path.join(KERNELS, "saxpy.json")
DEC2 = os.path.join(SOURCE, "ptx_corpus", "dec2", "dec2-window.json")
sys.path.insert(0, os.path.join(SOURCE, "tests"))

# Runs in the page and writes what it saw into the title: plots that take room, maps that were decoded, nothing loaded.
PROBE = """<script>addEventListener('load', () => {
  const box = e => e.getBoundingClientRect();
  const maps = [...document.querySelectorAll('img.map')], plots = [...document.querySelectorAll('svg.histogram')];
  document.title = JSON.stringify({
    maps: maps.length, decoded: maps.filter(i => i.complete && i.naturalWidth > 0 && box(i).width >= 64).length,
    plots: plots.length, bars: plots.filter(s => [...s.querySelectorAll('rect')].some(r => box(r).height > 10)).length,
    inside: plots.every(s => [...s.querySelectorAll('rect')].every(r => box(r).top >= box(s).top && box(r).bottom <= box(s).bottom + 1)),
    rows: document.querySelectorAll('#kernels tbody tr').length, trace: document.querySelectorAll('.trace').length,
    external: performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length});
});</script>"""


def read_npy(data):
    assert data[:6] == b"\x93NUMPY"
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return data[10:start].decode(), data[start:]


class Outline(html.parser.HTMLParser):
    """Tags that were opened and not closed, and every address that the page names."""
    VOID = {"meta", "img", "br", "link", "input", "hr", "rect", "line"}

    def __init__(self):
        super().__init__()
        self.open, self.bad, self.links, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href", "data", "srcset")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ptxbridge_compare_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, *args, status=0):
        p = subprocess.run([COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(p.returncode, status, "%s\n%s%s" % (" ".join(args), p.stdout, p.stderr))
        return p.stdout, p.stderr

    def test_record_is_readable_and_compares_equal(self):
        f = self.path("r.npz")
        self.run_command("record", MMA, SAXPY, "-o", f)
        with zipfile.ZipFile(f) as z:
            header, body = read_npy(z.read("meta.npy"))
            self.assertIn("'|u1'", header)
            meta = json.loads(body)
            self.assertEqual(meta["ptxbridge_record"], 1)
            self.assertEqual([c["case"] for c in meta["cases"]], ["bf16_mma", "saxpy"])
            for c in meta["cases"]:
                self.assertRegex(c["inputs_sha256"], "^[0-9a-f]{64}$")
                self.assertRegex(c["ptx_sha256"], "^[0-9a-f]{64}$")
                self.assertRegex(c["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                self.assertEqual((c["device"], c["mma_model"], c["state"]), ("cpu", "ada", "done"))
                for o in c["outputs"]:
                    self.assertEqual("member" in o, o["changed"])
                    if o["changed"]:
                        self.assertIn(o["member"] + ".npy", z.namelist())
        out, _ = self.run_command("compare", MMA, SAXPY, "--against", f, "--json")
        j = json.loads(out)
        self.assertTrue(j["equal"])
        self.assertEqual(j["cases"][0]["sides"][0]["recorded_in"], f)
        self.run_command("compare", MMA, SAXPY, "--against", f, "--against", f)

    def test_append_keeps_and_replaces(self):
        f = self.path("r.npz")
        self.run_command("record", SAXPY, "-o", f)
        self.run_command("record", MMA, "-o", f, "--append")
        self.run_command("record", MMA, "-o", f, "--append", "--mma-model", "ieee")
        out, _ = self.run_command("record", MMA, "-o", f, "--append", "--json")
        self.assertEqual([(c["case"], c["mma_model"]) for c in json.loads(out)["cases"]],
                         [("saxpy", "ada"), ("bf16_mma", "ada"), ("bf16_mma", "ieee")])
        _, err = self.run_command("compare", MMA, "--against", f, status=2)
        self.assertIn("holds 2 records", err)

    def test_differences_are_counted_and_traced(self):
        out, _ = self.run_command("compare", MMA, "--devices", "cpu", "--models", "ada,ieee", "--trace", "--json", status=1)
        j = json.loads(out)
        case = j["cases"][0]
        self.assertFalse(case["equal"])
        self.assertTrue(any("mma models differ" in n for n in case["notes"]))
        changed = [o for o in case["outputs"] if o["changed"]]
        for o in changed:
            h = o["histogram"]
            self.assertEqual(h["bits_only"] + h["nan"] + sum(h["powers_of_two"]), o["differing"])
            self.assertGreater(o["differing"], 0)
            self.assertLessEqual(o["median_ulp"], o["max_ulp"])
            self.assertNotEqual(o["first"]["a"], o["first"]["b"])
        t = case["trace"]
        self.assertEqual((t["found"], t["cause"]), ("result", "mma-model"))
        self.assertTrue(t["instruction"]["text"].startswith("mma.sync"))
        with open(os.path.join(KERNELS, t["instruction"]["file"])) as ptx:
            self.assertIn("mma.sync", ptx.read().split("\n")[t["instruction"]["line"] - 1])
        self.assertTrue(any(r["differs"] for r in t["results"]))
        out, _ = self.run_command("compare", MMA, "--devices", "cpu,cpu", "--models", "ada,ieee", "--trace", status=1)
        self.assertIn("cause: mma model", out)
        self.run_command("compare", MMA, "--devices", "cpu", "--models", "ada,ieee", "--tolerance", "1000000")

    def test_json_follows_its_schema(self):
        import importlib.util
        spec = importlib.util.spec_from_file_location("schema_test", os.path.join(SOURCE, "tests", "schema_test.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with open(os.path.join(SOURCE, "docs", "compare.schema.json")) as f:
            schema = json.load(f)
        validator = module.Validator(schema)
        for status, args in ((1, ("--devices", "cpu", "--models", "ada,ieee", "--trace")), (0, ("--devices", "cpu,cpu")),
                             (3, ("--devices", "cpu,cuda:99"))):
            out, _ = self.run_command("compare", MMA, SAXPY, "--json", *args, status=status)
            self.assertTrue(validator.valid(schema, json.loads(out)), args)
        bad = json.loads(out)
        bad["cases"][0]["sides"] = []
        self.assertFalse(validator.valid(schema, bad))

    def test_statuses(self):
        f = self.path("r.npz")
        self.run_command("record", SAXPY, "-o", f)
        self.run_command("compare", SAXPY, status=2)
        self.run_command("compare", "--devices", "cpu,cpu", status=2)
        self.run_command("compare", SAXPY, "--devices", "cpu,cpu,cpu", status=2)
        self.run_command("compare", SAXPY, "--against", f, "--trace", status=2)
        self.run_command("compare", SAXPY, "--against", f, "--devices", "cpu,cpu", status=2)
        self.run_command("compare", SAXPY, "--against", self.path("none.npz"), status=2)
        self.run_command("compare", MMA, "--against", f, status=2)
        self.run_command("compare", SAXPY, "--devices", "cpu,nonsense", status=3)
        self.run_command("compare", SAXPY, "--devices", "cpu,cpu", "--tolerance", "much", status=2)
        self.run_command("record", SAXPY, status=2)
        self.run_command("record", "-o", f, status=2)
        self.run_command("record", self.path("none.json"), "-o", f, status=2)
        _, err = self.run_command("record", SAXPY, "-o", self.path("n.npz"), "--device", "nonsense", status=3)
        self.assertFalse(os.path.exists(self.path("n.npz")))
        self.assertIn("not written", err)
        with open(f, "r+b") as g:
            g.truncate(os.path.getsize(f) // 2)
        self.run_command("compare", SAXPY, "--against", f, status=2)
        self.run_command("record", SAXPY, "-o", f, "--append", status=2)

    def test_part_that_cannot_run_is_told_and_the_rest_recorded(self):
        with open(self.path("bad.ptx"), "w") as g:
            g.write(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; ret; }\n")
        with open(self.path("bad.json"), "w") as g:
            g.write('{"ptxbridge_case": 1, "ptx": "bad.ptx", "entry": "k", "grid": [1], "block": [1]}')
        f = self.path("r.npz")
        out, err = self.run_command("record", self.path("bad.json"), SAXPY, "-o", f, status=2)
        self.assertIn("NOT RUN", out)
        self.assertIn("frobnicate", err)
        with zipfile.ZipFile(f) as z:
            cases = json.loads(read_npy(z.read("meta.npy"))[1])["cases"]
        self.assertEqual([c["state"] for c in cases], ["error", "done"])
        self.assertIn("frobnicate", cases[0]["text"])
        out, _ = self.run_command("compare", self.path("bad.json"), SAXPY, "--against", f, "--json", status=2)
        self.assertEqual([c["ran"] for c in json.loads(out)["cases"]], [False, True])

    def write_page(self):
        page = self.path("page.html")
        self.run_command("compare", DEC2, MMA, SAXPY, "--devices", "cpu", "--models", "ada,ieee", "--trace", "--html", page, status=1)
        with open(page, encoding="utf-8") as f:
            return page, f.read()

    def test_page_is_whole_and_needs_nothing(self):
        _, text = self.write_page()
        outline = Outline()
        outline.feed(text)
        self.assertEqual((outline.open, outline.bad), ([], []))
        self.assertNotIn("script", outline.tags)
        self.assertTrue(all(link.startswith("data:image/png;base64,") for link in outline.links))
        self.assertGreaterEqual(len(outline.links), 1)
        self.assertNotRegex(text, r"url\(|@import")
        self.assertIn("mma.sync", text)

    def test_standard_output_and_links(self):
        args = ("compare", SAXPY, "--devices", "cpu,cpu", "--html")
        page = self.path("page.html")
        out, _ = self.run_command(*args, page)
        self.assertIn("equal", out)
        out, _ = self.run_command(*args, "-")
        with open(page, encoding="utf-8") as f:
            self.assertEqual(re.sub(r">[0-9.:TZ-]+<", "><", out), re.sub(r">[0-9.:TZ-]+<", "><", f.read()), "but for times")
        _, err = self.run_command(*args, "-", "--json", status=2)
        self.assertIn("standard output", err)
        _, err = self.run_command("record", SAXPY, "-o", "-", status=2)
        self.assertIn("standard output", err)
        # What a link leads to is written; the link stays.
        os.symlink(page, self.path("link"))
        os.truncate(page, 0)
        self.run_command(*args, self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        with open(page, encoding="utf-8") as f:
            self.assertTrue(f.read().startswith("<!DOCTYPE html>"))
        self.assertFalse(os.path.exists("-"))

    def test_page_in_a_browser(self):
        browser = next((b for b in ("chromium", "chromium-browser", "google-chrome", "chrome") if shutil.which(b)), None)
        if not browser:
            self.skipTest("no Chromium or Chrome is installed")
        page, text = self.write_page()
        # The page forbids scripts; the copy with the probe does not.
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</head>", PROBE + "</head>")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text)
        p = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + self.path("profile"),
                            "--window-size=1300,2000", "--virtual-time-budget=5000", "--dump-dom", "file://" + page],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        title = re.search(r"<title>(\{.*?\})</title>", p.stdout)
        if not title and p.returncode:
            self.skipTest("%s does not start here: %s" % (browser, p.stderr.strip()[-300:]))
        self.assertTrue(title, p.stderr[-1000:])
        seen = json.loads(title.group(1))
        self.assertEqual(seen["rows"], 3)
        self.assertGreaterEqual(seen["maps"], 2)
        self.assertEqual(seen["maps"], seen["decoded"])
        self.assertGreaterEqual(seen["plots"], 4)
        self.assertEqual(seen["plots"], seen["bars"])
        self.assertTrue(seen["inside"])
        self.assertEqual(seen["trace"], 2)
        self.assertEqual(seen["external"], 0)


if __name__ == "__main__":
    unittest.main()
