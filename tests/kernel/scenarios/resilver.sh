# A new side of a mirror is being filled from the other, which a program reads; the control has both sides filled.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: resilver
# says: tank
setup() {
    background=$1
    layout=$(disk 6)
    pool
    must zwhy-load write /tank/file size=96M
    must zwhy-load write /tank/other size=32M
    if [ "$1" = control ]; then
        must zpool attach -w tank "$(disk 6)" "$(disk 0)"
    fi
    cold
}
record=--off-cpu
load() {
    zwhy-load read /tank/other size=32M random=1 rate=8 seconds=600 &
    while [ "$background" = fault ]; do
        zpool attach -w tank "$(disk 6)" "$(disk 0)"
        counted 1
        zpool detach tank "$(disk 0)"
    done
    wait
}
reset() {
    killall -q zpool zfs
}
