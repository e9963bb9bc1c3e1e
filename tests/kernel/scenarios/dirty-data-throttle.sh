# A program writes faster than a disk of 4 MB/s takes it, so ZFS holds its writes back; the control has a fast disk.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: zwhy-load
# says: dirty data | held back | throttle | delays
# says: nvme9n1 | tank
# spares: waits for | held back
setup() {
    if [ "$1" = fault ]; then layout=$(disk 9); else layout=$(disk 0); fi
    parameter zfs_dirty_data_max 33554432
    pool
}
record=--off-cpu
load() { zwhy-load write /tank/file size=256M rate=80 seconds=600; }
