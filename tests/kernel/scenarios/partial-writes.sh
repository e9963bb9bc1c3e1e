# Writes of 4 KiB into uncached records of 1 MiB; the control writes whole records.
# expect: partial-block-rmw
# remedy: choice=1
setup() {
    # Records that are dirty need no reading: each group of writes shall find most of them on disk.
    parameter zfs_txg_timeout 1
    pool -O recordsize=1M -O primarycache=metadata
    if [ "$1" = fault ]; then block=4K; else block=1M; fi
    must zwhy-load write /tank/file block=1M size=256M
    must zpool sync tank
}
# What was cached stays so, whatever is cached from now on; what is now cached has to be read once.
renew() {
    cold
    must zwhy-load read /tank/file block=1M size=256M
}
load() { zwhy-load write /tank/file block=$block size=256M random=1 seconds=600; }
