#!/usr/bin/env bash
# Inside a fresh Debian: installs packages as people do, uses them, removes them, and finds nothing left:
# `installed.sh "FILE.deb…" [SUITE [USER]]`. The files are the package zwhy, and, as far as they are named, zwhy-agent and
# zwhy-fleet.
#
# SUITE has the OpenZFS (its component contrib), this release when not said; `none` tries a host without OpenZFS.
# USER uses the package: root, `nobody`, `no-capabilities`: root of a container that has none, or `emulated`: root of a machine
# that QEMU emulates in user mode, which has no perf events.
# The last line says what was found, for `make matrix`.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
# Names of packages have no spaces.
# shellcheck disable=SC2206
debs=(${1:?usage: installed.sh "FILE.deb…" [SUITE [USER]]})
# shellcheck source=/dev/null
. /etc/os-release
suite=${2:-$VERSION_CODENAME}
user=${3:-root}
work=$(mktemp -d)
chmod 755 "$work"
found=()

fail() {
    printf 'package: error: %s\n' "$*" >&2
    exit 1
}

# all_files: but what belongs to the kernel, to apt, dpkg and debconf themselves, and to whoever calls.
all_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /root -o -path /tmp -o -path /run \
        -o -path /var/cache/apt -o -path /var/cache/debconf -o -path /var/cache/ldconfig -o -path /var/lib/apt \
        -o -path /var/lib/dpkg -o -path /var/log \
        \) -prune -o -print | sort
}

# with_rights COMMAND…: as the user who tries it.
with_rights() {
    case $user in
    root | emulated) "$@" ;;
    nobody) env HOME="$work/home" runuser -u nobody -- "$@" ;;
    no-capabilities) setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs "$@" ;;
    *) fail "no user is called $user" ;;
    esac
}

# install_openzfs: the newest libzpool of the suite, and only from there.
install_openzfs() {
    local mirror library
    mirror=$(awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list)
    sed -i 's/ main$/ main contrib/' /etc/apt/sources.list
    if [[ $suite != "$VERSION_CODENAME" ]]; then echo "deb $mirror $suite main contrib" >>/etc/apt/sources.list; fi
    apt-get -qq update
    library=$(apt-cache pkgnames libzpool | grep -E '^libzpool[0-9]+linux$' | sort -V | tail -n 1)
    apt-get -qq install -y --no-install-recommends -t "$suite" "$library" >/dev/null
    found+=("$library $(dpkg-query -W -f '${Version}' "$library")")
}

# reads: what needs no host: a recording of the package, its page, and help.
reads() {
    with_rights zwhy explain /usr/share/doc/zwhy/first-hour/gzip.zwhy >explain.txt
    grep -q 'gzip compression' explain.txt || fail "no answer to a recording of the package"
    with_rights zwhy report /usr/share/doc/zwhy/first-hour/gzip.zwhy -o report.html >/dev/null
    [[ $(head -c 15 report.html) == '<!doctype html>' ]] || fail "the page is none"
    with_rights zwhy help privileges >help.txt
}

# doctor: says what can be recorded. 1: something cannot, which a container without ZFS has a right to.
doctor() {
    with_rights zwhy doctor >doctor.txt || (($? == 1)) || fail "zwhy doctor failed"
    grep -q 'CPU samples' doctor.txt || fail "zwhy doctor says nothing of samples"
}

# records NAME OPTION…: a capture that is explained, or a refusal that says what helps.
records() {
    local name=$1
    shift
    if with_rights zwhy record -o "$name.zwhy" "$@" >"$name.txt" 2>&1; then
        with_rights zwhy explain "$name.zwhy" >"$name-why.txt" || fail "$name: recorded, and not explained"
        found+=("$name recorded")
    else
        grep -qE 'zwhy doctor|zwhy help|CAP_|perf_event_paranoid' "$name.txt" ||
            fail "$name: refused without a word of what helps: $(cat "$name.txt")"
        [[ $user != root ]] || fail "$name: refused to root: $(cat "$name.txt")"
        found+=("$name refused, with what helps")
    fi
}

