# ZFS sends one read at a time to a fast disk that sixteen readers wait for; the control has the usual ten.
# expect: vdev-queue-depth-limit
# remedy: commands
# says: zwhy-load | nvme0n1
# says: max_active
setup() {
    layout=$(disk 0)
    pool -O recordsize=16K -O compression=off -O checksum=off -O primarycache=metadata
    must zwhy-load write /tank/file block=128K size=256M
    if [ "$1" = fault ]; then
        parameter zfs_vdev_sync_read_min_active 1
        parameter zfs_vdev_sync_read_max_active 1
    fi
    cold
}
# Snapshots of queues say little one by one.
interval=1
record=--off-cpu
load() {
    for reader in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        zwhy-load read /tank/file block=16K size=256M random=1 seed=$reader rate=400 seconds=600 &
    done
    wait
}
