# Files of small deduplicated blocks removed while their table is not in memory; the control has no dedup.
# expect: dedup-free-zio-storm|free-threads-ddt-lookup|ddt-global-lock
setup() {
    arc_limit 67108864
    if [ "$1" = fault ]; then dedup=on; else dedup=off; fi
    pool -O recordsize=4K -O dedup=$dedup
    for file in 1 2 3 4 5 6; do must zwhy-load write /tank/file$file block=4K size=12M; done
    cold
}
load() {
    sleep 3
    for file in 1 2 3 4 5 6; do
        rm /tank/file$file
        zpool sync tank
        counted 3072
    done
}
