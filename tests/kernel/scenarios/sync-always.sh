# A dataset has sync=always, so each plain write waits for the disk; the control has sync=standard.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: sync=always
# says: tank/db
# spares: waits for | held back
setup() {
    layout=$(disk 8)
    pool
    must zfs create -o recordsize=8K tank/db
    must zwhy-load write /tank/db/file block=8K size=8M
    must zpool sync tank
    if [ "$1" = fault ]; then must zfs set sync=always tank/db; fi
}
record=--off-cpu
load() { zwhy-load write /tank/db/file block=8K size=8M random=1 rate=60 seconds=600; }
