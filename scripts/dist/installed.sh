#!/usr/bin/env bash
# Inside a fresh Debian: installs a package as people do, uses it, removes it, and finds nothing left: `installed.sh FILE.deb`.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
deb=$(realpath "${1:?usage: installed.sh FILE.deb}")
work=$(mktemp -d)

fail() {
    printf 'package: error: %s\n' "$*" >&2
    exit 1
}

# all_files: but what belongs to the kernel, to apt and dpkg themselves, and to whoever calls.
all_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /root -o -path /tmp -o -path /run \
        -o -path /var/cache/apt -o -path /var/cache/ldconfig -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \
        \) -prune -o -print | sort
}

sed -i 's/ main$/ main contrib/' /etc/apt/sources.list
apt-get -qq update
libzpool=$(apt-cache pkgnames libzpool | grep -E '^libzpool[0-9]+linux$' | sort -V | tail -n 1)
apt-get -qq install -y --no-install-recommends "$libzpool" >/dev/null
all_files >"$work/before"

apt-get -qq install -y --no-install-recommends "$deb" >/dev/null
cd "$work"
zwhy --version
# 1: something cannot be recorded here, which a container without ZFS has a right to.
zwhy doctor >doctor || (($? == 1)) || fail "zwhy doctor failed"
grep -q 'CPU samples' doctor || fail "zwhy doctor says nothing of samples"
zwhy lab run encryption --quick -o lab >lab.txt 2>&1 || fail "$(tail -n 5 lab.txt)"
grep -q 'What it means' lab.txt || fail "the experiment has no answer"
zwhy report lab/aes-256-ccm-read.zwhy -o report.html >/dev/null
[[ $(head -c 15 report.html) == '<!doctype html>' ]] || fail "the page is none"
zwhy explain /usr/share/doc/zwhy/first-hour/gzip.zwhy >explain.txt
grep -q 'gzip compression' explain.txt || fail "no answer to a recording of the package"
cd /

apt-get -qq purge -y zwhy >/dev/null
all_files >"$work/after"
diff "$work/before" "$work/after" || fail "removal leaves files (above)"
printf 'package: installed, used and removed without a trace, on %s with %s\n' "$(. /etc/os-release && echo "$PRETTY_NAME")" "$libzpool"
