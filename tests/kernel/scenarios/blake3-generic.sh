# Cold reads whose BLAKE3 checksums are computed by portable C; the control uses the fastest code there is.
# expect: simd-slow-implementation-selected
# remedy: commands
# gain: not here, without hardware virtualisation vector code is emulated and no faster
setup() {
    if [ "$1" = fault ]; then parameter zfs_blake3_impl generic; fi
    pool -O checksum=blake3 -O primarycache=metadata
    must zwhy-load write /tank/file size=32M
}
load() { zwhy-load read /tank/file size=32M seconds=600; }
