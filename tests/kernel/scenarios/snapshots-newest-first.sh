# Hundreds of snapshots of ten datasets destroyed newest first; the control destroys the oldest first.
# expect: snapshot-destroy-newest-first
setup() {
    order=$1
    pool -O recordsize=4K
    for dataset in 0 1 2 3 4 5 6 7 8 9; do must zfs create tank/d$dataset; done
    snapshot=0
    while [ $snapshot -lt 200 ]; do
        must zfs snapshot -r tank@$snapshot
        snapshot=$((snapshot + 1))
    done
    # `zfs destroy` of each would mostly be the start of a program.
    cat >/run/destroy.lua <<'LUA'
local argv = (...)["argv"]
local first, last = tonumber(argv[1]), tonumber(argv[2])
for n = first, last, first < last and 1 or -1 do
    for d = 0, 9 do
        zfs.sync.destroy("tank/d" .. d .. "@" .. n)
    end
end
LUA
}
load() {
    sleep 3
    for tens in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
        if [ "$order" = fault ]; then
            zfs program tank /run/destroy.lua $((199 - 10 * tens)) $((190 - 10 * tens))
        else
            zfs program tank /run/destroy.lua $((10 * tens)) $((10 * tens + 9))
        fi
        counted 100
    done
}
