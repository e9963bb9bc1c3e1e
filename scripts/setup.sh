#!/usr/bin/env bash
# Makes this machine ready: `setup.sh demo` to build and run zwhy, `setup.sh test` for its tests too, `setup.sh dist` to make
# packages of it, `setup.sh page` to make the page that needs no installation.
#
# Installs only what is missing. ZWHY_SKIP_SETUP=1 leaves the system alone and goes on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. scripts/setup/say.sh
. scripts/setup/needs.sh
. scripts/setup/apt.sh
. scripts/setup/rust.sh
. scripts/setup/node.sh
. scripts/setup/zdb.sh
. scripts/setup/fleet_python.sh
. scripts/setup/prometheus.sh

# install_by_hand MISSING: for systems whose packages we do not know.
install_by_hand() {
    local things
    mapfile -t things < <(cut -d'|' -f2 <<<"$1")
    die "this set-up installs packages on Debian 12 and 13 only; this is ${PRETTY_NAME:-another system}" \
        "Please install by hand, then run this again:" "${things[@]/#/- }" \
        "To go on without them: ZWHY_SKIP_SETUP=1 make …"
}

install_missing() {
    local whom=$1 missing packages
    missing=$(missing_needs "$whom")
    if [[ -z $missing ]]; then return; fi
    # shellcheck source=/dev/null
    . /etc/os-release
    if [[ ${ID:-} != debian ]] || ! openzfs_suite "${VERSION_CODENAME:-}" >/dev/null; then
        install_by_hand "$missing"
    fi
    read -ra packages <<<"$(cut -d'|' -f1 <<<"$missing" | tr '\n' ' ')"
    install_packages "$VERSION_CODENAME" "${packages[@]}"
    hash -r
    missing=$(missing_needs "$whom")
    [[ -z $missing ]] || die "installed, but still not found:" "$(cut -d'|' -f2 <<<"$missing")"
}

main() {
    local whom=$1 skip=${ZWHY_SKIP_SETUP:-}
    if [[ $skip != 1 ]]; then install_missing "$whom"; fi
    check_rust "$whom"
    if [[ $whom == test || $whom == page ]]; then
        if [[ $skip != 1 ]]; then ensure_node; fi
        if [[ $skip != 1 && $whom == test ]]; then
            ensure_zdb
            ensure_prometheus
        fi
        ensure_web_packages
    fi
    if [[ $skip != 1 && $whom == fleet ]]; then ensure_fleet_python; fi
    say "ready"
}

case ${1:-} in
demo | test | fleet | dist | page) main "$1" ;;
*) die "usage: scripts/setup.sh demo|test|fleet|dist|page" ;;
esac
