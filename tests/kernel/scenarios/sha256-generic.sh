# SHA-256 checksums by portable C; the control is fletcher4.
# expect: checksum-sha256-cpu
# remedy: commands
setup() {
    if [ "$1" = fault ]; then
        parameter zfs_sha256_impl generic
        pool -O checksum=sha256 -O primarycache=metadata
    else
        pool -O primarycache=metadata
    fi
    must zwhy-load write /tank/file size=32M
}
# Blocks that are there keep their checksum until they are written again.
renew() { must zwhy-load write /tank/file size=32M; }
load() { zwhy-load read /tank/file size=32M seconds=600; }
