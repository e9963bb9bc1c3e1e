# The debug check of every b-tree insertion while space maps change; the control leaves it off.
# expect: debug-btree-verify
# remedy: commands
# Free space in many small pieces makes large trees, and a check walks all of a tree.
setup() {
    if [ "$1" = fault ]; then parameter zfs_btree_verify_intensity 5; fi
    parameter zfs_txg_timeout 1
    pool -O recordsize=4K
    must zwhy-load write /tank/file block=4K size=160M
}
load() { zwhy-load write /tank/file block=4K size=160M random=1 seconds=600; }
