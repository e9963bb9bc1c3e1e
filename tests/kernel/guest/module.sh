# Runs in the VM: what zwhy records of the real module, and how it behaves when things break.
. /job/lib.sh

disk=/dev/nvme0n1p1
echo 0123456789012345678901234567890123456789012345678901234567890123 >/run/key

# Data is never cached, so that reads stay cold for as long as a recording lasts.
say "a pool with three ciphers"
must zpool create -f -o ashift=12 -O compression=off -O atime=off tank $disk /dev/nvme1n1p1
for cipher in aes-256-ccm aes-256-gcm; do
    must zfs create -o primarycache=metadata -o encryption=$cipher -o keyformat=hex -o keylocation=file:///run/key tank/${cipher#aes-256-}
done
must zfs create -o primarycache=metadata tank/off
for name in ccm gcm off; do
    must zwhy-load write /tank/$name/file block=128K size=24M
done
must zpool sync tank

must zfs snapshot -r tank@before
for name in off gcm; do
    during 6 $name zwhy-load read /tank/$name/file block=128K size=24M seconds=600
done
if [ -e /sys/module/zfs/parameters/zfs_dio_enabled ]; then
    during 4 direct zwhy-load read /tank/off/file block=128K size=24M direct=1 seconds=600
fi
during 6 writes zwhy-load write /tank/off/new block=128K size=24M seconds=600 nice=10

say "what threads wait for while writes are synced"
# One transaction group after the other: an idle txg_sync waits for work, not for disks.
sync_writes() {
    zwhy-load write /tank/off/synced block=128K size=24M sync=1 seconds=600 &
    while zpool sync tank; do :; done
}
sync_writes >/dev/null 2>&1 &
writer=$!
sleep 2
try wait zwhy record -a --wait=50 -d 12 -o /out/wait.zwhy
try off-cpu zwhy record -a --off-cpu -d 8 -o /out/off-cpu.zwhy
say "the same of one group of processes, and only the last seconds of it"
mkdir -p /run/groups
must mount -t cgroup -o perf_event none /run/groups
must mkdir /run/groups/writers
for process in $(pidof zwhy-load); do
    echo "$process" >/run/groups/writers/cgroup.procs
done
try off-cpu-group zwhy record -G writers --off-cpu --last 4s -d 9 -o /out/off-cpu-group.zwhy
kill $writer
killall -q zwhy-load
wait $writer 2>/dev/null

say "calls are counted by kprobe"
# One fsync of a file is one zil_commit below zfs_fsync.
try count-per sh -c 'zwhy count zfs:zil_commit --per zfs_fsync --json -o /out/count-per.zwhy -- sh -c "
    for i in 1 2 3 4 5; do dd if=/dev/zero of=/tank/off/f bs=4k count=1 conv=fsync 2>/dev/null; done" >/out/count-per.json'
try count-under sh -c 'zwhy count zfs:arc_read --under "dmu_buf_hold_array*" --json -- \
    dd if=/tank/off/file of=/dev/null bs=128k count=64 >/out/count-under.json'
try count-unknown zwhy count zio_raed -d 1
try count-many zwhy count 'zfs:*' -d 1

say "doctor of a healthy host"
try doctor sh -c 'zwhy doctor --json >/out/doctor.json'

say "source lines of the module"
zwhy-load read /tank/off/file block=128K size=24M seconds=600 >/dev/null 2>&1 &
try lines zwhy record -a -F 199 --lines -d 4 -o /out/lines.zwhy
killall -q zwhy-load

# Last, for blocks that were read ahead are decrypted long after the reader is gone.
during 6 ccm zwhy-load read /tank/ccm/file block=128K size=24M seconds=600

say "the recorder is killed"
zwhy-load read /tank/off/file block=128K size=24M seconds=600 &
zwhy record -a -d 600 -o /out/killed.zwhy >/out/killed.log 2>&1 &
recorder=$!
must underway /out/killed.zwhy
# Two more times for writing out: on a slow machine the first hold little but the recorder's start.
sleep 11
kill -9 $recorder
wait $recorder 2>/dev/null

say "the disk of the capture is full"
mkdir /tmp/small
must mount -t tmpfs -o size=400k tmpfs /tmp/small
try full zwhy record -a -F 999 -d 60 -o /tmp/small/full.zwhy
killall zwhy-load
cp -r /tmp/small/* /out/

say "a pool is exported while recording"
must zpool create -f -o ashift=12 other /dev/nvme2n1p1
(
    underway /out/exported.zwhy
    zpool export other
    echo $? >/out/export.exit
) &
try exported zwhy record -a -d 12 -o /out/exported.zwhy
wait

say "the module goes away and comes back while recording, and the clock is set meanwhile"
zpool export tank
begin reloaded zwhy record -a -F 199 -d 600 -o /out/reloaded.zwhy
underway /out/reloaded.zwhy
grep -w zfs /proc/modules >/out/module.before
rmmod zfs
echo $? >/out/rmmod.exit
goes_on /out/reloaded.zwhy
date -s "@$(($(date +%s) + 3600))" >/dev/null
must insmod /mods/zfs.ko
grep -w zfs /proc/modules >/out/module.after
rm -f /dev/zfs
must mknod /dev/zfs c 10 "$(awk '$2 == "zfs" { print $1 }' /proc/misc)"
goes_on /out/reloaded.zwhy
date -s "@$(($(date +%s) - 3600))" >/dev/null
must zpool import -d /dev tank
zwhy-load read /tank/off/file block=128K size=24M seconds=600 >/dev/null 2>&1 &
goes_on /out/reloaded.zwhy
finish reloaded
killall -q zwhy-load

say "a pool is suspended, for its only disk is gone"
must zpool create -f -o ashift=12 -O compression=off -O atime=off -O primarycache=metadata lost /dev/nvme2n1p1
must zwhy-load write /lost/file block=128K size=4M
must zpool sync lost
echo 1 >/sys/block/nvme2n1/device/device/remove
# Writes to a vanished disk are tried again for ever; a read finds that it is gone, and suspends.
zwhy-load read /lost/file block=128K size=4M >/dev/null 2>&1 &
left=60
while ! grep -q SUSPENDED /proc/spl/kstat/zfs/lost/state && [ $left -gt 0 ]; do
    sleep 1
    left=$((left - 1))
done
cp /proc/spl/kstat/zfs/lost/state /out/lost.state
try suspended zwhy record -a -d 3 -o /out/suspended.zwhy
try doctor-suspended sh -c 'zwhy doctor --json >/out/doctor-suspended.json'
cat /proc/kallsyms | awk '($4 == "[zfs]" || $4 == "[spl]") && tolower($2) == "t" { print $3 }' | sort -u >/out/symbols
exit 0
