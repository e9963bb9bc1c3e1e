# Reads of 512 bytes from memory, each with its range lock; the control reads whole records.
# expect: rangelock-overhead-small-io
setup() {
    if [ "$1" = fault ]; then block=512; else block=128K; fi
    pool
    must zwhy-load write /tank/file size=4M
}
load() { zwhy-load read /tank/file block=$block size=4M seconds=600; }
