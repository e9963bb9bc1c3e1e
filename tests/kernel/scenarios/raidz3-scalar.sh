# RAID-Z3 parity without vector code; the control computes it with the fastest there is.
# expect: simd-slow-implementation-selected
# remedy: commands
# gain: not here, without hardware virtualisation vector code is emulated and no faster
setup() {
    if [ "$1" = fault ]; then parameter zfs_vdev_raidz_impl scalar; fi
    layout="raidz3 $disks"
    pool -O recordsize=1M
}
load() { zwhy-load write /tank/file block=1M size=64M seconds=600; }
