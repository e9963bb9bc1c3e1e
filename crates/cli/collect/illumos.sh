#!/bin/sh
# What zwhy explains of an illumos host. Needs only the base system; changes nothing. As root it sees more:
#   sh illumos.sh > host.txt   then elsewhere:  zwhy explain host.txt
LC_ALL=C
PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
. ./limited.sh

# The debugger reads its commands from its input.
# shellcheck disable=SC2317
stacks_of_zfs() {
    exec mdb -k <<'END'
::arc
::stacks -m zfs
END
}

echo '# collected by zwhy collect: illumos'
say uname -a
say vmstat 1 3
say_last '^ *PID ' prstat -mLc -n 100 5 2
say kstat -p zfs:0:arcstats
say kstat -p zfs:0:zfetchstats
say kstat -p unix:0:vopstats_zfs
say zpool list -v
say zpool status
say zpool iostat -v 1 2
say zpool get all
say zfs get -t filesystem,volume compression,recordsize,volblocksize,checksum,dedup,sync,atime,primarycache,xattr,logbias

# What only root may see, where it is allowed.
printf '\n'
limited 60 stacks_of_zfs 2>/dev/null
printf '\n'
limited 30 dtrace -x stackframes=100 -q -n 'profile-99 /arg0/ { @[stack()] = count(); } tick-10s { exit(0); }' 2>/dev/null
exit 0
