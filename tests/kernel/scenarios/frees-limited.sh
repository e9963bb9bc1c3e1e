# Files are cut to nothing while a transaction group takes few frees; the control has the usual limit.
# expect: zvol-discard-txg-throttle
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter zfs_per_txg_dirty_frees_percent 1; fi
    pool -O recordsize=4K
}
record=--off-cpu
# One block in the reach of each indirect block. The pause keeps the control below its limit, too.
load() {
    while :; do
        for file in 1 2 3 4; do zwhy-load write /tank/file$file block=4K stride=4M size=256M; done
        for file in 1 2 3 4; do : >/tank/file$file; done
        counted 4
        sleep 3
    done
}
