# Random reads through more indirect blocks than a dbuf cache of 256 KiB holds; in the control they fit.
# expect: dbuf-cache-too-small-indirect-decompress
# remedy: commands
setup() {
    # As large as on a host that has been up for a while: the dbuf cache is a part of it.
    parameter zfs_arc_min 2147483648
    if [ "$1" = fault ]; then parameter dbuf_cache_max_bytes 262144; fi
    pool -O recordsize=4K
    # One block in the reach of each indirect block.
    must zwhy-load write /tank/file block=4K stride=4M size=1G
    must zpool sync tank
}
load() { zwhy-load read /tank/file block=4K stride=4M size=1G random=1 seconds=600; }
