#!/usr/bin/env bash
# Packs each crate as `cargo package` does, and installs the program from what was packed alone, in an empty folder.
#
# The crates are on no registry, so cargo is told where the unpacked ones lie. Without optimisation, as it only tries it. What
# was compiled must name no file of the repository: a packed crate that holds less than it is built from is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

fail() {
    printf 'crates: error: %s\n' "$*" >&2
    exit 1
}

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# Outside of the workspace, or cargo would take what lies above the unpacked crates for theirs.
empty=$(mktemp -d "${TMPDIR:-/var/tmp}/zwhy-crates.XXXXXX")
trap 'rm -rf "$empty"' EXIT

rm -rf "$folder/package"
cargo package --locked --quiet --no-verify --allow-dirty --workspace --exclude zwhy-kernel-tests --exclude zwhy-browser
crates=0
{
    echo '[patch.crates-io]'
    for packed in "$folder"/package/*.crate; do
        tar --extract --gzip --directory="$empty" --file="$packed"
        name=$(basename "$packed" "-$version.crate")
        echo "$name.path = \"$empty/$name-$version\""
        crates=$((crates + 1))
    done
    # As the workspace has it, so that libraries that were built for it are taken as they are.
    printf '[profile.dev]\ndebug = "line-tables-only"\n[profile.dev.package."*"]\ndebug = false\n'
} >"$empty/config.toml"
((crates > 15)) || fail "only $crates crates were packed"
# The exact libraries that the tests ran with.
cp Cargo.lock "$empty/zwhy-$version/Cargo.lock"

start=$empty/start
touch "$start"
(cd "$empty" && CARGO_TARGET_DIR=$folder cargo install --quiet --debug --no-track --config config.toml \
    --root "$empty/installed" --path "zwhy-$version")

# Rust writes down which files each library was built from.
mapfile -t notes < <(find "$folder/debug" -name '*.d' -newer "$start" -exec grep -l "$empty" {} +)
((${#notes[@]} > 20)) || fail "only ${#notes[@]} lists of sources were written"
outside=$(cat "${notes[@]}" | tr ' ' '\n' | grep "^$PWD/" | grep -v "^$folder/" | sort -u || true)
[[ -z $outside ]] || fail "these are in no packed crate: $outside"

cd "$empty"
zwhy=$empty/installed/bin/zwhy
"$zwhy" --version | tee version
grep -qE '[0-9]+ causes' version || fail "the installed program has no knowledge"
"$zwhy" explain "zwhy-$version/tests/lab/stacks.folded" >explain.txt
grep -q WHY explain.txt || fail "the installed program explains nothing"
"$zwhy" report "zwhy-$version/tests/lab/stacks.folded" -o report.html >report.txt
[[ $(head -c 15 report.html) == '<!doctype html>' ]] || fail "the installed program writes no page"
"$zwhy" lab list | grep -q encryption || fail "the installed program has no experiments"
echo "crates: $crates crates packed; the program installed from them alone runs"
