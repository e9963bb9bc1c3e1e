# Runs in the VM: the lab's engine pool on the real module, killed at each step of its journal, beside a pool
# of somebody else.
. /job/lib.sh

mine=/dev/nvme0n1p1 other=/dev/nvme1n1p1 journals=/var/lib/zwhy/lab

# state FILE: all that the lab must leave as it was, but for what OpenZFS itself changes.
state() {
    {
        zpool list -Hpo name,guid,health
        zfs list -Hpo name,mounted -r bystander
        sha256sum /bystander/file
        for parameter in zfs_prefetch_disable zfs_arc_max zfs_arc_min; do
            grep -H . "/sys/module/zfs/parameters/$parameter"
        done
        awk '$1 ~ /^c_(min|max)$/ { print $1, $3 }' /proc/spl/kstat/zfs/arcstats
        # What a disk had before: nothing.
        head -c 1M $mine | tr -d '\000' | wc -c
        tail -c 512K $mine | tr -d '\000' | wc -c
        find $journals -mindepth 1 2>/dev/null | wc -l
        find /tmp/scratch* -type f 2>/dev/null | wc -l
        grep -c zwhy-lab /proc/mounts
    } >"$1" 2>&1
}

say "a pool of somebody else"
must zpool create -f -o ashift=12 -O atime=off bystander $other
must zwhy-load write /bystander/file block=128K size=16M
must zpool sync bystander
state /out/before

# shellcheck disable=SC2034 # lib.sh waits so long.
try_limit=500
try files zwhy lab run encryption --engine pool --quick --bytes 24M --scratch /tmp/scratch -o /out/files
try check zwhy lab check /out/files
state /out/after-files

say "on a device, with parameters"
changed="--allow-parameters --set zfs_prefetch_disable=1 --set arc_max=256M"
# shellcheck disable=SC2086
try device zwhy lab run compression --engine pool --device $mine $changed --set compression=lz4,off \
    --quick --bytes 24M --no-record --scratch /tmp/scratch2 -o /out/device
state /out/after-device

say "what is refused"
for what in nvme1n1p1 nvme0n1 nvme9n1p1 zero; do
    try "refused-$what" zwhy lab run checksum --engine pool --quick --bytes 8M --no-record \
        --device "/dev/$what" -o "/tmp/refused-$what"
done
try refused-twice zwhy lab run checksum --engine pool --quick --bytes 8M --no-record --set disks=2 \
    --device $mine --device /dev/../$mine -o /tmp/refused-twice
try refused-parameter zwhy lab run arc-cached-read --engine pool --quick --no-record -o /tmp/refused-parameter
must mkswap $mine >/dev/null
try refused-signature zwhy lab run checksum --engine pool --quick --bytes 8M --no-record --device $mine -o /tmp/refused-signature
must dd if=/dev/zero of=$mine bs=1M count=1 2>/dev/null
state /out/after-refused

# lines: of the journal of the run that is under way.
lines() { cat $journals/*/journal 2>/dev/null | wc -l; }

# killed NAME LINES SECONDS: a run is killed so long after its journal has so many lines, and cleaned up.
killed() {
    # shellcheck disable=SC2086
    zwhy lab run encryption --engine pool --device $mine $changed --quick --bytes 16M --no-record \
        --scratch "/tmp/scratch-$1" -o "/tmp/killed-$1" >/dev/null 2>&1 &
    killed_run=$!
    killed_left=600
    while [ "$(lines)" -lt "$2" ] && [ -d /proc/$killed_run ] && [ $killed_left -gt 0 ]; do
        usleep 20000
        killed_left=$((killed_left - 1))
    done
    sleep "$3"
    echo "$(lines) lines, $(zpool list -Hpo name | grep -c zwhy-lab) pools" >"/out/killed-$1.when"
    kill -9 $killed_run
    wait $killed_run 2>/dev/null
    try "cleanup-$1" zwhy lab cleanup
    state "/out/after-killed-$1"
}

say "killed at each line of the journal, and later"
for at in 1 2 3 4 5 6; do
    killed $at $at 0
done
killed write 6 2
killed reimport 6 5
killed read 6 8

say "a run that was killed goes on"
try resume zwhy lab resume /tmp/killed-write
cp /tmp/killed-write/result.json /out/resumed.json
state /out/after-resume
exit 0
