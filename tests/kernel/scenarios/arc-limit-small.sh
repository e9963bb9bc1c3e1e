# A working set of 160 MiB under an ARC limit of 64 MiB; the control has room for all of it.
# expect: arc-max-too-small
# remedy: commands
setup() {
    if [ "$1" = fault ]; then arc_limit 67108864; fi
    pool
    must zwhy-load write /tank/file size=160M
    # Until the ARC has settled: its ghost lists have room only when blocks were used twice.
    zwhy-load read /tank/file size=160M random=1 seconds=20
}
load() { zwhy-load read /tank/file size=160M random=1 seconds=600; }
