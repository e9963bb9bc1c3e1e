# Nothing is wrong and nothing runs; in the control a program reads.
# says: ZFS is idle
# spares: lock
setup() {
    busy=$1
    pool
    must zwhy-load write /tank/file size=64M
}
record=--off-cpu
load() {
    if [ "$busy" = control ]; then zwhy-load read /tank/file size=64M seconds=600; else sleep 600; fi
}
