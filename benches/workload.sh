#!/usr/bin/env bash
# Keeps the machine busy for SECONDS with several kinds of work, so that a profile has many stacks.
set -euo pipefail
end=$((SECONDS + ${1:?seconds}))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# repeat COMMAND… until the time is over; commands cut short at the end may fail.
repeat() {
    while ((SECONDS < end)); do "$@" >/dev/null 2>&1 || true; done
}

archive() { tar c /usr/share/doc | gzip -1; }
listing() { ls -lR /usr/lib | sort | uniq -c; }
# shellcheck disable=SC2016  # Perl's variables
words='my %h; $h{$_ % 5000 . "x"} .= "abc" for 1..200000; join ",", sort keys %h'

repeat archive &
repeat listing &
repeat find /usr /proc -name 'x*' &
repeat dd if=/dev/urandom of="$scratch/noise" bs=64k count=300 conv=fsync &
repeat perl -e "$words" &
wait
