# Small writes, each made safe by fsync, to a pool without a log device; the control has one.
# expect: zil-sync-writes-without-log-device
# remedy: choice=1 DEVICE=/dev/nvme4n1p1
setup() {
    log=${disks##* }
    layout=${disks% *}
    pool -O recordsize=4K
    if [ "$1" = control ]; then must zpool add -f tank log "$log"; fi
    must zwhy-load write /tank/file block=4K size=8M
    must zpool sync tank
}
record=--wait
load() { zwhy-load write /tank/file block=4K size=8M random=1 sync=1 seconds=600; }
