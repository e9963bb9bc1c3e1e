#!/usr/bin/env bash
# Builds a program of this project for the VM, static where the musl target is there, and prints
# where it is: `zwhy.sh [PACKAGE]`, by default zwhy. $ZWHY_STATIC names a zwhy that is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
package=${1:-zwhy}
if [[ $package == zwhy && -n ${ZWHY_STATIC:-} ]]; then
    realpath "$ZWHY_STATIC"
    exit
fi
target=$(uname -m)-unknown-linux-musl
if [[ ! -d $(rustc --print target-libdir --target "$target") ]] || ! command -v musl-gcc >/dev/null; then
    echo "building $package with shared libraries: rustup target add $target and musl-gcc make it static" >&2
    target=$(rustc -vV | sed -n 's/^host: //p')
fi
cargo build --locked --quiet --profile vm --target "$target" --package "$package" >&2
realpath "${CARGO_TARGET_DIR:-target}/$target/vm/$package"
