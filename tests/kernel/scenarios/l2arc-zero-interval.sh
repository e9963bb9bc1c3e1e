# The L2ARC feed thread without a pause; the control has the usual second.
# expect: l2arc-feed-zero-interval
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter l2arc_feed_secs 0; fi
    layout=${disks%% *}
    # Nothing is kept to be read from memory, which would be eviction from the dbuf cache.
    pool -O primarycache=metadata
    must zpool add -f tank cache "${disks##* }"
    must zwhy-load write /tank/file size=32M
}
load() { zwhy-load read /tank/file size=32M seconds=600; }
