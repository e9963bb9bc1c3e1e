#!/usr/bin/env bash
# Tests how vm/run chooses between KVM and emulation, and what it tells QEMU of slow and bad disks, with a
# stand-in for QEMU: no machine is booted.
#
# A copy of run, accel.sh and disks.sh lies beside a build.sh and a zwhy.sh that build nothing. The stand-in
# writes down the accelerator, the kernel's words and the drives of each start, and with KVM does what $QEMU_KVM says.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/vm" "$top/bin"
cp "$here/run" "$here/keep" "$here/accel.sh" "$here/disks.sh" "$top/vm/"

cat >"$top/vm/build.sh" <<'SH'
#!/bin/sh
mkdir -p "$ZWHY_VM_DIR/$1" && echo kernel >"$ZWHY_VM_DIR/$1/vmlinuz" && : >"$ZWHY_VM_DIR/$1/base.cpio.gz"
SH
cat >"$top/vm/zwhy.sh" <<'SH'
#!/bin/sh
printf '#!/bin/sh\n' >"$ZWHY_VM_DIR/zwhy" && echo "$ZWHY_VM_DIR/zwhy"
SH
cat >"$top/bin/qemu-system-x86_64" <<'SH'
#!/usr/bin/env bash
# What a guest does that runs its job: a line, then results on the last disk.
works() {
    echo 'vm: Linux 6.1'
    mkdir -p "$results.d" && echo 0 >"$results.d/.exit" && echo "$accel" >"$results.d/accel"
    tar -c -f "$results" -C "$results.d" .
}
# Like QEMU, that pauses when KVM fails and waits for somebody to look.
pauses() { exec sleep 90; }
while (($#)); do
    case $1 in
    -accel) accel=${2%%,*} ;;
    -append) append=$2 ;;
    -drive)
        echo "$2" >>"$QEMU_STARTS.drives"
        bad=$(sed -n 's/.*config=\([^,]*\),.*/\1/p' <<<"$2")
        [[ -z $bad ]] || cat "$bad" >>"$QEMU_STARTS.bad"
        [[ $2 != *id=results,* ]] || { results=${2#file=}; results=${results%%,*}; }
        ;;
    -chardev) events=${2#*,path=} events=${events%%,*}.out ;;
    esac
    shift
done
echo "$accel $append" >>"$QEMU_STARTS"
echo $$ >"$QEMU_STARTS.process"
# Disks are new with every start.
if [[ -s $results && -n $(head -c 4 "$results" | tr -d '\0') ]]; then echo 'a used disk' >&2; exit 3; fi
echo 'SeaBIOS (version 1)'
[[ $accel == kvm ]] || { sleep "${QEMU_SLOW:-0}"; works; exit 0; }
case $QEMU_KVM in
works) works ;;
slow) sleep 5; works ;;
hangs) pauses ;;
dies) exit 1 ;;
aborts) ulimit -c 0; kill -ABRT $$ ;;
errs-early) echo 'KVM internal error. Suberror: 1' >&2; pauses ;;
errs-late) works; sleep 0.5; printf 'KVM internal error. Suberror: 1\nemulation failure\n' >&2; pauses ;;
errs-and-ends) works; echo 'error: kvm run failed Bad address' >&2; exit 0 ;;
aborts-late) works; sleep 0.5; ulimit -c 0; kill -ABRT $$ ;;
dies-midway)
    # As keep leaves it: two archives in the second half.
    echo 'vm: Linux 6.1'
    mkdir -p "$results.d/lab/cells"
    echo 1 >"$results.d/lab/cells/0000.json"
    tar -c -f - -C "$results.d" . | dd of="$results" bs=1M seek=128 conv=notrunc 2>/dev/null
    echo 2 >"$results.d/lab/cells/0001.json"
    tar -c -f - -C "$results.d" ./lab/cells/0001.json | dd of="$results" bs=1M seek=129 conv=notrunc 2>/dev/null
    ;;
