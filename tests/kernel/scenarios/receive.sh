# A `zfs receive` fills a disk of 4 MB/s that a program makes its writes safe on; the control receives nothing.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: receive
# says: tank
setup() {
    background=$1
    layout=$(disk 9)
    # Transaction groups that end within seconds.
    parameter zfs_dirty_data_max 8388608
    pool -O recordsize=16K
    must zfs create tank/data
    must zwhy-load write /tank/data/file size=48M
    must zwhy-load write /tank/other size=8M
    must zfs snapshot tank/data@backup
    cold
}
record=--off-cpu
load() {
    zwhy-load write /tank/other block=16K size=8M random=1 sync=1 rate=10 seconds=600 &
    while [ "$background" = fault ]; do
        zfs send tank/data@backup | zfs receive -F tank/copy
        counted 1
        zfs destroy -r tank/copy
    done
    wait
}
reset() {
    killall -q zpool zfs
}
