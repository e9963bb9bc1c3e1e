# A program's control group may use a fifth of one CPU; the control's has no limit.
# says: cpu.max | control group | cgroup
# says: batch | zwhy-load
setup() {
    if [ "$1" = fault ]; then quota=20000; else quota=max; fi
    pool
    must zwhy-load write /tank/file size=64M
    if [ ! -e /sys/fs/cgroup/cgroup.procs ]; then must mount -t cgroup2 none /sys/fs/cgroup; fi
    echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
    mkdir -p /sys/fs/cgroup/batch
    echo "$quota 100000" >/sys/fs/cgroup/batch/cpu.max
}
record=--off-cpu
load() {
    # shellcheck disable=SC2016
    sh -c 'echo $$ >/sys/fs/cgroup/batch/cgroup.procs; exec zwhy-load read /tank/file size=64M random=1 seconds=600'
}
