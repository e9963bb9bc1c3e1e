# A working set that the ARC holds under a dbuf cache of 2 MiB; in the control it fits in both.
# expect: dbuf-cache-too-small
# remedy: commands
setup() {
    # As large as on a host that has been up for a while: the dbuf cache is a part of it.
    parameter zfs_arc_min 2147483648
    if [ "$1" = fault ]; then parameter dbuf_cache_max_bytes 2097152; fi
    pool -O compression=lz4 -O recordsize=16K
    must zwhy-load write /tank/file size=32M data=text
    zwhy-load read /tank/file block=16K size=32M
}
load() { zwhy-load read /tank/file block=16K size=32M random=1 seconds=600; }
