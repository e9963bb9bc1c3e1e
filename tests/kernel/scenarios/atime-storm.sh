# Small files read over and over while each read stamps its time; the control has atime=off.
# expect: atime-on-every-read
# remedy: commands
setup() {
    pool -O recordsize=4K
    if [ "$1" = fault ]; then must zfs set atime=on relatime=off tank; fi
    must zwhy-load files /tank/small count=300 size=4K block=4K
    must zpool sync tank
}
load() { zwhy-load files /tank/small count=300 size=4K block=4K do=read seconds=600; }
