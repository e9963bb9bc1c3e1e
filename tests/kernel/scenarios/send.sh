# A `zfs send` keeps the disks busy that a program reads from; the control sends nothing.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: send
# says: tank
setup() {
    background=$1
    layout=$(disk 6)
    pool
    must zfs create tank/data
    must zwhy-load write /tank/data/file size=160M
    must zwhy-load write /tank/other size=32M
    must zfs snapshot tank/data@backup
    cold
}
record=--off-cpu
load() {
    zwhy-load read /tank/other size=32M random=1 rate=8 seconds=600 &
    while [ "$background" = fault ]; do
        zfs send tank/data@backup >/dev/null
        counted 1
    done
    wait
}
reset() {
    killall -q zpool zfs
}
