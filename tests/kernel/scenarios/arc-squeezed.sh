# A program holds the memory that the ARC had, so reads go to a slow disk; the control leaves the memory alone.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: memory
# says: hog
# says: ARC | cache
setup() {
    layout=$(disk 6)
    pool
    must zwhy-load write /tank/file size=448M
    if [ "$1" = fault ]; then hog 300; fi
}
record=--off-cpu
load() { zwhy-load read /tank/file size=448M random=1 rate=60 seconds=600; }
