# A trim of all free space runs beside reads; the control has no trim.
# says: trim
# says: tank
setup() {
    background=$1
    # Small pieces, as the disks of a test are.
    parameter zfs_trim_extent_bytes_max 1048576
    pool
    must zwhy-load write /tank/other size=48M
    cold
}
record=--off-cpu
load() {
    zwhy-load read /tank/other size=48M random=1 rate=10 seconds=600 &
    while [ "$background" = fault ]; do
        zpool trim -w tank
        counted 1
    done
    wait
}
reset() {
    killall -q zpool zfs
    zpool trim -c tank 2>/dev/null
}
