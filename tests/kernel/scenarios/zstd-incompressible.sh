# Random data written with zstd-9 by a release that does not give up early; the control is lz4.
# expect: zstd-no-early-abort
# remedy: commands
# zfs: 2.1
setup() {
    if [ "$1" = fault ]; then pool -O compression=zstd-9; else pool -O compression=lz4; fi
    must zwhy-load write /tank/file size=32M
    must zpool sync tank
}
load() { zwhy-load write /tank/file size=32M seconds=600; }
