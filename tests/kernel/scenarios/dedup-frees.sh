# Small deduplicated blocks freed with a table that the ARC does not hold; the control has no dedup.
# expect: dedup-free-zio-storm|free-threads-ddt-lookup|ddt-global-lock
setup() {
    arc_limit 67108864
    if [ "$1" = fault ]; then dedup=on; else dedup=off; fi
    pool -O recordsize=4K -O dedup=$dedup
    must zwhy-load write /tank/file block=4K size=48M
    must zpool sync tank
}
load() { zwhy-load write /tank/file block=4K size=48M random=1 seconds=600; }
