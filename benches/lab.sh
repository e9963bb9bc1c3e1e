#!/usr/bin/env bash
# What the lab itself costs: writes and cold reads by `zwhy lab` beside a plain C loop over the same libzpool, in pairs
# that run one after the other, as ratios of their CPU time with 95 % intervals.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

pairs=${PAIRS:-41}
megabytes=${MEGABYTES:-512}
zwhy=${CARGO_TARGET_DIR:-target}/release/zwhy
[[ -x $zwhy ]] || { echo "$zwhy is missing: run \`make build\`" >&2; exit 1; }
command -v gcc >/dev/null || { echo "gcc is missing: apt-get install gcc" >&2; exit 1; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/zwhy-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
gcc -O2 -Wall -rdynamic -o "$dir/loop" benches/lab_loop.c crates/lab/src/user/shim/pages.c -ldl -lpthread

lab() { "$zwhy" lab run benches/lab.toml --bytes "${megabytes}M" --quick -o "$dir/lab.$1" >/dev/null; }
# The loop opens what the lab opened.
lab first
library=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["library"]["path"])' "$dir/lab.first/result.json")
loop() {
    mkdir "$dir/scratch"
    "$dir/loop" "$library" "$dir/scratch" "$megabytes" >"$dir/loop.$1"
    rm -r "$dir/scratch"
}
for ((i = 0; i < pairs; i++)); do
    # Who goes first changes, so that neither always runs on what the other left.
    if ((i % 2)); then lab "$i" && loop "$i"; else loop "$i" && lab "$i"; fi
done
python3 benches/lab_table.py "$dir" "$pairs" "$megabytes"
