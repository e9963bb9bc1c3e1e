# The prefetcher reads on behind pairs of reads at random places; the control reads in sequence.
# expect: prefetch-useless-random
# remedy: commands
setup() {
    if [ "$1" = fault ]; then order='burst=2 stride=256K random=1'; else order=; fi
    # By default few places of a file are taken for streams, and what is read near one for a part of it.
    parameter zfetch_max_streams 500
    parameter zfetch_max_distance 262144
    parameter zfetch_max_reorder 0
    pool -O recordsize=8K
    must zwhy-load write /tank/file block=1M size=192M
    renew
}
renew() { cold; }
# Slow enough that not all of the file is in memory before the recording is over.
load() {
    # shellcheck disable=SC2086
    zwhy-load read /tank/file block=64K size=192M $order pause=2 seconds=600
}
