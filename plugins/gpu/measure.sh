#!/usr/bin/env bash
# Measures the GPU of this machine and prints devices for the model: `plugins/gpu/measure.sh NAME`, NAME for example h100.
#
# The figures go to plugins/gpu/measured/NAME.tsv. Without a GPU nothing is written, and the exit status is 1.
set -euo pipefail
cd "$(dirname "$0")"
name=${1:?"a name for the machine is missing: measure.sh h100"}
make --silent measure
[[ -x measure ]] || exit 1
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
./measure >"$figures"
mkdir -p measured
install -m 644 "$figures" "measured/$name.tsv"
./preset.py "measured/$name.tsv" "$name"
