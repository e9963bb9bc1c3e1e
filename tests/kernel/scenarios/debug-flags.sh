# Checks of zfs_flags for frees, histograms, metaslabs and errors (64, 128, 256, 512); the control has none.
# expect: debug-flags-on
setup() {
    if [ "$1" = fault ]; then parameter zfs_flags 960; fi
    parameter zfs_txg_timeout 1
    pool -O recordsize=4K
    must zwhy-load files /tank/small count=200 size=16K block=4K
}
load() { zwhy-load files /tank/small count=200 size=16K block=4K seconds=600; }
