# Cold reads whose fletcher4 checksums are computed without vector code; the control uses the fastest.
# expect: simd-slow-implementation-selected
# remedy: commands
# gain: not here, without hardware virtualisation vector code is emulated and no faster
setup() {
    if [ "$1" = fault ]; then parameter zfs_fletcher_4_impl scalar; fi
    pool -O primarycache=metadata -O recordsize=1M
    must zwhy-load write /tank/file size=32M
}
load() { zwhy-load read /tank/file block=1M size=32M seconds=600; }
