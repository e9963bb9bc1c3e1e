#!/bin/sh
# What zwhy explains of a Linux host where nothing may be installed. Needs only sh and the tools of the system; changes
# nothing. As root it sees more:  sh linux-minimal.sh > host.txt   then elsewhere:  zwhy explain host.txt
LC_ALL=C
PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/run/current-system/sw/bin
export LC_ALL PATH
. ./limited.sh

# Prints files with their names, as tail does.
show() {
    for file in "$@"; do
        [ -r "$file" ] || continue
        printf '\n==> %s <==\n' "$file"
        cat "$file" 2>/dev/null
    done
}

# Threads with their CPU over five seconds: procps, its releases without -w, busybox, busybox without threads.
threads() {
    for options in '-b -H -w 120' '-b -H' '-b'; do
        # shellcheck disable=SC2086
        limited 20 top $options -n 1 >/dev/null 2>&1 || continue
        # shellcheck disable=SC2086
        say_last '^top - |^Mem: ' top $options -d 5 -n 2
        return
    done
}

echo '# collected by zwhy collect: linux-minimal'
say uname -a
say cat /etc/os-release
say zfs version
say free
say vmstat 1 3
threads
show /proc/spl/kstat/zfs/arcstats /proc/spl/kstat/zfs/dbufstats /proc/spl/kstat/zfs/dmu_tx \
    /proc/spl/kstat/zfs/zil /proc/spl/kstat/zfs/abdstats /proc/spl/kstat/zfs/zfetchstats \
    /proc/spl/kstat/zfs/*/iostats
if [ -d /sys/module/zfs/parameters ]; then
    printf '\n$ grep . /sys/module/zfs/parameters/*\n'
    grep . /sys/module/zfs/parameters/* /sys/module/spl/parameters/* 2>/dev/null
fi
say zpool list -v
say zpool status
say zpool iostat -v 1 2
say zpool get all
say zfs get -t filesystem,volume compression,recordsize,volblocksize,encryption,checksum,dedup,sync,atime,primarycache,xattr,logbias

# Where threads of ZFS, and all that are blocked, stand in the kernel. Only root may read it.
printf '\n'
for task in /proc/[0-9]*/task/[0-9]*; do
    [ -r "$task/stack" ] || continue
    comm=$(cat "$task/comm" 2>/dev/null) || continue
    state=$(sed -n 's/^State:[[:space:]]*\([A-Za-z]\).*/\1/p' "$task/status" 2>/dev/null)
    case $state:$comm in
    D:* | *:txg_sync | *:txg_quiesce | *:arc_evict | *:arc_prune | *:dbuf_evict | *:z_wr* | *:z_rd*) ;;
    *) continue ;;
    esac
    stack=$(cat "$task/stack" 2>/dev/null)
    [ -n "$stack" ] || continue
    printf 'task:%s state:%s\n%s\n\n' "$comm" "$state" "$stack"
done
exit 0
