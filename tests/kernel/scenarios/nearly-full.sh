# Small files written to a dataset whose quota leaves next to nothing; the control has room.
# expect: near-full-txg-throttle
# remedy: choice=2
setup() {
    pool -O recordsize=16K
    must zwhy-load write /tank/ballast size=200M
    must zpool sync tank
    if [ "$1" = fault ]; then
        used=$(zfs get -Hp -o value used tank)
        must zfs set quota=$((used + 3000000)) tank
    fi
}
load() { while :; do zwhy-load files /tank/small count=100 size=16K block=16K seconds=600; done; }
