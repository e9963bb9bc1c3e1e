#!/usr/bin/env bash
# Prints the commit that is checked out, for `zwhy --version`; nothing where this is no repository.
set -euo pipefail
cd "$(dirname "$0")/.."

git describe --always --exclude '*' --abbrev=12 --dirty=-modified 2>/dev/null || true
