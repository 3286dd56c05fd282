#!/usr/bin/env bash
# scripts/nvidia-record.sh over the library with the driver's binary interface.
#   nvidia_record_test.sh PTXBRIDGE ABI-LIBRARY FOLDER
set -euo pipefail
ptxbridge=$1
abi=$2
folder=$3
root=$(cd "$(dirname "$0")/.." && pwd)
kernels=$root/ptx_corpus/kernels
rm -rf "$folder"
mkdir -p "$folder"
fail() { echo "FAILED: $1"; sed 's/^/    /' "$folder/text"; exit 1; }
expect() { grep -Eq -- "$1" "$folder/text" || fail "no \"$1\" in the output"; }
record() {                           # expected status, then arguments
  local want=$1 status=0
  shift
  "$root/scripts/nvidia-record.sh" --ptxbridge "$ptxbridge" "$@" >"$folder/text" 2>&1 || status=$?
  [ "$status" = "$want" ] || fail "exit status $status, not $want, of: $*"
}

newer=$(grep -l '^\.target sm_120' "$kernels"/*.ptx | head -1)
export PTXBRIDGE_CUDA_LIBRARY=$abi PTXB_ABI_CAPABILITY=90
record 0 -o "$folder/some.npz" "$kernels"/{saxpy,tex_linear,surface_write,function_pointers,printf_lines,fault_trap,fault_barrier}.json \
  "${newer%.ptx}.json"
expect '^GPU \(cuda\):'
expect '^left out, they would hang a GPU \(1\):'
expect '^  fault_barrier$'
expect '^skipped \(1\):'
expect "^  $(basename "$newer" .ptx): not for this GPU: the module is for sm_120, and the GPU is sm_90"
expect '^checked: a second run on this GPU gave the same results'
expect "^recorded 6 cases in $folder/some.npz"
python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None and z.namelist()' "$folder/some.npz"

# A GPU that is not there, a driver that is not there, a case that is not there.
PTXB_ABI_DEVICES=0 record 3 "$kernels/saxpy.json"
expect 'no NVIDIA GPU can be used: .* sees no GPU'
PTXBRIDGE_CUDA_LIBRARY=/nowhere/libcuda.so.1 record 3 "$kernels/saxpy.json"
expect 'no NVIDIA GPU can be used: there is no NVIDIA driver'
record 2 "$folder/nothing.json"

# A case that fails is named, and the others are recorded.
PTXB_ABI_FAIL=cuArray3DCreate_v2@1=2 record 1 -o "$folder/less.npz" "$kernels"/{saxpy,tex_linear}.json
expect '^failed \(1\):'
expect '^  tex_linear: .*CUDA_ERROR_OUT_OF_MEMORY'
expect '^recorded 1 cases'
echo "nvidia-record: all as expected"
