# 16 KiB reads of compressed records of 1 MiB with primarycache=none: each reads and unpacks a whole record; the control caches.
# says: primarycache
# says: zwhy-load | tank
setup() {
    if [ "$1" = fault ]; then cache=none; else cache=all; fi
    pool -O recordsize=1M -O compression=zstd -O primarycache=$cache
    must zwhy-load write /tank/file block=1M size=2M data=text
    must zpool sync tank
}
record=--off-cpu
load() { zwhy-load read /tank/file block=16K size=2M random=1 seconds=600; }
