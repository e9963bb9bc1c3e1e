# A file of many indirect blocks removed while each transaction group may free little; the control may free all.
# expect: zvol-discard-txg-throttle
# remedy: commands
record=--off-cpu
setup() {
    parameter zfs_dirty_data_max 67108864
    if [ "$1" = fault ]; then limit=1; else limit=100; fi
    parameter zfs_per_txg_dirty_frees_percent $limit
    pool -O recordsize=4K
}
# One block in the reach of each indirect block.
load() {
    while :; do
        zwhy-load write /tank/file block=4K stride=4M size=2G
        zpool sync tank
        rm /tank/file
        counted 512
    done
}
