# Small writes, each of which asks for an attribute that the file does not have; the control has xattr=off.
# expect: xattr-missing-dir-lookup
# remedy: choice=1
setup() {
    if [ "$1" = fault ]; then xattr=sa; else xattr=off; fi
    pool -O xattr=$xattr
    must zwhy-load write /tank/file size=4M
}
load() { zwhy-load write /tank/file block=512 size=4M random=1 seconds=600; }
