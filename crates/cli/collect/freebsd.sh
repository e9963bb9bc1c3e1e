#!/bin/sh
# What zwhy explains of a FreeBSD host. Needs only the base system; changes nothing. As root it sees more:
#   sh freebsd.sh > host.txt   then elsewhere:  zwhy explain host.txt
LC_ALL=C
PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
. ./limited.sh

echo '# collected by zwhy collect: freebsd'
say uname -a
say zfs version
say sysctl hw.model hw.ncpu hw.physmem kern.timecounter.hardware
say vmstat 1 3
say_last '^last pid: ' top -b -SH -d 2 -s 5 100
say sysctl kstat.zfs
say sysctl vfs.zfs
say zpool list -v
say zpool status
say zpool iostat -v 1 2
say zpool get all
say zfs get -t filesystem,volume compression,recordsize,volblocksize,encryption,checksum,dedup,sync,atime,primarycache,xattr,logbias
say procstat -kk -a

# Ten seconds of the kernel's stacks, where DTrace is there and allowed.
printf '\n'
limited 30 dtrace -x stackframes=100 -q -n 'profile-99 /arg0/ { @[stack()] = count(); } tick-10s { exit(0); }' 2>/dev/null
exit 0
