# Files are asked for an attribute that they do not have; in the control they have it.
# expect: xattr-missing-dir-lookup
setup() {
    pool -O xattr=sa -O dnodesize=auto
    must zwhy-load files /tank/small count=50 size=512 block=512
    if [ "$1" = control ]; then must zwhy-load files /tank/small count=50 size=512 block=512 do=xattr seconds=1; fi
    must zpool sync tank
}
load() { zwhy-load files /tank/small count=50 size=512 block=512 do=probe seconds=600; }
