#!/usr/bin/env bash
# Kills an experiment at random moments and goes on with it: `tests/lab-kill.sh [TIMES] [ZWHY]`.
#
# Each time the experiment must complete, what was finished before the kill must stay as it was to the
# byte, and no scratch folder may be left.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
times=${1:-20}
zwhy=$(realpath "${2:-target/release/zwhy}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/small.toml" <<'TOML'
name = "small"
title = "Small"
question = "Does it survive?"
expectation = "Yes."
engine = "user"
[factors]
compression = ["gzip-6", "lz4", "off"]
[fixed]
data = "half"
arc_max = "64M"
[[steps]]
do = "write"
[[steps]]
do = "verify"
[size]
quick = { bytes = "16M", repetitions = 2 }
full = { bytes = "16M", repetitions = 2 }
[compare]
step = "write"
measure = "cpu_s_per_gb"
TOML

# A whole run tells how long there is to kill it in.
started=$(date +%s%N)
"$zwhy" lab run "$folder/small.toml" --quick --no-record -o "$folder/whole" >/dev/null
took=$(($(date +%s%N) - started))

complete=0
for ((i = 1; i <= times; i++)); do
    out=$folder/$i
    "$zwhy" lab run "$folder/small.toml" --quick --no-record -o "$out" >/dev/null 2>&1 &
    lab=$!
    delay=$(awk -v took="$took" -v seed="$i$RANDOM" 'BEGIN { srand(seed); printf "%.3f", 0.05 + rand() * took / 1e9 }')
    sleep "$delay"
    kill -9 $lab 2>/dev/null || true
    wait $lab 2>/dev/null || true
    before=$(cd "$out/cells" 2>/dev/null && sha256sum -- *.json 2>/dev/null || true)
    if [[ ! -f $out/plan.json ]]; then
        # Killed before it had a plan: there is nothing to go on with, and it says so.
        if "$zwhy" lab resume "$out" >/dev/null 2>&1; then echo "kill $i: resumed without a plan" >&2; exit 1; fi
        complete=$((complete + 1))
        continue
    fi
    "$zwhy" lab resume "$out" >"$folder/log" 2>&1 || { echo "kill $i after $delay s:" >&2; cat "$folder/log" >&2; exit 1; }
    if [[ -n $before ]]; then (cd "$out/cells" && sha256sum --quiet -c <<<"$before"); fi
    [[ $(find "$out/cells" -name '*.json' | wc -l) == 6 ]] || { echo "kill $i: not all runs are there" >&2; exit 1; }
    [[ ! -e $out/scratch ]] || { echo "kill $i: the scratch folder is left" >&2; exit 1; }
    complete=$((complete + 1))
done
echo "$complete of $times complete"
