# The kernel reclaims by MGLRU while a disk is read through the page cache; the control reads past that cache.
# expect: mglru-arc-overeviction
# remedy: commands
setup() {
    if [ "$1" = fault ]; then past=0; else past=1; fi
    echo 7 >/sys/kernel/mm/lru_gen/enabled
    # What programs hold as huge pages need not be filled by the load.
    echo 1200 >/proc/sys/vm/nr_hugepages
    layout=${disks%% *}
    pool
    must zwhy-load write /tank/file size=96M
    must zwhy-load read /tank/file size=96M
    if [ "$1" = fault ]; then zwhy-load read "${disks##* }" block=1M size=1200M; fi
}
load() {
    zwhy-load read "${disks##* }" block=1M size=4000M direct=$past seconds=600 &
    zwhy-load read /tank/file size=96M random=1 pause=10 seconds=600
}
reset() {
    echo 0 >/proc/sys/vm/nr_hugepages
    echo 0 >/sys/kernel/mm/lru_gen/enabled
}