# experiment: on the OpenZFS that is here, or an error that says how to get one.
experiment() {
    if [[ $suite == none ]]; then
        if with_rights zwhy lab run encryption --quick -o lab >lab.txt 2>&1; then fail "an experiment without OpenZFS"; fi
        grep -q 'OpenZFS is not installed here' lab.txt || fail "$(tail -n 5 lab.txt)"
        found+=("the lab says what to install")
        return
    fi
    with_rights zwhy lab run encryption --quick -o lab >lab.txt 2>&1 || fail "$(tail -n 5 lab.txt)"
    grep -q 'What it means' lab.txt || fail "the experiment has no answer"
    # Where there are no perf events an experiment measures, and records nothing.
    if [[ $user == emulated ]]; then
        grep -q 'measured without captures' lab.txt || fail "the experiment does not say that it records nothing"
        found+=("an experiment without recordings")
        return
    fi
    with_rights zwhy report lab/aes-256-ccm-read.zwhy -o lab.html >/dev/null
    [[ $(head -c 15 lab.html) == '<!doctype html>' ]] || fail "the page of the experiment is none"
    found+=("an experiment and its report")
}

# agent: the service as its unit starts it, for a moment; what it would keep is there when the package goes.
agent() {
    local command spool=/var/lib/zwhy
    # shellcheck source=/dev/null
    . /etc/default/zwhy-agent
    command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/zwhy-agent.service)
    mkdir -p "$spool"
    # Options are words.
    # shellcheck disable=SC2086
    STATE_DIRECTORY=$spool timeout --signal=TERM 20 ${command/'$ZWHY_AGENT_OPTIONS'/$ZWHY_AGENT_OPTIONS} >agent.txt 2>&1 ||
        (($? == 124)) || fail "the agent ended: $(tail -n 3 agent.txt)"
    zwhy agent status --spool "$spool" >status.txt || (($? == 1)) || fail "no status of the agent"
    zwhy agent capture --spool "$spool" --last 10m -o night.zwhy >capture.txt 2>&1 ||
        fail "nothing that the agent recorded: $(cat agent.txt capture.txt)"
    zwhy explain night.zwhy >night.txt
    found+=("the agent recorded")
}

# fleet: a store of one recording as that of three hosts, asked.
fleet() {
    local host
    for host in one two three; do
        zwhy-fleet ingest /usr/share/doc/zwhy/first-hour/gzip.zwhy --store store --host "$host" >>ingest.txt
    done
    zwhy-fleet query hosts --store store --json >hosts.json
    [[ $(grep -o '"host"' hosts.json | wc -l) -ge 3 ]] || fail "the fleet does not know its hosts: $(head -c 300 hosts.json)"
    found+=("a store of three hosts asked")
}

apt-get -qq update
if [[ $suite != none ]]; then install_openzfs; fi
all_files >"$work/before"
apt-get -qq install -y --no-install-recommends "${debs[@]}" >/dev/null

mkdir "$work/home"
if [[ $user == nobody ]]; then chown nobody "$work/home"; fi
cd "$work/home"
zwhy --version
reads
doctor
# Its loop takes a moment of CPU on any machine.
# shellcheck disable=SC2016 # the other shell counts
records "a command" -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
records "the host" -a -d 1
experiment
packages=(zwhy)
for part in agent fleet; do
    if dpkg-query -W -f '${Status}' "zwhy-$part" 2>/dev/null | grep -q 'ok installed'; then
        packages+=("zwhy-$part")
        if [[ $part == agent && $user == emulated ]]; then continue; fi
        "$part"
    fi
done
cd /

apt-get -qq purge -y "${packages[@]}" >/dev/null
all_files >"$work/after"
diff "$work/before" "$work/after" || fail "removal leaves files (above)"
found+=("removed without a trace")
printf -v found '%s, ' "${found[@]}"
printf 'package: on %s as %s: %s\n' "$PRETTY_NAME" "$user" "${found%, }"
