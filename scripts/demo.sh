#!/usr/bin/env bash
# The demonstration: the encryption experiment on real OpenZFS, its answer, and the report page.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

zwhy=${CARGO_TARGET_DIR:-target}/release/zwhy
out=target/demo

rm -rf "$out"
"$zwhy" lab run encryption --quick --explain aes-256-ccm-read -o "$out"
"$zwhy" report "$out/aes-256-ccm-read.zwhy" -o "$out/report.html"
echo
echo "Report: $PWD/$out/report.html"
