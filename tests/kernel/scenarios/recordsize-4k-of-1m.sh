# Random reads of 4 KiB from records of 1 MiB that are not cached; the control reads whole records.
# expect: recordsize-read-amplification
# remedy: commands
setup() {
    pool -O recordsize=1M -O primarycache=metadata
    if [ "$1" = fault ]; then block=4K; else block=1M; fi
    must zwhy-load write /tank/file block=1M size=64M
}
# What was cached stays so, whatever is cached from now on.
renew() { cold; }
load() { zwhy-load read /tank/file block=$block size=64M random=1 seconds=600; }
