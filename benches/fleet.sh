#!/usr/bin/env bash
# Times queries over simulated hosts beside DuckDB on the same files: HOSTS=100 HOURS=1 RATE=51 INTERVAL=5 benches/fleet.sh
# STORE=FOLDER keeps the hosts there for another run; FLEET=PROGRAM is an optimised zwhy-fleet that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/path.sh
. scripts/path.sh

python=.tools/fleet-python/bin/python3
if [[ ! -x $python ]]; then python=python3; fi
if ! "$python" -c 'import duckdb' 2>/dev/null; then
    echo "fleet: not measured, the Python module duckdb is missing: make setup-fleet"
    exit 0
fi
fleet=${FLEET:-}
if [[ -z $fleet ]]; then
    cargo build --locked --release --manifest-path fleet/Cargo.toml
    fleet=${CARGO_TARGET_DIR:-fleet/target}/release/zwhy-fleet
fi
store=${STORE:-}
if [[ -z $store ]]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    store=$folder/hosts
fi
"$python" benches/fleet.py docs/first-hour/*.zwhy --fleet "$fleet" \
    --store "$store" --hosts "${HOSTS:-100}" --hours "${HOURS:-1}" ${RATE:+--rate "$RATE"} --interval "${INTERVAL:-5}"
