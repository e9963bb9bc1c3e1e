#!/usr/bin/env bash
# Three hosts that are made of recordings, a store of them, and the server that shows it; Ctrl-C ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/path.sh
. scripts/path.sh

cargo build --locked --manifest-path fleet/Cargo.toml
fleet=${CARGO_TARGET_DIR:-fleet/target}/debug/zwhy-fleet
store=$(mktemp -d)
server=
ended() {
    if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$store"
}
trap ended EXIT
trap 'exit 0' INT TERM

"$fleet" simulate docs/first-hour/*.zwhy --hosts 3 --hours 1 --start -1h --store "$store/hosts"
"$fleet" judge --store "$store/hosts"
"$fleet" query hosts --store "$store/hosts"
"$fleet" serve --store "$store/hosts" --listen "127.0.0.1:${PORT:-9935}" >"$store/address" &
server=$!
until [[ -s $store/address ]]; do
    kill -0 "$server" 2>/dev/null || exit 1
    sleep 0.1
done
address=$(<"$store/address")
echo "The page, with a token of this server alone: $address"
if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && command -v xdg-open >/dev/null; then xdg-open "$address" >/dev/null 2>&1 || true; fi
wait "$server"
