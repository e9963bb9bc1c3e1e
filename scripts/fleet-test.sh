#!/usr/bin/env bash
# Checks and tests of zwhy-fleet, which is a workspace of its own: its query engine is as large as all else together.
set -euo pipefail
cd "$(dirname "$0")/../fleet"
# shellcheck source=scripts/path.sh
. ../scripts/path.sh

cargo fmt --check
cargo clippy --locked --all-targets -- -D warnings
cargo test --locked --all-targets
python3 -m doctest tests/docs.py
python3 tests/docs.py "${CARGO_TARGET_DIR:-target}/debug/zwhy-fleet"
# The pages need a browser and what `make setup-test` installs.
if [[ -d ../web/node_modules/playwright-core ]]; then
    ZWHY_FLEET=${CARGO_TARGET_DIR:-target}/debug/zwhy-fleet node --test tests/pages.test.mjs
fi
