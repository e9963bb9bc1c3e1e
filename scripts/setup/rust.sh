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
    if [[ $1 != demo ]]; then add_static_target; fi
}

# For a static zwhy: in the kernel VM, which also takes one with its libraries, and in an archive for other machines.
add_static_target() {
    local target
    target=$(uname -m)-unknown-linux-musl
    if [[ -d $(rustc --print target-libdir --target "$target") || ${skip:-} == 1 ]] || ! has rustup; then return; fi
    say "adding Rust's $target"
    rustup --quiet target add "$target" || say "could not add it; there will be no static zwhy"
}
