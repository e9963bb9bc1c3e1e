#!/usr/bin/env bash
# Makes the documentation one book in target/site, which opens from disk without a network: `scripts/site.sh [FOLDER]`.
#
# mdBook is taken from the PATH, or built once from crates.io into .tools: Debian has no package of it, and what cargo
# builds is the same everywhere that Rust is, which zwhy needs anyway.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

say() { printf 'site: %s\n' "$*"; }

out=$(realpath -m "${1:-target/site}")
version=0.5.4
mdbook=$(command -v mdbook || echo "$PWD/.tools/mdbook/bin/mdbook")
if [[ ! -x $mdbook ]]; then
    say "building mdBook $version, once"
    cargo install --locked --quiet --root .tools/mdbook --no-default-features --features search "mdbook@$version"
fi

python3 scripts/site/book.py "$out"
"$mdbook" build "$out" --dest-dir "$out/book"

# Readers may have no network, and nobody shall learn what they read.
if grep -rEl --include='*.html' --include='*.css' '<(script|link|img|iframe)[^>]*(src|href)="https?:|url\(.?https?:|@import' "$out/book"; then
    say "error: pages of the book (above) load something from the network" >&2
    exit 1
fi
say "made: $out/book/index.html"
