#!/usr/bin/env bash
# zwhy agent through 30 hours of a host and a kill every few minutes of it: every row is in the spool or counted; with a
# store that fails a third of its requests and is away for hours, every row is in the store or counted.
# HOURS=100 scripts/agent-soak.sh makes it longer.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/path.sh
export ZWHY_SOAK_HOURS=${HOURS:-30}
cargo test --locked -p zwhy-agent --test soak -- --ignored --exact thirty_hours_with_kills --nocapture
cargo test --locked -p zwhy-agent --lib -- --ignored --exact ship::soak::thirty_hours_with_kills_and_a_store --nocapture
