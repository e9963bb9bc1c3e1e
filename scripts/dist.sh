#!/usr/bin/env bash
# Makes what is given to other people's machines, in target/dist: Debian packages, a static archive, the lists of what is in
# them (SBOM, licences) and checksums. `scripts/dist.sh [FOLDER]`.
#
# The same sources shall give the same bytes in any folder (`make reproducible` compares): paths of this machine are mapped
# away, times are those of the last commit (SOURCE_DATE_EPOCH). DIST_MACHINES="x86_64 aarch64" names the machines that it makes
# programs for: without it this one and arm64, as far as compilers for them are here. DIST_PROFILE=dev tries it out quickly;
# DIST_PROGRAM, DIST_STATIC and DIST_FLEET name programs for this machine that are built already; DIST_STATIC=none makes no
# static archive, DIST_FLEET=none no package of zwhy-fleet.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. scripts/dist/stage.sh
. scripts/dist/build.sh
. scripts/dist/deb.sh
. scripts/dist/zwhy.sh
. scripts/dist/agent.sh
. scripts/dist/fleet.sh

out=$(realpath -m "${1:-target/dist}")
profile=${DIST_PROFILE:-release}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
here=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}
ZWHY_COMMIT=${ZWHY_COMMIT-$(scripts/commit.sh)}
# Libraries draw numbers from the last one while they are compiled.
export SOURCE_DATE_EPOCH ZWHY_COMMIT LC_ALL=C.UTF-8 TZ=UTC CONST_RANDOM_SEED=zwhy
# As Debian's own tools have it; else who made the last commit.
maintainer=${DEBFULLNAME:-$(git log -1 --format=%an 2>/dev/null || true)}
maintainer="$maintainer <${DEBEMAIL:-$(git log -1 --format=%ae 2>/dev/null || true)}>"
[[ $maintainer != " <"* && $maintainer != *"<>" ]] ||
    die "no maintainer for the package: these sources are no repository" "Name one with DEBFULLNAME and DEBEMAIL."

# make_for MACHINE: what holds programs, which is different for each.
make_for() {
    machine=$1
    work=$base/$machine
    mkdir -p "$work"
    local triple=$machine-unknown-linux-gnu built
    scripts/dist/bill.py sbom --target "$triple" >"$out/zwhy-$version-$machine.cdx.json"
    scripts/dist/bill.py texts --target "$triple" >"$work/THIRD-PARTY.txt"
    built=$(program zwhy "${DIST_PROGRAM:-}" "$triple")
    make_zwhy "$built"
    make_static
    if [[ ${DIST_FLEET:-} == none ]]; then
        say "no package of zwhy-fleet, as DIST_FLEET says"
    else
        scripts/dist/bill.py sbom --program zwhy-fleet --target "$triple" >"$out/zwhy-fleet-$version-$machine.cdx.json"
        scripts/dist/bill.py texts --program zwhy-fleet --target "$triple" >"$work/FLEET-THIRD-PARTY.txt"
        built=$(program zwhy-fleet "${DIST_FLEET:-}" "$triple")
        make_fleet "$built"
    fi
}

for tool in dpkg-deb objcopy python3 xz; do
    command -v "$tool" >/dev/null || die "$tool is missing" "Try: apt-get install dpkg binutils python3 xz-utils"
done
wanted=$(machines)
rm -rf "$out"
mkdir -p "$out"
base=$(mktemp -d)
trap 'leave_place; rm -rf "$base"' EXIT

# As everything else that is built without optimisation, or half of it would be built again: a page says no time.
env -u SOURCE_DATE_EPOCH -u ZWHY_COMMIT -u CONST_RANDOM_SEED \
    cargo run --locked --quiet --package zwhy --example manual -- "$base/manual"
scripts/dist/bill.py licences
if [[ ${DIST_FLEET:-} != none ]]; then scripts/dist/bill.py licences --program zwhy-fleet; fi
for one in $wanted; do make_for "$one"; done
work=$base/all
make_agent
scripts/dist/check.sh "$out"
(cd "$out" && sha256sum -- * >"$base/SHA256SUMS" && mv "$base/SHA256SUMS" .)
say "made in $out:"
(cd "$out" && ls -l --time-style=+ -- * | awk '{ printf "  %10d  %s\n", $5, $6 }')
