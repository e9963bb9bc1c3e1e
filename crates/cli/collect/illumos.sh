#!/bin/sh
# What zwhy explains of an illumos host. Needs only the base system; changes nothing. As root it sees more:
#   sh illumos.sh > host.txt   then elsewhere:  zwhy explain host.txt
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH

# Runs a command, its line before its output.
say() {
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '\n$ %s\n' "$*"
    "$@" 2>&1
}

say uname -a
say vmstat 1 3
say prstat -mLc -n 40 1 1
say kstat -p zfs:0:arcstats
say kstat -p zfs:0:zfetchstats
say kstat -p unix:0:vopstats_zfs
say zpool list -v
say zpool status
say zpool iostat -v 1 2
say zpool get all
say zfs get -t filesystem,volume compression,recordsize,volblocksize,checksum,dedup,sync,atime,primarycache,xattr,logbias

if [ "$(id -u)" = 0 ]; then
    printf '\n$ mdb -k, ::arc and ::stacks of zfs\n'
    printf '::arc\n::stacks -m zfs\n' | mdb -k 2>/dev/null
    printf '\n'
    dtrace -x stackframes=100 -q -n 'profile-99 /arg0/ { @[stack()] = count(); } tick-10s { exit(0); }' 2>/dev/null
fi
exit 0
