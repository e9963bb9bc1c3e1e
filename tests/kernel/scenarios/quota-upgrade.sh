# The feature of project quotas is enabled in a pool of many files; the control only reads them.
# expect: project-quota-upgrade-dirties-all|quota-upgrade-walk
setup() {
    upgraded=$1
    pool -o feature@project_quota=disabled -o feature@userobj_accounting=disabled
    must zwhy-load files /tank/small count=2000 size=512 block=512
    must zpool sync tank
}
load() {
    sleep 3
    if [ "$upgraded" = fault ]; then
        zpool set feature@userobj_accounting=enabled tank
        zpool set feature@project_quota=enabled tank
        zfs unmount tank
        zfs mount tank
    fi
    zwhy-load files /tank/small count=2000 size=512 block=512 do=read pause=20 seconds=600
}
