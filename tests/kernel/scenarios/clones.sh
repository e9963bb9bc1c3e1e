# A file of small blocks is cloned and removed over and over; the control copies it.
# expect: brt-table-not-cached
# remedy: commands
setup() {
    arc_limit 67108864
    if [ "$1" = control ]; then parameter zfs_bclone_enabled 0; fi
    parameter zfs_txg_timeout 1
    pool -O recordsize=4K
    renew
}
# Clones that are there stay clones until they are removed.
renew() {
    rm -rf /tank/clones
    must zpool sync tank
    must zwhy-load files /tank/clones count=4 size=4M do=copy
    must zpool sync tank
}
load() { zwhy-load files /tank/clones count=4 size=4M do=copy pause=100 seconds=600; }
