# Sourced by run: what QEMU runs the guest with, KVM or software emulation, found out by booting it.
#
# A /dev/kvm that is there proves little: on a host that is a guest itself KVM may stop at the first
# instruction it cannot emulate, in the boot or minutes later, and QEMU then pauses and waits for
# ever. So a machine is booted with KVM and watched: its console for the guest's first line, QEMU's
# standard error for what KVM says, and QEMU's event stream for a pause that nobody asked for.
#
# Invariants: what is remembered holds for one CPU and kernel, and only after a guest came up;
# emulation is remembered over KVM, never the other way round; a forced accelerator neither reads
# nor writes the memory. The file is replaced whole, so runs beside each other never see half of it.
#
# Reads: here, work, limit. Uses of run: machine_words ACCEL, which sets `machine`.
# shellcheck disable=SC2154

kvm_device=${ZWHY_VM_KVM:-/dev/kvm}
# Seconds until the guest's first line; three times as long where KVM worked before.
patience=${ZWHY_VM_PATIENCE:-20}
accel_file=${ZWHY_VM_DIR:-$here/../target/vm}/accel
# What KVM says in QEMU's standard error before it pauses or gives up.
kvm_says='KVM internal error|kvm run failed|KVM: (entry failed|unknown exit)|[Ff]ailed to initialize kvm|Could not access KVM|kvm_[a-z0-9_]+: |KVM_[A-Z_0-9]+ (ioctl )?failed'

this_machine() {
    local cpu
    cpu=$(grep -m 5 -E '^(vendor_id|cpu family|model|model name|stepping)' /proc/cpuinfo | sed 's/.*: *//' | xargs)
    printf '%s, Linux %s' "$cpu" "$(uname -rv)"
}

# What was found for this machine: kvm, tcg (KVM failed), absent (there was none); or nothing.
remembered() {
    local found host
    [[ -r $accel_file ]] || return 0
    IFS=$'\t' read -r found host <"$accel_file" || true
    [[ ${host:-} != "$(this_machine)" ]] || printf '%s' "$found"
}

# remember kvm|tcg|absent
remember() {
    mkdir -p "$(dirname "$accel_file")"
    (
        flock 8
        if [[ $1 == kvm && $(remembered) == tcg ]]; then exit 0; fi
        printf '%s\t%s\n' "$1" "$(this_machine)" >"$accel_file.$$"
        mv -f "$accel_file.$$" "$accel_file"
    ) 8>"$accel_file.lock"
}

# Sets accel to the one to begin with, forced when the caller said so, no_kvm when there is none.
choose_accel() {
    no_kvm=''
    forced=${ZWHY_VM_ACCEL:-}
    accel=$forced
    case $forced in
    tcg) ;;
    kvm) [[ -r $kvm_device && -w $kvm_device ]] || {
        echo "error: ZWHY_VM_ACCEL=kvm, but $kvm_device is not there or not writable for $(id -un)" >&2
        exit 1
    } ;;
    '')
        accel=kvm
        if ! [[ -r $kvm_device && -w $kvm_device ]]; then
            accel=tcg no_kvm=1
            [[ $(remembered) == absent ]] || {
                echo "vm: no usable $kvm_device: software emulation" >&2
                remember absent
            }
        elif [[ $(remembered) == tcg ]]; then
            accel=tcg
        fi
        ;;
    *)
        echo "error: ZWHY_VM_ACCEL is $forced; it may be kvm or tcg" >&2
        exit 2
        ;;
    esac
}

# Whether the guest has said something, which the firmware's lines are not; the first time it is
# remembered what it runs with.
guest_is_up() {
    [[ -z $up ]] || return 0
    grep -qaE 'vm: (Linux|OpenZFS) ' "$work/console" || return 1
    up=1
    # What cannot be remembered is found out again.
    [[ -n $forced || -n $no_kvm ]] || remember "$1" || true
}

