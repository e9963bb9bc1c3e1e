#!/usr/bin/env bash
# Tests zwhy with the real OpenZFS module in the kernel VM: `kernel-test.sh [TEST…]`.
#
# VERSIONS="2.4 2.3 2.1" are the versions of OpenZFS, 2.3 alone when not said; KEEP=FOLDER keeps what the
# machines leave. The tests are those of tests/kernel: module (3 minutes), top (5 minutes, 2.3 only), lockdown, lab, lab_vm
# (20 minutes: each experiment in a machine of its own), and faults (two hours, 2.3 only; ZWHY_SCENARIOS="gzip-9 …" chooses
# some), all when none is named.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

ZWHY_STATIC=$(vm/zwhy.sh)
ZWHY_LOAD=$(vm/zwhy.sh zwhy-load)
export ZWHY_STATIC ZWHY_LOAD
if [[ -n ${KEEP:-} ]]; then
    mkdir -p "$KEEP"
    ZWHY_KERNEL_OUT=$(realpath "$KEEP")
    export ZWHY_KERNEL_OUT
fi
if (($# == 0)); then set -- module top lockdown lab lab_vm faults; fi
for version in ${VERSIONS:-2.3}; do
    vm/build.sh "$version"
    for name; do
        # The faults are set by parameters of 2.3.
        if [[ ( $name == faults || $name == top ) && $version != 2.3 ]]; then continue; fi
        threads=()
        # Each test of it is measured by its time.
        if [[ $name == lab_vm ]]; then threads=(--test-threads=1); fi
        ZWHY_KERNEL_VERSION=$version cargo test --locked --package zwhy-kernel-tests --test "$name" -- --ignored "${threads[@]}"
    done
done
