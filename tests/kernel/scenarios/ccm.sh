# Cold reads of a dataset encrypted with CCM; the control is GCM.
# expect: crypto-ccm-not-accelerated
setup() {
    if [ "$1" = fault ]; then cipher=aes-256-ccm; else cipher=aes-256-gcm; fi
    pool -O primarycache=metadata -O encryption=$cipher -O keyformat=hex -O keylocation=file:///run/key
    must zwhy-load write /tank/file size=32M
}
load() { zwhy-load read /tank/file size=32M seconds=600; }
