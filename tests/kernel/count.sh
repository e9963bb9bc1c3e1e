#!/bin/sh
# Counts functions of the real module in the VM, below a caller and per call of one. Run by
#   vm/run -f target/release/zwhy tests/kernel/count.sh
set -eu
zwhy=$(dirname "$0")/zwhy
fail() { echo "FAILED: $*"; exit 1; }

zpool create -O mountpoint=/tank -O compression=off tank /dev/nvme0n1p1

# One fsync of a file is one zil_commit of zpl_fsync or zfs_fsync.
"$zwhy" count zfs:zil_commit --per zfs_fsync --json -o /tmp/fsync.zwhy -- \
    sh -c 'for i in 1 2 3 4 5; do dd if=/dev/zero of=/tank/f bs=4k count=1 conv=fsync 2>/dev/null; done' >/tmp/fsync.json
cat /tmp/fsync.json
grep -q '"caller_calls": 5' /tmp/fsync.json || fail "five calls of zfs_fsync"
grep -q '"lost": 0' /tmp/fsync.json || fail "nothing lost"
"$zwhy" export /tmp/fsync.zwhy | grep -q 'zfs_fsync;zil_commit' || fail "the caller is the next frame"

# Reads of a dataset reach arc_read below dmu_buf_hold_array_by_dnode.
dd if=/dev/zero of=/tank/data bs=128k count=64 2>/dev/null
zpool export tank && zpool import -d /dev tank
"$zwhy" count arc_read --under 'dmu_buf_hold_array*' -- dd if=/tank/data of=/dev/null bs=128k >/tmp/read.txt
cat /tmp/read.txt
grep -q '^under dmu_buf_hold_array' /tmp/read.txt || fail "calls below the caller"
grep -q 'dbuf_read' /tmp/read.txt || fail "callers have names"

"$zwhy" count zio_raed -d 1 2>/tmp/unknown.txt && fail "an unknown function"
grep -q 'did you mean zio_read' /tmp/unknown.txt || fail "a near name is offered"

"$zwhy" count 'zfs:*' -d 1 2>/tmp/many.txt && fail "too many functions"
grep -q 'be more specific' /tmp/many.txt || fail "the number of functions is bounded"
echo "count: ok"
