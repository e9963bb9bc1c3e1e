# Direct reads that begin inside a page, which go by way of the ARC; the control reads whole pages.
# expect: direct-io-misaligned
# remedy: commands
setup() {
    if [ "$1" = fault ]; then shift_by=512; else shift_by=0; fi
    pool -O direct=always
    must zwhy-load write /tank/file size=48M
    must zpool sync tank
}
load() { zwhy-load read /tank/file size=32M shift=$shift_by direct=1 seconds=600; }
