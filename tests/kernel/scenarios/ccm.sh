# Cold reads of a dataset encrypted with CCM; the control is GCM.
# expect: crypto-ccm-not-accelerated
# remedy: commands
setup() {
    if [ "$1" = fault ]; then cipher=aes-256-ccm; else cipher=aes-256-gcm; fi
    pool -O primarycache=metadata
    must zfs create -o encryption=$cipher -o keyformat=hex -o keylocation=file:///run/key -o mountpoint=/srv/data tank/data
    must zfs create -o compression=lz4 tank/data/child
    must zwhy-load write /srv/data/file size=8M
    must zfs snapshot -r tank/data@one
    must zwhy-load write /srv/data/child/file size=1M
    must zfs snapshot tank/data/child@two
    content >/run/content
}
# All files, snapshots, local properties and mount points, whatever the cipher is.
content() {
    (cd /srv/data && find . -type f -exec sha256sum {} + | sort)
    zfs list -r -H -t snapshot -o name tank/data | grep -v @gcm
    zfs get -r -H -t filesystem,volume -s local -o name,property,value all tank/data | grep -v -e encryption -e keylocation
    zfs get -r -H -t filesystem,volume -o name,value mountpoint,mounted,keystatus tank/data
}
renew() {
    content >/run/content.now
    must diff /run/content /run/content.now
}
# With pauses: emulated, CCM leaves nothing else any time, not even the commands that tell of datasets.
load() {
    while :; do
        zwhy-load read /srv/data/file size=2M
        sleep 0.2
    done
}
