#!/usr/bin/env bash
# The spool of zwhy agent through 30 hours of a host and a kill every few seconds: every row is there or counted.
# HOURS=100 scripts/agent-soak.sh makes it longer.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/path.sh
ZWHY_SOAK_HOURS=${HOURS:-30} cargo test -p zwhy-agent --test soak -- --ignored --exact thirty_hours_with_kills --nocapture
