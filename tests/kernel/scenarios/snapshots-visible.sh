# A search of all files enters the folders of snapshots, which are mounted for it; in the control they are hidden.
# expect: snapshot-automount-explosion
# remedy: choice=1
setup() {
    if [ "$1" = fault ]; then visible=visible; else visible=hidden; fi
    # The kernel starts `mount` by this name.
    mkdir -p /usr/bin
    ln -sf /bin/busybox /usr/bin/env
    parameter zfs_expire_snapshot 1
    pool -O snapdir=$visible
    must zwhy-load files /tank/small count=10 size=512 block=512
    for snapshot in 0 1 2 3 4 5 6 7 8 9; do must zfs snapshot tank@$snapshot; done
}
record=--off-cpu
load() {
    while :; do
        find /tank >/dev/null
        counted 1
        sleep 1
    done
}
# What is mounted goes after a second.
renew() { sleep 5; }
reset() { sleep 5; }
