# Two neighbouring records read at random places, over and over; in the control the reads are single ones.
# expect: prefetch-useless-random
# remedy: commands
setup() {
    if [ "$1" = fault ]; then burst=2; else burst=1; fi
    pool -O primarycache=metadata -O recordsize=16K
    must zwhy-load write /tank/file size=192M
}
load() { zwhy-load read /tank/file block=16K stride=1M burst=$burst size=192M random=1 seconds=600; }
