# One of the three disks of a RAID-Z1 does 10 reads a second, and most records have a part on it; the control has equal disks.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# expect: one-slow-disk
# says: nvme7n1
# says: slower than | slowest | than the other
setup() {
    if [ "$1" = fault ]; then last=$(disk 7); else last=$(disk 2); fi
    layout="raidz1 $(disk 0) $(disk 1) $last"
    pool
    must zwhy-load write /tank/file size=128M
    cold
}
record=--off-cpu
load() {
    for reader in 1 2 3 4 5 6; do
        zwhy-load read /tank/file size=128M random=1 seed=$reader rate=10 seconds=600 &
    done
    wait
}
