# Eight programs read at random from two disks of 40 reads a second and of 4 MB/s, which are busy all the time; the control has fast disks.
# machine: 5:iops-read=40 6:bps-read=4M 7:iops-read=10 8:iops-write=50 9:bps-write=4M
# says: zwhy-load
# says: nvme5n1 | nvme6n1 | disks of tank | all disks
# says: busy | saturated | at their limit | waits for
setup() {
    if [ "$1" = fault ]; then layout="$(disk 5) $(disk 6)"; else layout="$(disk 0) $(disk 1)"; fi
    pool
    must zwhy-load write /tank/file size=384M
    cold
}
record=--off-cpu
load() {
    for reader in 1 2 3 4 5 6 7 8; do
        zwhy-load read /tank/file size=384M random=1 seed=$reader rate=15 seconds=600 &
    done
    wait
}
