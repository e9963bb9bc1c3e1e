# A program calls fsync after each write, on a disk of 50 writes a second; the control writes without fsync.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: zwhy-load
# says: fsync | commits | synchronous
# says: nvme8n1 | tank
# spares: waits for | held back
setup() {
    if [ "$1" = fault ]; then sync=1; else sync=0; fi
    layout=$(disk 8)
    pool -O recordsize=8K
    must zwhy-load write /tank/file block=8K size=8M
    must zpool sync tank
}
record=--off-cpu
load() {
    for writer in 1 2 3; do
        zwhy-load write /tank/file block=8K size=8M random=1 seed=$writer sync=$sync rate=50 seconds=600 &
    done
    wait
}
