# Sourced: puts the project's own Node, zdb and Prometheus, and a rustup-installed cargo, on PATH, where they exist.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$repo/.tools/node/bin:$repo/.tools/zdb:$repo/.tools/prometheus/usr/bin:$PATH:${CARGO_HOME:-${HOME-}/.cargo}/bin
export PATH
