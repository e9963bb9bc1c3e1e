# Cold reads of a dataset encrypted with GCM in portable C; the control uses the fastest code there is.
# expect: simd-slow-implementation-selected
# remedy: commands
# gain: not here, without hardware virtualisation QEMU emulates carry-less multiplication slower than tables
setup() {
    if [ "$1" = fault ]; then
        parameter icp_aes_impl generic
        parameter icp_gcm_impl generic
    fi
    pool -O primarycache=metadata
    must zfs create -o encryption=aes-256-gcm -o keyformat=hex -o keylocation=file:///run/key tank/data
    must zwhy-load write /tank/data/file size=16M
}
load() { zwhy-load read /tank/data/file size=16M seconds=600; }
