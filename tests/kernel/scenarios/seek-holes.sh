# A search for holes after each write, which waits for a transaction group; the control does not wait.
# expect: seek-hole-txg-wait
# remedy: commands
record=--off-cpu
setup() {
    if [ "$1" = control ]; then parameter zfs_dmu_offset_next_sync 0; fi
    pool
    must zwhy-load write /tank/file size=32M
}
load() { zwhy-load write /tank/file size=32M holes=1 seconds=600; }
