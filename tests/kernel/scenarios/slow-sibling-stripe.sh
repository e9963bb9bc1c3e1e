# One of five striped disks does 10 reads a second, the others thousands; the control has five equal disks.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# expect: one-slow-disk
# says: nvme7n1
# says: slower than | slowest | than the other
setup() {
    if [ "$1" = fault ]; then last=$(disk 7); else last=$(disk 4); fi
    layout="$(disk 0) $(disk 1) $(disk 2) $(disk 3) $last"
    pool -O recordsize=32K
    must zwhy-load write /tank/file size=160M
    cold
}
record=--off-cpu
load() {
    for reader in 1 2 3 4; do
        zwhy-load read /tank/file block=32K size=160M random=1 seed=$reader rate=25 seconds=600 &
    done
    wait
}
