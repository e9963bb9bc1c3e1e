#!/usr/bin/env bash
# Writes knowledge/parameters/VERSION.toml: the defaults of OpenZFS's module parameters, read from the
# real module in the VM right after it was loaded without any setting.
#
#   scripts/parameter-defaults.sh 2.4|2.3|2.1
#
# The VM is started twice, with different memory: a value that differs was worked out by the
# module from it and is marked as computed.
set -euo pipefail

cd "$(dirname "$0")/.."
version=${1:?usage: scripts/parameter-defaults.sh 2.4|2.3|2.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/job" <<'JOB'
mkdir -p /out/parameters
for module in spl icp zcommon zfs; do
    for file in /sys/module/$module/parameters/*; do
        [ -r "$file" ] && cat "$file" >"/out/parameters/$(basename "$file")"
    done
done
cat /sys/module/zfs/version >/out/version
uname -r >/out/kernel
JOB
vm/run -m 4096 -v "$version" -o "$work/large" "$work/job"
vm/run -m 1536 -v "$version" -o "$work/small" "$work/job"
python3 scripts/parameter_table.py "$version" "$work/large" "$work/small" >"$work/table"
mkdir -p knowledge/parameters
mv "$work/table" "knowledge/parameters/$version.toml"
