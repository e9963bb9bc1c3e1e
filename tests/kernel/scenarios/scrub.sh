# A scrub keeps the disks busy that a program reads from; the control has no scrub.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: scrub
# says: tank
setup() {
    background=$1
    layout=$(disk 6)
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
