#!/usr/bin/env bash
# Builds ptxbridge and runs the denoiser kernel dec2 (42,000 lines of PTX) on the CPU over a 256×256 scene.
# Leaves out/demo/noisy.png, output.png, reference.png, clean.png and prints times and PSNR.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/install_packages.sh
install_packages "${PTXBRIDGE_PACKAGES[@]}"
build=${PTXBRIDGE_BUILD:-build}/demo
out=${1:-out/demo}
mkdir -p "$out"
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
if [ ! -f "$build/build.ninja" ]; then
  # The demo runs on this machine only: one instruction-set level, and no tests.
  cmake --preset release -B "$build" -DPTXBRIDGE_TESTS=OFF -DPTXBRIDGE_NATIVE_LEVEL=ON >/dev/null
fi
cmake --build "$build" --target ptxbridge_cli dec2_report -j "$(nproc)" >"$build/build.log" || { cat "$build/build.log"; exit 1; }

case=ptx_corpus/dec2/dec2.json
"$build/ptxbridge" run "$case" --npy output="$out/output.npy"
echo
start=$(date +%s%N)
"$build/ptxbridge" translate ptx_corpus/dec2/dec2.ptx --target gfx1100 --emit llvm -o "$out/dec2.ll"
printf 'translated to LLVM IR for gfx1100 in %d ms: %s\n' $((($(date +%s%N) - start) / 1000000)) "$out/dec2.ll"
"$build/ptx_corpus/dec2_report" ptx_corpus/dec2/dec2.png "$out/output.npy" "$out"
echo "pictures: $out/noisy.png $out/output.png $out/reference.png $out/clean.png"
