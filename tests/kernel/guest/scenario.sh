# Sourced by what runs in the VM: the words in which scenarios are written, and how one begins and ends.

echo 0123456789012345678901234567890123456789012345678901234567890123 >/run/key
disks='/dev/nvme0n1p1 /dev/nvme1n1p1 /dev/nvme2n1p1 /dev/nvme3n1p1 /dev/nvme4n1p1'
changed=

# parameter NAME VALUE: until the scenario ends.
parameter() {
    parameter_file=/sys/module/zfs/parameters/$1
    [ -e "$parameter_file" ] || parameter_file=$(ls /sys/module/*/parameters/"$1" | head -1)
    # The chosen implementation of several is the one in brackets.
    parameter_old=$(sed 's/.*\[\(.*\)\].*/\1/' "$parameter_file")
    changed="$changed $parameter_file=$parameter_old"
    echo "$2" >"$parameter_file" || say "cannot set $1 to $2"
}

# arc_limit BYTES: below the minimum that the module chose for this machine.
arc_limit() {
    arc_own=$(awk '$1 == "c_max" { print $3 }' /proc/spl/kstat/zfs/arcstats)
    say "ARC limit $1 instead of $arc_own"
    parameter zfs_arc_min 33554432
    parameter zfs_arc_max "$1"
    # The default, 0, does not lift a limit that was set; this one is the machine's own.
    changed="$changed /sys/module/zfs/parameters/zfs_arc_max=$arc_own"
}

# pool OPTION…: the pool `tank`, striped over all disks unless the scenario sets `layout`.
pool() {
    case "$*" in
        *compression=*) ;;
        *) set -- -O compression=off "$@" ;;
    esac
    # shellcheck disable=SC2086
    must zpool create -f -o ashift=12 -O atime=off "$@" tank ${layout:-$disks}
}

# disk NUMBER: the disk of that number of vm/run, whatever number the kernel gave it.
disk() {
    for disk_of in /sys/class/nvme/nvme*; do
        if [ "$(tr -d ' ' <"$disk_of/serial")" = "d$1" ]; then echo "/dev/${disk_of##*/}n1p1"; fi
    done
}

# cold: nothing of the pool is cached any more, and its keys are loaded.
cold() {
    must zpool export tank
    must zpool import -l -d /dev tank
}

# hog MIB: a program called hog takes all memory that is free and so much of the ARC's, until the scenario ends.
hog() {
    cp /job/zwhy-load /run/hog
    hog_mib=$(($(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo) + $1))
    /run/hog hold size=${hog_mib}M seconds=3600 &
    hog_left=240
    # Most of it: the kernel may not give it all.
    while [ "$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$!/status")" -lt $((hog_mib - 100)) ] && [ $hog_left -gt 0 ]; do
        sleep 1
        hog_left=$((hog_left - 1))
    done
    say "hog holds $(awk '/^VmRSS/ { print $2, $3 }' "/proc/$!/status") of $hog_mib MiB; ARC $(awk '$1 == "size" { print $3 }' /proc/spl/kstat/zfs/arcstats)"
}

# prepare SCENARIO fault|control: its pool is made and its `load` can be run.
prepare() {
    scenario_name=$1 variant=$2
    layout='' record='' interval=4
    reset() { :; }
    renew() { :; }
    . "/job/$scenario_name.sh"
    # Emulated, a look at all counters takes the recorder as long as some loads do their work.
    record="--interval $interval $record"
    setup "$variant"
    # What was just written is read from memory until it is on disk.
    zpool sync tank 2>/dev/null
}

# leave: the machine is as it was before.
leave() {
    reset
    killall -q hog
    # What the load wrote last may still be on its way.
    scenario_tries=60
    while ! zpool destroy -f tank 2>/dev/null; do
        killall -q -9 zwhy-load
        sleep 1
        scenario_tries=$((scenario_tries - 1))
        if [ $scenario_tries = 0 ]; then must zpool destroy -f tank; fi
    done
    for setting in $changed; do echo "${setting#*=}" >"${setting%%=*}"; done
    changed=
}
