#!/usr/bin/env python3
"""bench/run.py BUILD_DIR: measures what the project has targets for, in one run, each beside its target.

BUILD_DIR is configured with -DPTXBRIDGE_BENCH=ON, Release. Prints a Markdown table (docs/performance.md).
Nothing here passes or fails: a machine under load shows it.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from inspect_kernel import kernel

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEC2 = os.path.join(SOURCE, "ptx_corpus", "dec2")


def output_of(*command, env=None):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env).stdout


def google_benchmark(path, pattern):
    report = json.loads(output_of(path, "--benchmark_format=json", "--benchmark_filter=" + pattern,
                                  "--benchmark_repetitions=5", "--benchmark_min_time=0.1"))
    least = {}
    for b in report["benchmarks"]:
        if b.get("run_type") == "iteration":
            name = b["name"]
            if name not in least or b["cpu_time"] < least[name]["cpu_time"]:
                least[name] = b
    return least


def run_case(command, name, *options):
    report = json.loads(output_of(command, "run", os.path.join(DEC2, name), "--json", "--repeat", "5", *options))
    return report["cases"][0]


def timed(*command, env=None):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    return time.monotonic() - start


def main():
    build = sys.argv[1]
    command = os.path.join(build, "ptxbridge")
    rows = []

    def row(what, value, target=""):
        rows.append((what, value, target))

    for model, target in (("ada", "0.5 s"), ("ieee", "0.4 s")):
        report = subprocess.run([command, "run", os.path.join(DEC2, "dec2.json"), "--json", "--repeat", "5", "--mma-model", model],
                                stdout=subprocess.PIPE).stdout
        times = json.loads(report)["cases"][0]["run_ms"]
        row(f"dec2, 256×256, `{model}` model, {os.cpu_count()} cores: least of 5 (median)",
            f"{times['least'] / 1e3:.3f} s ({times['median'] / 1e3:.3f})", target)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("peak memory of that process", f"{peak:.0f} MB", "300 MB")

    benches = google_benchmark(os.path.join(build, "bench", "parse_bench"), ".")
    parse, decode = benches["parse_dec2"], benches["decode_dec2"]
    row("parse dec2", f"{parse['cpu_time']:.1f} ms, {parse['bytes_per_second'] / 1e6:.0f} MB/s", "50 MB/s")
    row("parse and decode dec2", f"{parse['cpu_time'] + decode['cpu_time']:.1f} ms", "50 ms")

    for name, b in google_benchmark(os.path.join(build, "bench", "handlers_bench"), ".").items():
        targets = {"mma_m16n8k32_f16_e4m3_e4m3_f16/0": "200 ns", "add_s32/0": "2.5 ns"}
        label = name.split("/", 1)[1]
        model = {"0": "", "1": " (hopper)", "6": " (ieee)"}[label.rsplit("/", 1)[1]]
        meaning = label.rsplit("/", 1)[0]
        row(f"`{meaning}`{model}, a warp, {name.split('/')[0]}", f"{b['cpu_time']:.1f} ns", targets.get(label, ""))

    launch_bench = os.path.join(build, "bench", "launch_bench")
    if os.path.exists(launch_bench):
        launches = json.loads(output_of(launch_bench, env=dict(os.environ, PTXBRIDGE_DEVICE="cpu")))
        row("launch of an empty kernel through libcuda.so.1, queued", f"{launches['launch_us']:.1f} µs", "5 µs")
        row("the same, each waited for", f"{launches['launch_and_wait_us']:.1f} µs")
        row("launches a second from four threads", f"{launches['launches_per_second_4_threads']:.0f}", "10,000")
        row("a module's text to the end of its first kernel", f"{launches['first_launch_ms']:.2f} ms", "20 ms")

    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, PTXBRIDGE_CACHE="0")
        for target in ("gfx1100", "gfx942"):
            seconds = timed(command, "translate", os.path.join(DEC2, "dec2.ptx"), "--target", target, "--emit", "obj",
                            "-o", os.path.join(folder, "k.o"), env=env)
            size = os.path.getsize(os.path.join(folder, "k.o"))
            row(f"translate dec2 to a {target} object ({size // 1024} KB)", f"{seconds:.1f} s", "5 s" if target == "gfx1100" else "")
        with open(os.path.join(folder, "big.ptx"), "w") as f:
            f.write(kernel(100000))
        seconds = timed(command, "inspect", os.path.join(folder, "big.ptx"), "--markdown")
        row("inspect --markdown of 100,000 statements, 2,900 phases", f"{seconds:.1f} s", "2 s")
        if shutil.which("ptxas"):
            seconds = timed("ptxas", "-O3", "-arch=sm_89", os.path.join(DEC2, "dec2.ptx"), "-o", os.path.join(folder, "k.cubin"))
            row("ptxas -O3 -arch=sm_89 on the same file", f"{seconds:.1f} s")

    print("| what | measured | target |\n|---|---|---|")
    for what, value, target in rows:
        print(f"| {what} | {value} | {target} |")


if __name__ == "__main__":
    main()
