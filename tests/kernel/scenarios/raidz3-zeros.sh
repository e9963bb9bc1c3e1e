# Zeros written to RAID-Z3 with compression off, so that parity is computed for them; the control has lz4.
# expect: raidz-parity-cpu-zero-data
# remedy: commands
setup() {
    if [ "$1" = fault ]; then compression=off; else compression=lz4; fi
    layout="raidz3 $disks"
    pool -O recordsize=1M -O compression=$compression
}
load() { zwhy-load write /tank/file block=1M size=64M data=zero seconds=600; }
