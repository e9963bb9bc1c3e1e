# HPET as clock while ZFS does many small reads; the control has the time stamp counter.
# expect: slow-clocksource
# both: prefetch-useless-random
# remedy: commands
setup() {
    clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
    if [ "$1" = fault ]; then echo hpet >$clock; else echo tsc >$clock; fi
    pool -O recordsize=4K -O primarycache=metadata
    must zwhy-load write /tank/file size=16M
}
load() { zwhy-load read /tank/file block=4K size=16M random=1 seconds=600; }
reset() { echo tsc >$clock; }
