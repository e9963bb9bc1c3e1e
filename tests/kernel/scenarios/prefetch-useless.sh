# A program reads 1 MiB at random places of a file, and ZFS reads ahead 4 MiB that nobody wants; the control reads all of the file in order.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: prefetch | read ahead | reads ahead
# says: zwhy-load | tank
setup() {
    if [ "$1" = fault ]; then pattern='stride=6M burst=8 random=1'; else pattern=; fi
    layout=$(disk 6)
    pool
    must zwhy-load write /tank/file size=256M
    cold
}
record=--off-cpu
# shellcheck disable=SC2086
load() { zwhy-load read /tank/file size=256M $pattern seconds=600; }
