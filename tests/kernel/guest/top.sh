# Runs in the VM: zwhy top while each scenario named goes on, and beside the tools of OpenZFS while something is written
# and read.
. /job/lib.sh
. /job/scenario.sh
try_limit=240

# look SCENARIO: what it says of the fault, and from when to when it looked.
look() {
    prepare "$1" fault
    load >"/out/$1.load.log" 2>&1 &
    look_load=$!
    sleep 2
    try "$1" sh -c "cut -d' ' -f1 /proc/uptime; zwhy top --once --json >/out/$1.json; cut -d' ' -f1 /proc/uptime"
    kill $look_load 2>/dev/null
    killall -q zwhy-load
    wait $look_load 2>/dev/null
    leave
}

# counters NAME: what the kernel has counted by now.
counters() {
    cat /proc/spl/kstat/zfs/arcstats >"/out/arcstats.$1"
    cat /proc/spl/kstat/zfs/zfetchstats >"/out/zfetchstats.$1"
    cat /proc/diskstats >"/out/diskstats.$1"
    zpool iostat -Hpvw >"/out/latency.$1"
}

# latencies NUMBER: waits until zwhy has told so many times how long requests took, or as long as a report may take.
latencies() {
    latencies_left=240
    while [ "$(grep -c '"latency":\[' /out/beside.json)" -lt "$1" ] && [ $latencies_left -gt 0 ]; do
        sleep 1
        latencies_left=$((latencies_left - 1))
    done
}

# beside: at its begin and at its end the pool rests, so that all see the same growth of each counter, whenever they look.
beside() {
    pool -O primarycache=metadata
    zpool sync tank
    sleep 6
    touch /out/beside.json
    begin beside sh -c 'exec zwhy top --json --latency >/out/beside.json'
    latencies 3
    counters before
    wc -l </out/beside.json >/out/beside.lines
    zpool iostat -Hpy tank 40 1 >/out/beside.iostat &
    beside_iostat=$!
    sleep 1
    cut -d' ' -f1 /proc/uptime >/out/beside.load
    zwhy-load write /tank/file size=48M
    zpool sync tank
    zwhy-load read /tank/file size=48M
    zpool sync tank
    cut -d' ' -f1 /proc/uptime >>/out/beside.load
    wait $beside_iostat
    counters after
    sleep 3
    wc -l </out/beside.json >/out/beside.until
    # Nothing was asked of the pool for a while: whatever comes has all of it.
    latencies $(($(grep -c '"latency":\[' /out/beside.json) + 1))
    finish beside
    leave
}

cat /sys/devices/system/clocksource/clocksource0/available_clocksource >/out/clocks
for name in "$@"; do look "$name"; done
beside
exit 0
