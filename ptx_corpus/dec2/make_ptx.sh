#!/bin/sh
# Remakes dec2.ptx from dec2.cu and, where ptxas is at hand, assembles it once. Needs CUDA 13's nvcc.
set -eu
cd "$(dirname "$0")"
nvcc -ptx -arch=sm_89 --use_fast_math -o dec2.ptx dec2.cu
if command -v ptxas >/dev/null; then
    ptxas -arch=sm_89 -v -o /dev/null dec2.ptx
fi
sh ./check_counts.sh dec2.ptx
