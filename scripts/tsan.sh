#!/usr/bin/env bash
# ThreadSanitizer over libcuda.so.1 and the CPU engine: builds them instrumented, without LLVM, and runs the stress of eight threads over two
# contexts. Takes the objects of ptx/lib from a Release build (build/release, or PTXBRIDGE_BUILD/release), which no sanitizer looks into.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${PTXBRIDGE_BUILD:-build}
[ -d "$build/release/meanings" ] || { echo "build the Release preset first: cmake --preset release && cmake --build $build/release" >&2; exit 2; }
cmake -S . -B "$build/tsan" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPTXBRIDGE_SANITIZE=thread -DPTXBRIDGE_LLVM=OFF \
      -DPTXBRIDGE_MEANINGS_FROM="$build/release" >/dev/null
cmake --build "$build/tsan" --target driver_stress -j "${PTXBRIDGE_JOBS:-$(nproc)}"
for round in 1 2 3; do
  LD_LIBRARY_PATH="$build/tsan/lib/cuda" PTXBRIDGE_DEVICE=cpu TSAN_OPTIONS=halt_on_error=1 "$build/tsan/tests/driver_stress"
done
