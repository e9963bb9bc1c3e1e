#!/usr/bin/env bash
# Makes the page that needs no installation, target/page/zwhy.html: `scripts/page.sh [FOLDER]`.
#
# The engine is crates/browser as WebAssembly, the rest is web/anywhere.html and web/src/anywhere/.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

out=$(realpath -m "${1:-target/page}")
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
target=wasm32-unknown-unknown
export CC_wasm32_unknown_unknown=clang AR_wasm32_unknown_unknown=llvm-ar
# A library draws numbers from it while it is compiled: the same sources shall make the same page.
export CONST_RANDOM_SEED=zwhy

if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
    printf 'page: error: Rust has no %s here: rustup target add %s\n' "$target" "$target" >&2
    exit 1
fi
# As a library of its own only here: other programs link the crate as any other.
cargo rustc --locked --quiet --package zwhy-browser --lib --target "$target" --profile page --crate-type cdylib
mkdir -p "$out"
cd web
node scripts/build-anywhere.mjs "$folder/$target/page/zwhy_browser.wasm" "$out/zwhy.html"
