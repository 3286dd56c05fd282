#!/bin/sh
# Builds the C reference and writes every expected output .npy into this folder.
set -eu
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
${CC:-gcc} -O1 -std=c17 -Wall -Wextra -ffp-contract=off -frounding-math -o "$build/reference" \
    reference/*.c -lm
"$build/reference"
