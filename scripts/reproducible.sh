#!/usr/bin/env bash
# Builds the packages twice, in two folders with names of different length, and compares every byte.
# It builds the sources that are committed, and keeps the packages in target/dist. DIST_PROFILE=dev tries it out quickly.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/dist/stage.sh

base=$(mktemp -d "${TMPDIR:-/var/tmp}/zwhy-twice.XXXXXX")
trap 'rm -rf "$base"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
ZWHY_COMMIT=$(scripts/commit.sh)
DEBFULLNAME=${DEBFULLNAME:-$(git log -1 --format=%an)}
DEBEMAIL=${DEBEMAIL:-$(git log -1 --format=%ae)}
export SOURCE_DATE_EPOCH ZWHY_COMMIT DEBFULLNAME DEBEMAIL

for folder in "$base/a" "$base/another-folder/with/a/longer/name"; do
    mkdir -p "$folder"
    git archive HEAD | tar --extract --directory="$folder"
    (cd "$folder" && CARGO_TARGET_DIR=$folder/target scripts/dist.sh "$base/out-$(basename "$folder")")
done
if ! diff --recursive --brief "$base/out-a" "$base/out-name"; then
    die "the two builds differ"
fi
kept=$(realpath -m "${CARGO_TARGET_DIR:-target}/dist")
rm -rf "$kept"
mkdir -p "$(dirname "$kept")"
mv "$base/out-a" "$kept"
say "both builds are equal; one of them is now in $kept:"
cat "$kept/SHA256SUMS"
