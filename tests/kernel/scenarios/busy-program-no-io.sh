# A program computes and asks nothing of ZFS; in the control a program reads.
# says: simulation
# says: idle | not ZFS | ZFS does next to nothing
# spares: lock
setup() {
    busy=$1
    pool
    must zwhy-load write /tank/file size=64M
    cp /job/zwhy-load /run/simulation
}
record=--off-cpu
load() {
    if [ "$busy" = control ]; then zwhy-load read /tank/file size=64M seconds=600; else /run/simulation compute seconds=600; fi
}
reset() { killall -q simulation; }
