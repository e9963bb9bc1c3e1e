#!/usr/bin/env bash
# Makes what is given to other people's machines, in target/dist: a Debian package, a static archive, the list of what is
# in them (SBOM, licences) and checksums. `scripts/dist.sh [FOLDER]`.
#
# The same sources shall give the same bytes in any folder (`make reproducible` compares): paths of this machine are mapped
# away, times are those of the last commit (SOURCE_DATE_EPOCH). DIST_PROFILE=dev tries it out quickly; DIST_PROGRAM and
# DIST_STATIC name programs that are built already; DIST_STATIC=none makes no static archive.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. scripts/dist/stage.sh
. scripts/dist/deb.sh

out=$(realpath -m "${1:-target/dist}")
profile=${DIST_PROFILE:-release}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
machine=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)}
ZWHY_COMMIT=${ZWHY_COMMIT-$(scripts/commit.sh)}
export SOURCE_DATE_EPOCH ZWHY_COMMIT LC_ALL=C.UTF-8 TZ=UTC
# As Debian's own tools have it; else who made the last commit.
maintainer=${DEBFULLNAME:-$(git log -1 --format=%an 2>/dev/null || true)}
maintainer="$maintainer <${DEBEMAIL:-$(git log -1 --format=%ae 2>/dev/null || true)}>"
[[ $maintainer != " <"* && $maintainer != *"<>" ]] ||
    die "no maintainer for the package: these sources are no repository" "Name one with DEBFULLNAME and DEBEMAIL."

# Folders of this machine that would be in messages of panics and in debug information.
home=${CARGO_HOME:-$HOME/.cargo}
mapped="--remap-path-prefix=$PWD=/zwhy --remap-path-prefix=$home=/cargo"

# program TARGET: builds zwhy for it and prints where it is.
program() {
    local folder=${profile/#dev/debug}
    RUSTFLAGS="$mapped" CFLAGS="-ffile-prefix-map=$PWD=/zwhy -ffile-prefix-map=$home=/cargo" \
        cargo build --locked --quiet --profile "$profile" --target "$1" --package zwhy >&2
    realpath "${CARGO_TARGET_DIR:-target}/$1/$folder/zwhy"
}

for tool in dpkg-deb objcopy python3 xz; do
    command -v "$tool" >/dev/null || die "$tool is missing" "Try: apt-get install dpkg binutils python3 xz-utils"
done
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo run --locked --quiet --package zwhy --example manual -- "$work/manual"
scripts/dist/bill.py licences
scripts/dist/bill.py sbom --target "$machine-unknown-linux-gnu" >"$out/zwhy-$version.cdx.json"
scripts/dist/bill.py texts --target "$machine-unknown-linux-gnu" >"$work/THIRD-PARTY.txt"

built=${DIST_PROGRAM:-$(program "$machine-unknown-linux-gnu")}
make_deb "$built"
musl=$machine-unknown-linux-musl
if [[ ${DIST_STATIC:-} == none ]]; then
    say "no static archive, as DIST_STATIC says"
elif [[ -n ${DIST_STATIC:-} ]]; then
    make_archive "$DIST_STATIC"
elif [[ -d $(rustc --print target-libdir --target "$musl") ]] && command -v musl-gcc >/dev/null; then
    built=$(program "$musl")
    make_archive "$built"
else
    say "no static archive: rustup target add $musl and musl-gcc make one"
fi
scripts/dist/check.sh "$out"
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
say "made in $out:"
(cd "$out" && ls -l --time-style=+ -- * | awk '{ printf "  %10d  %s\n", $5, $6 }')