killed) works; sleep 0.5; kill -KILL $$ ;;
killed-early) kill -KILL $$ ;;
stops) works; sleep 0.5; echo '{"event": "STOP"}' >>"$events"; pauses ;;
disk-full) works; echo '{"event": "BLOCK_IO_ERROR"}{"event": "STOP"}' >>"$events"; pauses ;;
never-ends) works; pauses ;;
esac
SH
chmod +x "$top"/vm/* "$top"/bin/*

failures=0
fail() { echo "FAILED: $case_name: $*" >&2; sed 's/^/    /' "$top/errors" >&2; failures=$((failures + 1)); }

# fresh NAME: nothing is remembered, /dev/kvm is there.
fresh() {
    case_name=$1
    rm -rf "$top/cache"
    mkdir "$top/cache"
    : >"$top/kvm"
}

# boot QEMU_KVM [VARIABLE=VALUE]…: one vm/run; sets status.
boot() {
    local does=$1
    shift
    : >"$top/starts"
    : >"$top/starts.drives"
    : >"$top/starts.bad"
    rm -rf "$top/out"
    status=0
    env PATH="$top/bin:$PATH" QEMU_KVM="$does" QEMU_STARTS="$top/starts" ZWHY_VM_DIR="$top/cache" ZWHY_VM_KVM="$top/kvm" \
        ZWHY_VM_PATIENCE=60 ZWHY_VM_ACCEL= "$@" "$top/vm/run" -t "${limit:-100}" -n "${disks:-1}" -s 64 ${special[@]+"${special[@]}"} ${pattern:+-p "$pattern"} -o "$top/out" true \
        >"$top/console" 2>"$top/errors" || status=$?
}

# expect STATUS 'ACCELERATOR…': what vm/run came to, and the starts of QEMU.
expect() {
    local starts
    starts=$(cut -d' ' -f1 "$top/starts" | xargs)
    [[ $status == "$1" ]] || fail "status $status, not $1"
    [[ $starts == "$2" ]] || fail "started with '$starts', not with '$2'"
}
says() { grep -qE -- "$1" "$top/errors" || fail "does not say: $1"; }
is_silent() { [[ ! -s $top/errors ]] || fail "says something"; }
remembers() {
    local found=''
    [[ ! -f $top/cache/accel ]] || found=$(cut -f1 "$top/cache/accel")
    [[ $found == "$1" ]] || fail "remembers '$found', not '$1'"
}
results_of() { [[ $(cat "$top/out/accel") == "$1" ]] || fail "the results are not of $1"; }

fresh "KVM works"
boot works; expect 0 kvm; is_silent; remembers kvm; results_of kvm
grep -q 'clocksource' "$top/starts" && fail "the clock's words are for emulation alone"
boot works; expect 0 kvm; is_silent

fresh "KVM worked before and is slow today"
boot works
boot slow ZWHY_VM_PATIENCE=4; expect 0 kvm; is_silent

for way in hangs dies aborts errs-early; do
    fresh "KVM $way before the guest's first line"
    patience=60
    [[ $way != hangs ]] || patience=1
    boot $way "ZWHY_VM_PATIENCE=$patience"; expect 0 'kvm tcg'; says '^vm: KVM does not work here .*software emulation'; remembers tcg; results_of tcg
    grep -qE '^tcg .*clocksource=tsc .*tsc_early_khz=[0-9]{6,}' "$top/starts" || fail "emulated, the clock is not said"
    boot $way; expect 0 tcg; is_silent
done

for way in errs-late errs-and-ends aborts-late stops; do
    fresh "KVM $way after the guest's first line"
    boot $way; expect 0 'kvm tcg'; says 'from the start again'; remembers tcg; results_of tcg
    boot works; expect 0 tcg; is_silent
done

fresh "KVM worked before and fails today"
boot works; remembers kvm
boot errs-late; expect 0 'kvm tcg'; remembers tcg

fresh "another CPU or kernel"
boot dies; remembers tcg
sed -i 's/\t.*/\tanother machine/' "$top/cache/accel"
boot works; expect 0 kvm; remembers kvm

fresh "a damaged memory"
head -c 100 /dev/urandom >"$top/cache/accel"
boot works; expect 0 kvm; remembers kvm

fresh "no /dev/kvm"
rm "$top/kvm"
boot works; expect 0 tcg; says "no usable $top/kvm: software emulation"; remembers absent
boot works; expect 0 tcg; is_silent
: >"$top/kvm"
boot works; expect 0 kvm; remembers kvm

fresh "forced emulation"
boot works ZWHY_VM_ACCEL=tcg; expect 0 tcg; is_silent; remembers ''

fresh "forced KVM"
boot works ZWHY_VM_ACCEL=kvm; expect 0 kvm; is_silent; remembers ''
boot errs-late ZWHY_VM_ACCEL=kvm; expect 1 kvm; says '^error: KVM does not work here: QEMU says: KVM internal error'; remembers ''
boot hangs ZWHY_VM_ACCEL=kvm ZWHY_VM_PATIENCE=1; expect 1 kvm; says 'nothing came from the guest in 1 s'
rm "$top/kvm"
boot works ZWHY_VM_ACCEL=kvm; expect 1 ''; says '^error: ZWHY_VM_ACCEL=kvm, but .* not there'
boot works ZWHY_VM_ACCEL=xen; expect 2 ''; says 'it may be kvm or tcg'

fresh "no room on the host"
boot disk-full; expect 1 kvm; says '^error: no room for the disks of the VM'

