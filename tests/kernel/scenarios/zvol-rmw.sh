# 4 KiB writes to a volume with blocks of 64 KiB: each reads the block first and writes all of it; the control writes whole blocks.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: tank/vol
# says: 64 KiB | 64K | whole block | volblocksize
setup() {
    if [ "$1" = fault ]; then block=4K; else block=64K; fi
    layout=$(disk 6)
    pool
    must zfs create -V 64M -o volblocksize=64K tank/vol
    volume
    must zwhy-load write "$vol" block=1M size=64M direct=1
    cold
    volume
}
# volume: its device, which comes a moment after it.
volume() {
    volume_tries=100
    while ! ls /dev/zd*[0-9] >/dev/null 2>&1 && [ $volume_tries -gt 0 ]; do
        sleep 0.2
        volume_tries=$((volume_tries - 1))
    done
    vol=$(ls /dev/zd* | grep -v p | head -n 1)
}
record=--off-cpu
load() { zwhy-load write "$vol" block=$block size=64M random=1 direct=1 seconds=600; }
