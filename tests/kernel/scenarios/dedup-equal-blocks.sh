# A file of equal blocks, all one block by dedup, read through a dbuf cache; the control keeps them apart.
# expect: arc-buf-list-dedup-linear
# remedy: commands
setup() {
    parameter zfs_arc_min 536870912
    if [ "$1" = fault ]; then dedup=on; else dedup=off; fi
    pool -O recordsize=4K -O dedup=$dedup
    renew
}
# Blocks that are there stay as they were written. Those in memory are one block only once they were read.
renew() {
    must zwhy-load write /tank/file size=64M data=zero
    must zpool sync tank
    must zwhy-load read /tank/file size=64M
}
load() { zwhy-load read /tank/file block=4K size=64M random=1 seconds=600; }
