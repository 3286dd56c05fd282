#!/usr/bin/env bash
# Builds the benchmarks and prints the table of docs/performance.md. Run it on an idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/install_packages.sh
install_packages "${PTXBRIDGE_PACKAGES[@]}" "${PTXBRIDGE_TEST_PACKAGES[@]}"
build=${PTXBRIDGE_BUILD:-build}/bench
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
cmake --preset bench -B "$build" -DPTXBRIDGE_TESTS=OFF >/dev/null
cmake --build "$build" --target ptxbridge_cli handlers_bench parse_bench launch_bench -j "$(nproc)" >/dev/null
lscpu | sed -n 's/^Model name: *//p'
python3 bench/run.py "$build"
