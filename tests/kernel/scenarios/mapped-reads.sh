# Reads of a file that is also mapped, for it is a program that runs; the control reads a copy of it.
# expect: mappedread-page-sized-reads
setup() {
    pool
    must cp /bin/busybox /tank/sleep
    must cp /bin/busybox /tank/copy
    if [ "$1" = fault ]; then file=sleep; else file=copy; fi
    /tank/sleep 100000 &
    sleeper=$!
}
load() { zwhy-load read /tank/$file block=512K size=512K seconds=600; }
reset() {
    kill $sleeper
    wait $sleeper 2>/dev/null
}
