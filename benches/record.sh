#!/usr/bin/env bash
# What recording costs: CPU time, memory and bytes of zwhy beside perf, under one load, as a table.
#
# Needs root. zwhy and perf record the whole host in turn while benches/workload.sh keeps it busy;
# medians of ROUNDS are shown. Recordings of 2 s tell what starting and ending cost. An hour of
# counters is simulated by reading them 100 times a second for 36 s, with samples at the highest rate.
# The effect on ZFS is the CPU time that libzpool takes for the same reads with a recorder of the
# whole host beside it and without, in pairs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

seconds=${SECONDS_EACH:-20}
rounds=${ROUNDS:-3}
pairs=${PAIRS:-4}
dir=target/bench/record
zwhy=$(realpath "${CARGO_TARGET_DIR:-target}/release/zwhy")

[[ $(id -u) == 0 ]] || { echo "skipped: recording the whole host needs root" >&2; exit 0; }
for tool in perf /usr/bin/time python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install linux-perf time python3" >&2; exit 1; }
done
[[ -x $zwhy ]] || { echo "$zwhy is missing: run \`make build\`" >&2; exit 1; }

rm -rf "$dir"
mkdir -p "$dir"

# cost NAME COMMAND…: adds "CPU-seconds peak-MB" of the command to NAME.cost.
cost() {
    local name=$1
    shift
    /usr/bin/time -a -o "$dir/$name.cost" -f '%U %S %M' "$@" >"$dir/out" 2>"$dir/err" </dev/null \
        || { cat "$dir/err" >&2; exit 1; }
}

with_load() {
    benches/workload.sh "$1" &
    load=$!
}
trap '[[ -z ${load:-} ]] || kill "$load" 2>/dev/null || true' EXIT

for ((round = 1; round <= rounds; round++)); do
    with_load $((seconds * 2 + 12))
    cost zwhy "$zwhy" record -a -F 99 -d "$seconds" -o "$dir/$round.zwhy"
    cost start "$zwhy" record -a -F 99 -d 2 -o "$dir/start-$round.zwhy"
    cost perf-record perf record -q -g -a -F 99 -o "$dir/perf.data" -- sleep "$seconds"
    cost perf-script perf script -i "$dir/perf.data"
    wait "$load" || true
done
with_load 45
cost hour "$zwhy" record -a -F 4999 --interval 0.01 -d 36 -o "$dir/hour.zwhy"
wait "$load" || true
load=

if "$zwhy" lab run encryption --quick --no-record --json -o "$dir/lab-0" >"$dir/lab-0.json" 2>"$dir/err"; then
    for ((pair = 1; pair <= pairs; pair++)); do
        order=(with without)
        ((pair % 2)) || order=(without with)
        for side in "${order[@]}"; do
            recorder=
            if [[ $side == with ]]; then
                "$zwhy" record -a -F 99 -o "$dir/beside-$pair.zwhy" >/dev/null 2>&1 &
                recorder=$!
            fi
            "$zwhy" lab run encryption --quick --no-record --json --seed "$pair" -o "$dir/lab-$side-$pair" \
                >"$dir/$side-$pair.json" 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
            if [[ -n $recorder ]]; then
                kill "$recorder"
                wait "$recorder" || true
            fi
        done
    done
else
    echo "no libzpool here; the effect on ZFS is not measured: $(head -c 300 "$dir/err")" >&2
    pairs=0
fi

python3 benches/record_table.py "$dir" "$seconds" "$rounds" "$pairs"
