# Records written to a nearly full pool whose free space is in pieces of 16 KiB, so that none fits in
# one piece; the control has as much data, without holes.
# expect: gang-blocks-on-fragmented-pool
setup() {
    # One disk can be filled in this time.
    layout=${disks%% *}
    # The records of a transaction group are written at once, however slow the machine.
    parameter zfs_txg_timeout 1
    # A pool as small as this is short of room for 24 times what is written, which a large one is not.
    parameter spa_asize_inflation 4
    pool -O recordsize=16K
    must zwhy-load write /tank/old size=1400M block=1M
    must zpool sync tank
    if [ "$1" = fault ]; then
        # Each record that is written again leaves a hole where it was.
        must zwhy-load write /tank/old size=1400M block=16K stride=32K
        must zpool sync tank
    fi
    # The rest is filled, but for the room of the holes.
    must zfs create -o recordsize=128K tank/rest
    free=$(zpool get -Hp -o value free tank)
    must zwhy-load write /tank/rest/ballast size=$((free / 1048576 - 700))M block=1M
    must zpool sync tank
}
load() { zwhy-load write /tank/rest/new size=24M seconds=600; }
