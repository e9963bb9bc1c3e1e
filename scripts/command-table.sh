#!/usr/bin/env bash
# Writes knowledge/commands/VERSION.toml: the subcommands, options and properties that the programs zfs
# and zpool of one OpenZFS release know, as those programs print them themselves, in the VM.
#
#   scripts/command-table.sh 2.4|2.3|2.1
#
# `zwhy knowledge lint` holds the commands of every remedy against these tables.
set -euo pipefail

cd "$(dirname "$0")/.."
version=${1:?usage: scripts/command-table.sh 2.4|2.3|2.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/job" <<'JOB'
for program in zfs zpool; do
    $program >/out/$program.usage 2>&1
    $program set >/out/$program.set 2>&1
done
cat /sys/module/zfs/version >/out/version
exit 0
JOB
vm/run -v "$version" -o "$work/out" "$work/job"
python3 scripts/command_table.py "$version" "$work/out" >"$work/table"
mkdir -p knowledge/commands
mv "$work/table" "knowledge/commands/$version.toml"
