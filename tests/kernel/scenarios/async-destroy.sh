# A destroyed dataset of small blocks is freed in the background, group by group; the control destroyed nothing.
# says: destroy | freeing | being freed
# says: tank
setup() {
    background=$1
    parameter zfs_async_block_max_blocks 50
    pool
    must zfs create -o recordsize=4K tank/old
    must zwhy-load write /tank/other size=32M
    must zwhy-load write /tank/old/file block=128K size=128M
    cold
}
record=--off-cpu
load() {
    zwhy-load write /tank/other size=32M random=1 rate=10 seconds=600 &
    if [ "$background" = fault ]; then zfs destroy tank/old; fi
    wait
}
