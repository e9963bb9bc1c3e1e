# Metaslabs are unloaded as soon as a transaction group did without them; in the control they stay for a while.
# expect: metaslab-load-unload-thrash
# remedy: commands
setup() {
    if [ "$1" = fault ]; then
        parameter metaslab_unload_delay 0
        parameter metaslab_unload_delay_ms 0
        # Else the one that is allocated from stays.
        parameter metaslab_preload_enabled 0
    fi
    parameter zfs_txg_timeout 1
    # Two metaslabs, so that the one with the holes is not left for an empty one.
    parameter zfs_vdev_min_ms_count 1
    parameter zfs_vdev_default_ms_shift 31
    layout=${disks%% *}
    pool -O recordsize=4K
    must zwhy-load write /tank/old block=128K size=96M
    must zpool sync tank
    # Each record that is written again leaves a hole where it was.
    must zwhy-load write /tank/old block=4K stride=8K size=96M
    must zpool sync tank
}
# With transaction groups in between that write nothing.
load() {
    while :; do
        zwhy-load write /tank/old block=4K stride=8M size=96M
        sleep 3
    done
}
