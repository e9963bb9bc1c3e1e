#!/usr/bin/env bash
# Tries the package in every combination of scripts/matrix/cells.toml, and writes what was found into the table of
# docs/SYSTEMS.md: `matrix.sh [CELL…]`. Needs root, debootstrap and packages: PACKAGE="FILE.deb…", else those of `make dist`;
# QEMU for those of another machine.
#
# Cells of the kernel VM run only when they are named. A cell that fails is a row of the table, too, and the end says so.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

here=$(dpkg --print-architecture)
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
logs=$folder/matrix
mkdir -p "$logs"
cells=$(scripts/matrix/table.py cells "$@")

say() { printf 'matrix: %s\n' "$*"; }

# try PACKAGE-OR-TEST WORD…: what it prints goes to the log.
try() {
    case $1 in
    package)
        BASE=$logs DEBIAN=$2 SUITE=$3 AS=$4 ARCH=${5:-$here} PACKAGE=$(packages "${5:-$here}") scripts/fresh-machine.sh
        ;;
    vm) VERSIONS=$3 scripts/kernel-test.sh "$2" ;;
    esac
}

# packages ARCHITECTURE: those of it, and those of all.
packages() {
    if [[ -n ${PACKAGE:-} ]]; then
        tr ' ' '\n' <<<"$PACKAGE" | grep -E "_($1|all)\.deb$" | tr '\n' ' '
    else
        printf '%s ' "$folder"/dist/*_"$1".deb "$folder"/dist/*_all.deb
    fi
}

# what_it_was LOG: the system in the words of its log, and how many tests of the VM passed.
what_it_was() {
    sed -n 's/^package: on //p' "$1" | tail -n 1
    sed -n 's/^vm: \(OpenZFS .*\), clock .*/\1/p' "$1" | tail -n 1
    sed -n 's/^test result: ok\. \([0-9]*\) passed.*/: \1 tests/p' "$1" | tail -n 1
}

failed=()
while read -r name words; do
    say "$name"
    log=$logs/$name.log
    # The words are those of a cell, one an argument.
    # shellcheck disable=SC2086
    if try $words >"$log" 2>&1 </dev/null; then
        scripts/matrix/table.py found "$name" passed "$(what_it_was "$log")"
    else
        failed+=("$name")
        scripts/matrix/table.py found "$name" failed "$(grep -E 'error:' "$log" | head -n 1)"
        tail -n 5 "$log" >&2
    fi
done <<<"$cells"
if ((${#failed[@]})); then
    say "failed: ${failed[*]}; logs in $logs" >&2
    exit 1
fi
say "all passed; the table is in docs/SYSTEMS.md"