# Looks at the machine $running until it ends; stops it when it stands still. Sets failure or full.
watch() {
    local accel=$1 longest=$patience start=$SECONDS events
    [[ $(remembered) != kvm ]] || longest=$((patience * 3))
    while kill -0 "$running" 2>/dev/null; do
        # Read once: a full disk is told first, and then that the machine was paused for it.
        events=$(<"$work/events")
        if [[ $events == *'"BLOCK_IO_ERROR"'* ]]; then
            full="no room for the disks of the VM in $work (TMPDIR names another place)"
        elif [[ $accel == kvm ]] && grep -qE "$kvm_says" "$work/errors"; then
            failure="QEMU says: $(grep -m 1 -E "$kvm_says" "$work/errors")"
        elif [[ $accel == kvm && $events == *'"STOP"'* ]]; then
            failure='QEMU paused the machine'
        elif ! guest_is_up "$accel" && [[ $accel == kvm && $((SECONDS - start)) -ge $longest ]]; then
            failure="nothing came from the guest in $longest s"
        else
            sleep 0.1
            continue
        fi
        kill "$running" 2>/dev/null || true
        return
    done
}

# Boots the machine once: boot kvm|tcg. Sets status, lasted (seconds), and failure when it was KVM that failed.
boot() {
    local accel=$1 console_reader began=$SECONDS
    status=0 failure='' full='' up=''
    : >"$work/console"
    : >"$work/errors"
    : >"$work/events"
    rm -f "$work"/pipe.*
    mkfifo "$work/pipe.console" "$work/pipe.in" "$work/pipe.out"
    tee "$work/console" <"$work/pipe.console" &
    console_reader=$!
    cat <>"$work/pipe.out" >"$work/events" &
    event_reader=$!
    # Held open for as long as the machine runs, or QEMU stops telling events.
    exec 7<>"$work/pipe.in"
    echo '{"execute":"qmp_capabilities"}' >&7
    machine_words "$accel"
    [[ $accel != tcg ]] || exec 6>&2
    [[ $accel != kvm ]] || exec 6>"$work/errors"
    timeout --kill-after=5 "$limit" qemu-system-x86_64 "${machine[@]}" \
        -chardev "pipe,id=events,path=$work/pipe" -mon chardev=events,mode=control \
        </dev/null >"$work/pipe.console" 2>&6 7>&- &
    running=$!
    exec 6>&-
    # The shell would tell of a child's abort; that is told below, in words of this script.
    {
        watch "$accel"
        wait "$running" || status=$?
    } 2>/dev/null
    running=''
    # shellcheck disable=SC2034 # run tells it.
    lasted=$((SECONDS - began))
    wait "$console_reader" || true
    kill "$event_reader"
    event_reader=''
    exec 7>&-
    if [[ -n $full ]]; then
        echo "error: $full" >&2
        exit 1
    fi
    if [[ $accel == tcg ]]; then
        guest_is_up tcg || true
    elif [[ -z $failure ]]; then
        how_kvm_ended
    fi
}

# Looks at a machine that ended by itself, with KVM: sets failure, or shows what QEMU said.
how_kvm_ended() {
    local last
    last=$(tail -n 1 "$work/errors")
    # SIGKILL comes from outside (somebody, or the host out of memory), never from KVM.
    if [[ $status == 137 ]]; then
        cat "$work/errors" >&2
    elif grep -qE "$kvm_says" "$work/errors"; then
        failure="QEMU says: $(grep -m 1 -E "$kvm_says" "$work/errors")"
    elif ! guest_is_up kvm; then
        failure="QEMU ended with status $status before the guest said anything${last:+: $last}"
    elif [[ $status -ge 128 ]]; then
        failure="QEMU was ended by signal $((status - 128))"
    else
        cat "$work/errors" >&2
    fi
}

# Boots the machine with KVM where that works, else emulated. renew makes its disks empty again.
boot_with_what_works() {
    local renew=$1
    choose_accel
    "$renew"
    boot "$accel"
    [[ -n $failure ]] || return 0
    if [[ -n $forced ]]; then
        cat "$work/errors" >&2
        echo "error: KVM does not work here: $failure (ZWHY_VM_ACCEL=tcg emulates the machine instead)" >&2
        exit 1
    fi
    echo "vm: KVM does not work here ($failure): from the start again, in software emulation." \
        "Remembered for this CPU and kernel in $(realpath -m "$accel_file"); remove it to try KVM again." >&2
    "$renew"
    boot tcg
}
