# Encrypted data is fed to a cache device as it is read; the control keeps it out of there.
# expect: l2arc-feed-reencryption
# remedy: commands
setup() {
    if [ "$1" = fault ]; then fed=all; else fed=none; fi
    # The device begins empty each time.
    parameter l2arc_rebuild_enabled 0
    layout=${disks%% *}
    pool
    must zpool add -f tank cache "${disks##* }"
    must zfs create -o encryption=aes-256-gcm -o keyformat=hex -o keylocation=file:///run/key -o secondarycache=$fed tank/data
    must zwhy-load write /tank/data/file size=96M
    renew
}
# What was read once is in memory and on the device.
renew() { cold; }
# What is read ahead is not fed, and what is in memory is fed once.
load() { zwhy-load read /tank/data/file size=96M random=1 pause=30 seconds=600; }
