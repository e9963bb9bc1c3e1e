#!/usr/bin/env bash
# Every check of the project, cheapest first; `BLESS=1` rewrites the golden files instead of comparing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. scripts/steps.sh

# An emulated machine, or a busy host's counters, may miss their limits: one failure is shown, two are final.
twice() {
    if "$@"; then return; fi
    printf '\n== failed once, trying again: %s\n' "$*" >&2
    "$@"
}

web() { (cd web && npm run --silent "$@"); }

step "shell scripts" scripts/check-shell.sh
step "the VM's accelerator" vm/test.sh
step "licence expressions" python3 -m doctest scripts/dist/bill.py
step "man pages from --help" python3 -m doctest scripts/dist/pages.py
step "licences of libraries" scripts/dist/bill.py licences
step "figures of a GPU" python3 -m doctest plugins/gpu/preset.py
step "table of combinations" python3 -m doctest scripts/matrix/table.py
step "table of combinations in docs" scripts/matrix/table.py check
step "comparison" python3 -m doctest scripts/compare.py
step "figures of the comparison" scripts/compare.py check
step "pages of the book" python3 -m doctest scripts/site/book.py
step "rust format" cargo fmt --all --check
if [[ -f web/package.json ]]; then
    step "web types and style" web check
    step "web unit tests" web test
    step "web template is fresh" web verify
fi
step "rust lints" cargo clippy --locked --workspace --all-targets -- -D warnings
step "rust tests" cargo test --locked --workspace --all-targets
step "rust doc tests" cargo test --locked --workspace --doc
step "the program" cargo build --locked --package zwhy
step "a provider killed while it writes" tests/offload-kill.sh 3 "${CARGO_TARGET_DIR:-target}/debug/zwhy"
step "the live view" twice python3 tests/top.py --zwhy "${CARGO_TARGET_DIR:-target}/debug/zwhy"
step "numbers of other tools" python3 tests/oracles --zwhy "${CARGO_TARGET_DIR:-target}/debug/zwhy" \
    --dependencies --at-least 10 crates/formats/tests/inputs
step "real kernel module" twice scripts/kernel-test.sh module
if [[ -f web/package.json ]]; then
    step "web in the browser" web test:browser
    step "end to end" env ZWHY="${CARGO_TARGET_DIR:-target}/debug/zwhy" node --test tests/*.test.mjs
fi
steps_summary
