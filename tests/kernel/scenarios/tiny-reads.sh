# A file in memory is read in pieces of 16 bytes; the control reads whole blocks.
# expect: rangelock-overhead-small-io
setup() {
    if [ "$1" = fault ]; then block=16; else block=128K; fi
    pool
    must zwhy-load write /tank/file size=1M
}
load() { zwhy-load read /tank/file block=$block size=1M seconds=600; }
