#!/usr/bin/env bash
# Prints the Debian packages that building and booting the VM needs and that are missing, one a line. Exit status 1, with
# the reason, on a system that cannot have it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/setup/needs.sh"
. "$here/../scripts/setup/apt.sh"
ID='' VERSION_CODENAME='' PRETTY_NAME=''
# shellcheck source=/dev/null
if [[ -r /etc/os-release ]]; then . /etc/os-release; fi

if [[ $(uname -m) != x86_64 ]]; then
    echo "the VM is one of x86_64; this is $(uname -m)" >&2
    exit 1
fi
if [[ $ID != debian ]] || ! openzfs_suite "$VERSION_CODENAME" >/dev/null; then
    echo "its kernel is built from packages of Debian 12 or 13; this is ${PRETTY_NAME:-another system}" >&2
    exit 1
fi
missing_needs test | { grep -F '(for the kernel VM)' || true; } | cut -d'|' -f1 | xargs -r -n 1
