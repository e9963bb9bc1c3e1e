# Every buffer of the ARC is linear, for scatter buffers are switched off; in the control they are on.
# expect: abd-linear-slab-fragmentation
# remedy: choice=1
setup() {
    if [ "$1" = fault ]; then parameter zfs_abd_scatter_enabled 0; fi
    pool -O recordsize=1M
    must zwhy-load write /tank/file block=1M size=192M
    renew
}
# Buffers that are there stay as they were made.
renew() {
    cold
    must zwhy-load read /tank/file block=1M size=192M
}
load() { zwhy-load read /tank/file block=1M size=192M random=1 pause=20 seconds=600; }
