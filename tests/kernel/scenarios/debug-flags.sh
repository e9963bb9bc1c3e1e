# Checks of zfs_flags for frees, histograms, metaslabs and errors (64, 128, 256, 512); the control has none.
# expect: debug-flags-on
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter zfs_flags 960; fi
    pool
    must zwhy-load write /tank/file size=4M
}
# Each write asks for an attribute (security.capability) that files do not have: an error to be logged.
load() { zwhy-load write /tank/file block=512 size=4M random=1 seconds=600; }
