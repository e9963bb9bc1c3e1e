# The debug check of every b-tree insertion while space maps change; the control leaves it off.
# expect: debug-btree-verify
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter zfs_btree_verify_intensity 4; fi
    parameter zfs_txg_timeout 1
    pool -O recordsize=4K
    must zwhy-load write /tank/file block=4K size=48M
}
load() { zwhy-load write /tank/file block=4K size=48M random=1 seconds=600; }
