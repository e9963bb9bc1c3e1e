# Runs in the VM: what zwhy may still do in a kernel that is locked down after OpenZFS's module was loaded.
. /job/lib.sh

must mount -t securityfs securityfs /sys/kernel/security
must zpool create -f -O compression=gzip-9 -O atime=off tank /dev/nvme0n1p1
must zwhy-load write /tank/before block=128K size=8M

for level in integrity confidentiality; do
    say "locked down for $level"
    echo $level >/sys/kernel/security/lockdown
    cp /sys/kernel/security/lockdown "/out/$level"
    try "doctor-$level" sh -c "zwhy doctor --json >/out/doctor-$level.json"
    during 5 "host-$level" zwhy-load write /tank/file block=128K size=8M seconds=600
    try "waits-$level" zwhy record -a --off-cpu -d 2 -o "/out/waits-$level.zwhy"
    try "command-$level" zwhy record -o "/out/command-$level.zwhy" -- zwhy-load write /tank/file block=128K size=8M
    try "count-$level" zwhy count zfs:zil_commit -d 1
    try "explain-$level" sh -c "zwhy explain /out/host-$level.zwhy --json >/out/explain-$level.json"
    try "collect-$level" sh -c "zwhy collect --print linux-minimal >/run/collect.sh && sh /run/collect.sh >/out/collected-$level.txt"
done
exit 0
