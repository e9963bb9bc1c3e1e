#!/usr/bin/env bash
# Kills the process of an offload provider while it writes: `tests/offload-kill.sh [TIMES] [ZWHY]`.
#
# Each time the run must end, its result must say that offload was switched off, stock OpenZFS must read every byte as
# it was written, and zdb (where it is there, as after `make setup-test`) must find every block right. Blocks stay in the
# provider from stage to stage, so that some die with it: these are made again, and counted.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
times=${1:-20}
zwhy=$(realpath "${2:-target/release/zwhy}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/kill.toml" <<'TOML'
name = "kill"
title = "A provider dies"
question = "Is a byte lost?"
expectation = "No."
engine = "user"
[factors]
provider_dies_after = [1]
[fixed]
provider = "remote"
provider_strict = 1
zia_checksum = 1
zia_file_write = 1
compression = "gzip-6"
recordsize = "128K"
layout = "raidz2"
disks = 5
data = "half"
arc_max = "64M"
[[steps]]
do = "write"
[size]
quick = { bytes = "8M", repetitions = 1 }
full = { bytes = "8M", repetitions = 1 }
[compare]
step = "write"
measure = "cpu_s_per_gb"
TOML

# The write makes 64 records: as many calls to compress, to make checksums and rows, and several to write each.
calls=192
clean=0
walked=0
remade=0
for ((i = 1; i <= times; i++)); do
    at=$((RANDOM % calls + 1))
    out=$folder/$i
    fail() {
        echo "kill $i, at call $at: $1" >&2
        cat "$folder/log" >&2
        exit 1
    }
    "$zwhy" lab run "$folder/kill.toml" --quick --no-record --keep --set "provider_dies_after=$at" -o "$out" \
        >"$folder/log" 2>&1 || fail "the run failed"
    grep -q '"offload.switched_off": 1' "$out/result.json" || fail "the result does not say that offload is off"
    died=$(awk '/"offload_[a-z_]*\.remade":/ { n += $2 } END { print n + 0 }' "$out/result.json")
    remade=$((remade + died))
    "$zwhy" lab verify "$out" --stock >"$folder/log" 2>&1 || fail "the pool is not as it was written"
    if grep -q 'zdb: all blocks are right' "$folder/log"; then walked=$((walked + 1)); fi
    clean=$((clean + 1))
    rm -rf "$out"
done
if command -v zdb >/dev/null && ((walked < times)); then
    echo "zdb is there, and walked only $walked of $times pools" >&2
    exit 1
fi
echo "$clean of $times without a wrong byte, $walked of them walked by zdb; $remade blocks died with it"
