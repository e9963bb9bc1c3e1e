# Encrypted blocks that are encrypted once more for a cache device; the control is not encrypted.
# expect: l2arc-feed-reencryption
# remedy: commands
setup() {
    layout=${disks%% *}
    pool
    must zpool add -f tank cache "${disks##* }"
    if [ "$1" = fault ]; then
        must zfs create -o encryption=aes-256-gcm -o keyformat=hex -o keylocation=file:///run/key tank/data
    else
        must zfs create tank/data
    fi
}
# The cache device takes a block once, so that there have to be new ones.
load() { zwhy-load write /tank/data/file size=64M seconds=600; }
