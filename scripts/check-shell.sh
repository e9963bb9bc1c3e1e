#!/usr/bin/env bash
# Lints the shell scripts; without shellcheck only their syntax.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts=(scripts/*.sh scripts/*/*.sh .ci/run)
for script in "${scripts[@]}"; do bash -n "$script"; done
if command -v shellcheck >/dev/null; then
    shellcheck --external-sources --check-sourced scripts/*.sh .ci/run
else
    echo "shellcheck is not installed: checked the syntax of ${#scripts[@]} scripts only"
fi
