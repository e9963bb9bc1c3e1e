# A scrub runs, and one disk does 10 reads a second; the control has equal disks and no scrub.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: scrub
# says: nvme7n1
setup() {
    background=$1
    if [ "$1" = fault ]; then last=$(disk 7); else last=$(disk 2); fi
    layout="$(disk 0) $(disk 1) $last"
    pool
    must zwhy-load write /tank/file size=96M
    must zwhy-load write /tank/other size=32M
    cold
}
record=--off-cpu
load() {
    zwhy-load read /tank/other size=32M random=1 rate=8 seconds=600 &
    while [ "$background" = fault ]; do
        zpool scrub -w tank
        counted 1
    done
    wait
}
reset() {
    killall -q zpool zfs
    zpool scrub -s tank 2>/dev/null
}
