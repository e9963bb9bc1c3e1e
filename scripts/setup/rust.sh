# Sourced: checks that Rust is there and new enough; it is the one thing the set-up does not install.

check_rust() {
    local wanted found tool
    wanted=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$repo/Cargo.toml")
    has cargo || die "no cargo in PATH or in ${CARGO_HOME:-~/.cargo}/bin" \
        "Install Rust $wanted or newer from https://rustup.rs (Debian 12's own is too old)."
    found=$(rustc --version | cut -d' ' -f2)
    if [[ $(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1) != "$wanted" ]]; then
        die "Rust $found is older than $wanted" "Update it: rustup update stable"
    fi
    if [[ $1 == test ]]; then
        for tool in fmt clippy; do
            cargo "$tool" --version >/dev/null 2>&1 || die "cargo $tool is missing" "Add it: rustup component add rustfmt clippy"
        done
    fi
    case $1 in
    test | dist) add_target "$(uname -m)-unknown-linux-musl" "there will be no static zwhy" ;;&
    dist) add_target aarch64-unknown-linux-gnu "there will be no packages for arm64" ;;
    page) add_target wasm32-unknown-unknown "there will be no page" ;;
    esac
}

# add_target TARGET WITHOUT: Rust's standard library for a static zwhy (in the kernel VM, which also takes one with its
# libraries, and in an archive for other machines) or for the page; WITHOUT says what there is not without it.
add_target() {
    if [[ -d $(rustc --print target-libdir --target "$1") || ${skip:-} == 1 ]] || ! has rustup; then return; fi
    say "adding Rust's $1"
    rustup --quiet target add "$1" || say "could not add it; $2"
}
