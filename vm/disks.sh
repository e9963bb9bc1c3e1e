# Sourced by run: the empty disks of the machine, and QEMU's words for them; what -d says of a slow or bad one.
#
# QEMU holds requests back before they reach the image, so a limit holds in the guest's time as long
# as the host has time for QEMU at all: a limit is what the disk does at most.
#
# Reads: work, disks, size, special. Sets: drives, which run gives to QEMU.
# shellcheck disable=SC2154

# The first and last MiB of a disk have the partition table and the pool's labels: never bad.
margin_mib=16

# Ends the run when -d names no disk of the machine or has a word that is not known.
check_special_disks() {
    local one number
    for one in ${special[@]+"${special[@]}"}; do
        number=${one%%:*}
        if ! [[ $number =~ ^[0-9]+$ && $one == *:?* ]] || ((number >= disks)); then
            echo "error: -d $one: it is DISK:WORDS, and there are $disks disks, from 0" >&2
            exit 2
        fi
        local word
        for word in $(disk_words "$number"); do
            [[ $word =~ ^(iops|bps)(-read|-write)?=[1-9][0-9]*[KMG]?$ || $word =~ ^bad=[1-9][0-9]{0,4}$ ]] || {
                echo "error: -d $one: no word $word; there are iops, bps (with -read and -write) and bad" >&2
                exit 2
            }
        done
    done
}

# The words for a disk, one a line.
disk_words() {
    local one
    for one in ${special[@]+"${special[@]}"}; do
        if [[ ${one%%:*} == "$1" ]]; then tr ',' '\n' <<<"${one#*:}"; fi
    done
}

# What QEMU is told of a limit: iops=80 is throttling.iops-total=80.
throttle_words() {
    local word key value
    for word in $(disk_words "$1"); do
        key=${word%%=*} value=$(numfmt --from=iec "${word#*=}")
        case $key in
        iops | bps) printf ',throttling.%s-total=%s' "$key" "$value" ;;
        iops-* | bps-*) printf ',throttling.%s=%s' "$key" "$value" ;;
        esac
    done
}

# bad_sectors NUMBER FILE: QEMU's rules for so many unreadable sectors, spread evenly; no file without them.
bad_sectors() {
    local count i step
    count=$(disk_words "$1" | sed -n 's/^bad=//p')
    [[ -n $count ]] || return 0
    step=$(((size - 2 * margin_mib) * 2048 / count))
    for ((i = 0; i < count; i++)); do
        printf '[inject-error]\nevent = "none"\niotype = "read"\nerrno = "5"\nsector = "%d"\n' \
            $((margin_mib * 2048 + i * step))
    done >"$2"
}

# Empty disks, and the words that give them to QEMU.
make_disks() {
    rm -f "$work"/*.img
    drives=()
    for ((i = 0; i < disks; i++)); do add_drive "d$i" "$size" "$(throttle_words "$i")"; done
    add_drive results 256 ''
}
add_drive() {
    local id=$1 mib=$2 limits=$3 image="$work/$1.img"
    local options="file=$image"
    truncate -s "${mib}M" "$image"
    # There is no udev to make partition nodes after `zpool create`, so disks come partitioned.
    [ "$id" = results ] || printf 'label: gpt\n,\n' | sfdisk -q "$image"
    [ "$id" = results ] || bad_sectors "${id#d}" "$work/$id.bad"
    if [ -f "$work/$id.bad" ]; then
        options="file.driver=blkdebug,file.config=$work/$id.bad,file.image.driver=file,file.image.filename=$image"
        options+=",file.image.discard=unmap"
    fi
    drives+=(-drive "$options,if=none,id=$id,format=raw,cache=unsafe,discard=unmap$limits"
        -device "nvme,drive=$id,serial=$id")
}
