#!/usr/bin/env bash
# Records the corpus on an NVIDIA GPU, in one command. Needs the NVIDIA driver, and, unless a ptxbridge is given,
# a C compiler, cmake, pkg-config and the development files of jansson, libpng, zlib and OpenSSL (libcrypto); no CUDA toolkit.
#   scripts/nvidia-record.sh [--device cuda:N] [--ptxbridge FILE] [-o FILE.npz] [CASE.json …]
# Each case is first tried in a process of its own. What the GPU is too old for, and what would hang it, is left out
# and named. Exit status: 0 recorded, 1 recorded but some case failed, 2 wrong use, 3 no GPU.
set -euo pipefail
cd_back=$PWD
root=$(cd "$(dirname "$0")/.." && pwd)
device=cuda
ptxbridge=${PTXBRIDGE:-}
out=
limit=120                            # seconds for one case
cases=()

usage() { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit "$1"; }
die() { echo "nvidia-record: $2" >&2; exit "$1"; }
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=${2:?}; shift 2 ;;
    --ptxbridge) ptxbridge=${2:?}; shift 2 ;;
    -o) out=${2:?}; shift 2 ;;
    -h | --help) usage 0 ;;
    -*) echo "nvidia-record: there is no option $1" >&2; usage 2 >&2 ;;
    *) cases+=("$1"); shift ;;
  esac
done
[ ${#cases[@]} -gt 0 ] || cases=("$root"/ptx_corpus/kernels/*.json "$root"/ptx_corpus/dec2/*.json)
for one in "${cases[@]}"; do [ -r "$one" ] || die 2 "there is no case $one"; done

# ---------------------------------------------------------------- the program
build() {
  local folder=${PTXBRIDGE_BUILD:-$root/build}/nvidia generator=()
  command -v cmake >/dev/null || die 2 "cmake is needed to build ptxbridge (or give --ptxbridge FILE)"
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  mkdir -p "$folder"
  echo "building ptxbridge for NVIDIA only, in $folder"
  { cmake "${generator[@]}" -S "$root" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DPTXBRIDGE_LLVM=OFF -DPTXBRIDGE_CPU=OFF \
      -DPTXBRIDGE_TESTS=OFF && cmake --build "$folder" --target ptxbridge_cli --parallel "$(nproc)"; } >"$folder/build.log" 2>&1 ||
    { tail -20 "$folder/build.log" >&2; die 2 "the build failed; all of its output is in $folder/build.log"; }
  ptxbridge=$folder/ptxbridge
}
[ -n "$ptxbridge" ] || build
command -v "$ptxbridge" >/dev/null || die 2 "there is no program $ptxbridge"

# ---------------------------------------------------------------- the GPU
described=$("$ptxbridge" devices | sed -n '/^cuda:/,/^[^ ]/p' | sed '1d;/^[^ ]/d')
if grep -q '^  not available' <<<"$described"; then
  sed -n 's/^  not available: /nvidia-record: no NVIDIA GPU can be used: /p' <<<"$described" >&2
  exit 3
fi
[ -n "$described" ] || die 3 "$ptxbridge does not know NVIDIA devices"
printf 'GPU (%s):\n%s\n' "$device" "$described"

# ---------------------------------------------------------------- the cases
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
recorded=() skipped=() skipped_cases=() hanging=() differing=() failed=()
for one in "${cases[@]}"; do
  name=$(basename "$one" .json)
  # A barrier that never completes and a loop that never ends cannot be stopped on a GPU.
  if grep -Eq '"fault": *"(barrier_deadlock|timeout)"' "$one"; then
    hanging+=("$name")
    continue
  fi
  status=0
  timeout --kill-after=5 $((limit + 10)) "$ptxbridge" run "$one" --device "$device" --timeout-ms $((limit * 1000)) \
    >"$scratch/text" 2>&1 || status=$?
  if [ "$status" = 0 ]; then
    recorded+=("$one")
  elif grep -Eq 'not for this (GPU|driver)' "$scratch/text"; then
    skipped_cases+=("$one")
    skipped+=("$name: $(sed -n 's/.*not for this/not for this/p' "$scratch/text" | head -1)")
  elif [ "$status" = 1 ] && ! grep -q 'faulted' "$scratch/text"; then
    recorded+=("$one")
    differing+=("$name")
  else
    failed+=("$name: $(grep -v '^$' "$scratch/text" | head -1)")
  fi
done

list() {                             # heading, then one item a line
  local heading=$1
  shift
  [ $# -eq 0 ] && return 0
  printf '%s (%d):\n' "$heading" $#
  printf '  %s\n' "$@"
}
list "left out, they would hang a GPU" "${hanging[@]}"
list "skipped" "${skipped[@]}"
list "other results than the corpus expects, to be looked at with compare" "${differing[@]}"
list "failed" "${failed[@]}"
[ ${#recorded[@]} -gt 0 ] || die 1 "no case ran, so there is nothing to record"

# ---------------------------------------------------------------- the recording
if [ -z "$out" ]; then
  gpu=$(sed -n 's/^  name  *//p' <<<"$described" | tr -cs 'A-Za-z0-9\n' '-' | sed 's/^-*//;s/-*$//')
  out=$cd_back/ptxbridge-${gpu:-gpu}-$(date +%Y-%m-%d).npz
fi
"$ptxbridge" record "${recorded[@]}" -o "$out" --device "$device"
[ -s "$out" ] || die 1 "$out was not written"
# What was skipped stands in the file with its reason; that it does not run is no news.
if [ ${#skipped_cases[@]} -gt 0 ]; then
  "$ptxbridge" record "${skipped_cases[@]}" --append --quiet -o "$out" --device "$device" >/dev/null 2>&1 || true
fi

# The same cases once more against the recording: what differs now differs from run to run.
repeat=0
"$ptxbridge" compare "${recorded[@]}" --against "$out" --devices "$device" >"$scratch/text" 2>&1 || repeat=$?
case $repeat in
  0) echo "checked: a second run on this GPU gave the same results" ;;
  1) echo "checked: a second run on this GPU gave other results in places:"; grep -v '^$' "$scratch/text" | tail -40 ;;
  *) cat "$scratch/text" >&2; die 1 "the recording $out cannot be read back" ;;
esac

cat <<END
recorded ${#recorded[@]} cases in $out ($(wc -c <"$out") bytes)
What to do with it:
  compare it with the CPU, or with an AMD GPU, on any machine with ptxbridge:
    ptxbridge compare CASE.json … --against $(basename "$out") --devices cpu
  or attach the file to an issue of the project. It holds results, and of this machine what is printed above of the GPU.
END
[ ${#failed[@]} -eq 0 ]
