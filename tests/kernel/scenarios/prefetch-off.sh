# Sequential cold reads with prefetch switched off; the control leaves it on.
# expect: prefetch-switched-off
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter zfs_prefetch_disable 1; fi
    pool -O primarycache=metadata
    must zwhy-load write /tank/file size=64M
}
load() { zwhy-load read /tank/file size=64M seconds=600; }
