# Text written with gzip-9; the control is lz4.
# expect: compression-gzip-cpu
# remedy: commands
setup() {
    if [ "$1" = fault ]; then pool -O compression=gzip-9; else pool -O compression=lz4; fi
}
load() { zwhy-load write /tank/file size=64M data=text seconds=600; }
