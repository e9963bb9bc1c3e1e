# A disk does no more than 40 reads a second, and three programs read at random; the control has a fast disk.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: zwhy-load
# says: nvme5n1
# says: waits for | is the limit | 100 % busy
setup() {
    if [ "$1" = fault ]; then layout=$(disk 5); else layout=$(disk 0); fi
    pool -O recordsize=16K
    must zwhy-load write /tank/file block=128K size=96M
    cold
}
record=--off-cpu
load() {
    for reader in 1 2 3; do
        zwhy-load read /tank/file block=16K size=96M random=1 seed=$reader rate=40 seconds=600 &
    done
    wait
}
