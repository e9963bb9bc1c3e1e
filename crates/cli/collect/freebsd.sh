#!/bin/sh
# What zwhy explains of a FreeBSD host. Needs only the base system; changes nothing. As root it sees more:
#   sh freebsd.sh > host.txt   then elsewhere:  zwhy explain host.txt
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

# Runs a command, its line before its output; commands on a suspended pool hang, so each has 20 seconds.
say() {
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '\n$ %s\n' "$*"
    timeout 20 "$@" 2>&1
}

say uname -a
say zfs version
say sysctl hw.model hw.ncpu hw.physmem kern.timecounter.hardware
say vmstat 1 3
say top -b -SH -d 1 100
say sysctl kstat.zfs
say sysctl vfs.zfs
say zpool list -v
say zpool status
say zpool iostat -v 1 2
say zpool get all
say zfs get -t filesystem,volume compression,recordsize,volblocksize,encryption,checksum,dedup,sync,atime,primarycache,xattr,logbias
say procstat -kk -a

# Ten seconds of the kernel's stacks, where DTrace is there and allowed.
if [ "$(id -u)" = 0 ] && command -v dtrace >/dev/null 2>&1; then
    printf '\n'
    timeout 30 dtrace -x stackframes=100 -q -n 'profile-99 /arg0/ { @[stack()] = count(); } tick-10s { exit(0); }' 2>/dev/null
fi
exit 0
