#!/usr/bin/env bash
# Lints the shell scripts; without shellcheck only their syntax.
set -euo pipefail
cd "$(dirname "$0")/.."

# The parts in scripts/setup are checked where they are sourced.
scripts=(scripts/*.sh benches/*.sh plugins/gpu/*.sh tests/*.sh .ci/run)
scripts+=(vm/accel.sh vm/build.sh vm/disks.sh vm/needs.sh vm/run vm/test.sh vm/zwhy.sh)
for script in "${scripts[@]}" scripts/*/*.sh; do bash -n "$script"; done
if command -v shellcheck >/dev/null; then
    shellcheck --external-sources --check-sourced --severity=warning "${scripts[@]}"
else
    echo "shellcheck is not installed: checked only the syntax"
fi
