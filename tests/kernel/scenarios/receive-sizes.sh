# A stream is received whose files have larger dnodes than those they replace; the control has one size.
# expect: recv-dnode-slot-txg-wait
# both: receive-running
# remedy: commands
setup() {
    if [ "$1" = fault ]; then size=1k; else size=legacy; fi
    pool
    must zfs create tank/source
    must zwhy-load files /tank/source/files count=150 size=512 block=512
    must zfs snapshot tank/source@old
    must sh -c 'zfs send tank/source@old | zfs receive -u tank/copy'
    must zfs set dnodesize=$size tank/source
    renew
}
# New files take the objects of old ones only in a file system that was mounted anew.
renew() {
    # A receive outlives the load.
    while killall -q zfs; do sleep 1; done
    must zfs rollback -r tank/source@old
    rm -r /tank/source/files
    must zpool sync tank
    must zfs unmount tank/source
    must zfs mount tank/source
    must zwhy-load files /tank/source/files count=150 size=512 block=512
    must zwhy-load write /tank/source/files/large size=32M
    must zfs snapshot tank/source@new
    must sh -c 'zfs send -i @old tank/source@new >/run/stream'
}
record=--wait
load() {
    while :; do
        zfs rollback -r tank/copy@old
        zfs receive -u tank/copy </run/stream
        counted 150
    done
}
reset() { while killall -q zfs; do sleep 1; done; }
