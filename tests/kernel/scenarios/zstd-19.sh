# Text written with zstd-19; the control is lz4.
# expect: compression-zstd-level-cpu
# remedy: choice=1
setup() {
    if [ "$1" = fault ]; then pool -O compression=zstd-19; else pool -O compression=lz4; fi
}
load() { zwhy-load write /tank/file size=4M data=text seconds=600; }
