#!/usr/bin/env bash
# Builds ptxbridge and passes all tests, from nothing, on Debian 12 as root.
#   scripts/test.sh            everything: Release build, sanitizer build, both test runs
#   scripts/test.sh --quick    the Release build and its tests only
# Directories: build/release and build/asan (PTXBRIDGE_BUILD to put them elsewhere).
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/install_packages.sh
install_packages "${PTXBRIDGE_PACKAGES[@]}" "${PTXBRIDGE_TEST_PACKAGES[@]}"
build=${PTXBRIDGE_BUILD:-build}
jobs=${PTXBRIDGE_JOBS:-$(nproc)}
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "lint"
bash scripts/lint.sh

step "Release build"
cmake --preset release -B "$build/release" -DPTXBRIDGE_WERROR=ON -DPTXBRIDGE_TESTS=ON >"/tmp/ptxbridge-configure.$$" || { cat "/tmp/ptxbridge-configure.$$"; exit 1; }
cmake --build "$build/release" -j "$jobs"

if [ "${1:-}" != --quick ]; then
  step "address and undefined-behaviour sanitizers: build"
  cmake --preset asan -B "$build/asan" -DPTXBRIDGE_MEANINGS_FROM="$build/release" -DPTXBRIDGE_WERROR=ON -DPTXBRIDGE_TESTS=ON >"/tmp/ptxbridge-configure.$$" || { cat "/tmp/ptxbridge-configure.$$"; exit 1; }
  cmake --build "$build/asan" -j "$jobs"
  step "address and undefined-behaviour sanitizers: tests"
  ctest --test-dir "$build/asan" -j "$jobs" --output-on-failure -LE slow -E 'gfx942|AllKernels|corpus_(sim|hip)|corpus.dec2$|corpus_cuda.dec2|dec2_selftest|^conform\.|Targets/Fast|cuda.record_script' --timeout 600
fi
rm -f "/tmp/ptxbridge-configure.$$"

step "Release: tests"
ctest --test-dir "$build/release" -j "$jobs" --output-on-failure --timeout 600
