# Snapshots listed with all their properties, over and over; the control lists their names.
# expect: zfs-list-per-snapshot-properties|objset-open-per-snapshot
setup() {
    if [ "$1" = fault ]; then columns=all; else columns=name; fi
    pool
    for dataset in 0 1 2 3 4 5 6 7 8 9; do must zfs create tank/d$dataset; done
    snapshot=0
    while [ $snapshot -lt 10 ]; do
        must zfs snapshot -r tank@$snapshot
        snapshot=$((snapshot + 1))
    done
}
load() {
    while :; do
        zfs list -H -r -t snapshot -o $columns tank >/dev/null
        counted 110
    done
}
