# HPET as clock while ZFS does many small reads; the control has the time stamp counter.
# expect: slow-clocksource
# remedy: commands
setup() {
    clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
    if [ "$1" = fault ]; then echo hpet >$clock; else echo tsc >$clock; fi
    # What random reads prefetch here is thrown away, which is another cause.
    parameter zfs_prefetch_disable 1
    pool -O recordsize=4K -O primarycache=metadata
    must zwhy-load write /tank/file size=16M
}
load() { zwhy-load read /tank/file block=4K size=16M random=1 seconds=600; }
reset() { echo tsc >$clock; }
