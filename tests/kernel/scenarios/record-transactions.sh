# Writes of 1 MiB to records of 4 KiB, each of which is a transaction; the control has records of 128 KiB.
# expect: per-record-transaction-overhead
# remedy: commands
# zfs: 2.1
setup() {
    if [ "$1" = fault ]; then recordsize=4K; else recordsize=128K; fi
    pool -O recordsize=$recordsize
    # A file that is rewritten in memory, so that little of the time goes to the disks.
    parameter zfs_txg_timeout 3
    must zwhy-load write /tank/file block=1M size=16M
}
# The size of records belongs to the file.
renew() {
    must rm /tank/file
    must zwhy-load write /tank/file block=1M size=16M
}
load() { zwhy-load write /tank/file block=1M size=16M seconds=600; }
