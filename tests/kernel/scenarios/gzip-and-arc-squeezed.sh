# A program writes with gzip-9 while another holds the memory that a reader's ARC had; the control has lz4 and its memory.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: gzip
# says: memory | ARC
setup() {
    layout=$(disk 6)
    if [ "$1" = fault ]; then compression=gzip-9; else compression=lz4; fi
    pool
    must zfs create -o compression=$compression tank/logs
    must zwhy-load write /tank/file size=448M
    if [ "$1" = fault ]; then hog 300; fi
}
record=--off-cpu
load() {
    zwhy-load read /tank/file size=448M random=1 rate=60 seconds=600 &
    zwhy-load write /tank/logs/file size=64M data=text rate=100 seconds=600 &
    wait
}
