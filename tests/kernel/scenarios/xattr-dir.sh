# Extended attributes kept as files in hidden folders; the control keeps them in the dnode.
# expect: xattr-directory-slow
# remedy: commands
setup() {
    if [ "$1" = fault ]; then kind=dir; else kind=sa; fi
    pool -O xattr=$kind -O dnodesize=auto
}
# Attributes that are there stay in their folders.
renew() { rm -r /tank/small; }
load() { zwhy-load files /tank/small count=50 size=4K block=4K do=xattr seconds=600; }
