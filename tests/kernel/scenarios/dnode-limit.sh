# More open files than the limit on dnodes allows, in a full ARC; the control has the usual limit.
# expect: arc-dnode-limit-prune-loop
# remedy: commands
setup() {
    arc_limit 134217728
    if [ "$1" = fault ]; then parameter zfs_arc_dnode_limit_percent 1; fi
    pool
    must zwhy-load files /tank/small count=4000 size=512 block=512
    must zwhy-load write /tank/file size=512M
}
load() {
    zwhy-load files /tank/small count=4000 size=512 block=512 do=read seconds=600 &
    zwhy-load read /tank/file size=512M seconds=600
}