fresh "a machine that dies midway"
pattern='lab/cells/*'
boot dies-midway; expect 1 kvm; says 'ended without a result'
[[ $(cat "$top/out/lab/cells/0000.json" "$top/out/lab/cells/0001.json" | xargs) == '1 2' ]] || fail "what was finished is lost"
boot hangs ZWHY_VM_ACCEL=kvm ZWHY_VM_PATIENCE=1; expect 1 kvm
[[ ! -e $top/out ]] || fail "an empty folder is left"
boot works; expect 0 kvm; results_of kvm
pattern=''

fresh "a job that takes too long"
limit=5 boot never-ends; expect 124 kvm; says 'did not end within 5 s'; remembers kvm

for way in killed killed-early; do
    fresh "somebody kills QEMU: $way"
    began=$SECONDS
    boot $way; expect 1 kvm; says '^error: the VM ended after [0-9] s: QEMU was killed \(signal 9\)'
    ! grep -q 'did not end' "$top/errors" || fail "it says that time was up"
    [[ $((SECONDS - began)) -lt 20 ]] || fail "it waited"
    [[ ! -f $top/cache/accel || $(cut -f1 "$top/cache/accel") == kvm ]] || fail "KVM is blamed"
done

fresh "whoever called it is gone"
: >"$top/starts"
mkdir "$top/temporary"
mkfifo "$top/holder"
# It is the reader's end that counts: the writer ends, as a program does that is killed.
sleep 300 >"$top/holder" &
holder=$!
env PATH="$top/bin:$PATH" QEMU_KVM=never-ends QEMU_STARTS="$top/starts" ZWHY_VM_DIR="$top/cache" ZWHY_VM_KVM="$top/kvm" \
    TMPDIR="$top/temporary" ZWHY_VM_ACCEL= setsid "$top/vm/run" -w -t 100 -n 1 -s 64 true <"$top/holder" >"$top/console" 2>"$top/errors" &
called=$!
for ((i = 0; i < 600; i++)); do
    if grep -q 'vm: Linux' "$top/console"; then break; fi
    sleep 0.1
done
grep -q 'vm: Linux' "$top/console" || fail "nothing was booted"
kill "$holder"
status=0
wait "$called" || status=$?
[[ $status == 143 ]] || fail "status $status, not 143"
[[ -z $(ls -A "$top/temporary") ]] || fail "its files are still there"
! kill -0 "$(cat "$top/starts.process")" 2>/dev/null || fail "the machine is still there"
rm -r "$top/temporary" "$top/holder"

fresh "two beside each other"
(failures=0; boot errs-late; expect 0 'kvm tcg'; exit "$failures") &
both=$!
# A folder of its own for what the second writes, the same memory.
(
    top_of_both=$top
    top=$(mktemp -d)
    cp -r "$top_of_both"/{vm,bin,kvm} "$top/"
    ln -s "$top_of_both/cache" "$top/cache"
    boot slow QEMU_SLOW=1
    ends=$status
    rm -rf "$top"
    exit "$ends"
) || fail "the second failed"
wait "$both" || failures=$((failures + 1))
boot works; remembers tcg; expect 0 tcg

# drive ID: what QEMU was told of that disk.
drive() { grep "[,=]id=$1," "$top/starts.drives"; }
fresh "slow and bad disks"
disks=3 special=(-d 0:iops=80 -d '1:bps-read=8M,iops-write=150' -d '2:bad=4,iops-read=5')
boot works; expect 0 kvm; is_silent
[[ $(drive d0) == *,throttling.iops-total=80 ]] || fail "the limit of disk 0: $(drive d0)"
[[ $(drive d1) == *,throttling.bps-read=8388608,throttling.iops-write=150 ]] || fail "the limits of disk 1: $(drive d1)"
[[ $(drive d2) == file.driver=blkdebug,*,throttling.iops-read=5 ]] || fail "disk 2 is not bad: $(drive d2)"
[[ $(drive results) != *throttling* ]] || fail "the results are slow, too"
[[ $(grep -c '^iotype = "read"' "$top/starts.bad") == 4 ]] || fail "not four rules for bad sectors"
# From 16 to 48 of 64 MiB, 8 MiB apart, in sectors of 512 bytes.
[[ $(sed -n 's/^sector = "\(.*\)"/\1/p' "$top/starts.bad" | xargs) == '32768 49152 65536 81920' ]] || fail "the bad sectors are elsewhere"
for wrong in 3:iops=80 0:ipos=80 0:iops=0 0: iops=80 0:bad=; do
    special=(-d "$wrong")
    boot works; expect 2 ''; says "^error: -d $wrong: "
done
special=() disks=1

((failures == 0)) || { echo "$failures checks of vm/run failed" >&2; exit 1; }
echo "vm/run chooses its accelerator rightly, makes disks as it is told, and ends with its caller"
