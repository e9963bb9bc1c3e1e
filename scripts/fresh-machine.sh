#!/usr/bin/env bash
# Proves that a bare Debian with only git, make and Rust can run the project: `fresh-machine.sh [TARGET…]`.
#
# Builds a minimal Debian in a temporary folder, clones the committed HEAD into it and runs each
# make target there (default: demo test). All mounts live in a namespace of their own, so none
# can outlive this script, however it ends. Needs root, debootstrap and Rust from rustup.
# PACKAGE="FILE.deb…" installs, uses and removes those packages instead, without sources or Rust; SUITE and AS are the second
# and third word of scripts/dist/installed.sh: which OpenZFS, and who uses the packages.
# KEEP=1 leaves the folder for a look. DEBIAN=trixie tries another release. BASE=FOLDER keeps bare ones there for more tries.
# ARCH=arm64 tries packages for that machine, which QEMU emulates program by program.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. scripts/setup/say.sh
. scripts/setup/needs.sh
. scripts/setup/apt.sh

release=${DEBIAN:-bookworm}
here=$(dpkg --print-architecture)
arch=${ARCH:-$here}

# programs_run: the kernel starts programs of the other machine by QEMU, which it keeps open (F), so that they run in any root.
programs_run() {
    local binfmt=/proc/sys/fs/binfmt_misc name=zwhy-qemu-aarch64
    [[ $arch == arm64 && $here == amd64 ]] || die "programs for $arch cannot be run here" "ARCH may be arm64, on amd64."
    has qemu-aarch64-static || die "qemu-aarch64-static is missing" "Try: apt-get install qemu-user-static"
    [[ -e $binfmt/register ]] || mount -t binfmt_misc none "$binfmt" ||
        die "this kernel has no binfmt_misc" "Try: modprobe binfmt_misc"
    if grep -qs '^interpreter .*qemu-aarch64' "$binfmt"/*; then return; fi
    # The beginning of an ELF file of 64 bits for AArch64 (machine 183), an executable or a library.
    printf '%s' ":$name:M::"'\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' \
        ':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' \
        ":$(command -v qemu-aarch64-static):F" >"$binfmt/register"
    registered=$binfmt/$name
}

bootstrap() {
    local root=$1 mirror
    read -r _ mirror <<<"$(configured_source "$release" bookworm)"
    say "building a minimal Debian $release for $arch in $root"
    debootstrap --arch="$arch" --variant=minbase --include=git,make "$release" "$root" ${mirror:+"$mirror"} \
        >"$root.log" 2>&1 || die "debootstrap failed" "$(tail -n 5 "$root.log")"
    rm -f "$root.log"
    chmod 755 "$root"
}

# A copy of the one that is kept, which is made where it is missing; one that was not finished has another name.
bare_system() {
    local root=$1 kept=${BASE:-}/$release-$arch
    if [[ -z ${BASE:-} ]]; then
        bootstrap "$root"
        return
    fi
    if [[ ! -d $kept ]]; then
        rm -rf --one-file-system "$kept.part"
        mkdir -p "$kept.part"
        bootstrap "$kept.part"
        mv "$kept.part" "$kept"
    fi
    cp --archive "$kept/." "$root"
}

# A network that needs settings here needs them there: CA certificates and apt's proxies and checks.
# The variables follow in `enter`.
give_network_settings() {
    local root=$1
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/usr/local/share/ca-certificates" "$root/root/.cargo"
    cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-)' >"$root/etc/apt/apt.conf.d/90host" || true
    local config
    for config in "$cargo_home"/config "$cargo_home"/config.toml; do
        if [[ -f $config ]]; then cp "$config" "$root/root/.cargo/"; fi
    done
}

network_variables() {
    compgen -e | grep -E '^(https?|ftp|all|no)_proxy$|_PROXY$|^(CARGO|RUSTUP|PIP|NPM_CONFIG|npm_config)_|CERT|^SSL_|^CURL_CA' |
        grep -vE '^(CARGO_HOME|CARGO_TARGET_DIR|CARGO_MAKEFLAGS|CARGO_MANIFEST.*|CARGO_PKG.*|RUSTUP_HOME|RUSTUP_TOOLCHAIN)$' || true
}

# Runs in the namespace of its own: `enter ROOT COMMAND…`.
enter() {
    local root=$1 name variables=()
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mkdir -p "$root/root/.rustup" "$root/root/.cargo/bin"
    mount -o bind,ro "$rustup_home" "$root/root/.rustup"
    mount -o bind,ro "$cargo_home/bin" "$root/root/.cargo/bin"
    for name in $(network_variables); do variables+=("$name=${!name}"); done
    exec env -i "${variables[@]}" HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" CI=true \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$root" "$@" </dev/null
}

# Instead of sources: a package, as people get it.
try_package() {
    local root=$1 file files=() names=()
    read -ra files <<<"$PACKAGE"
    for file in "${files[@]}"; do names+=("/root/$(basename "$file")"); done
    cp "${files[@]}" scripts/dist/installed.sh "$root/root/"
    unshare --mount --propagation private --pid --fork --kill-child \
        "$0" --inside "$root" bash /root/installed.sh "${names[*]}" "${SUITE:-$release}" "${AS:-root}" ||
        die "$PACKAGE failed on a fresh Debian $release"
}

rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
cargo_home=${CARGO_HOME:-$HOME/.cargo}

# What this script made goes when it ends: the system, and what the kernel was told of QEMU.
clean_up() {
    if [[ ${KEEP:-} != 1 ]]; then rm -rf --one-file-system "$root" "$root.log"; fi
    if [[ -n $registered ]]; then echo -1 >"$registered"; fi
}

root=
registered=

main() {
    local target start
    ((EUID == 0)) || die "root is needed to build and enter another system" "Try: sudo make fresh-machine"
    has debootstrap || die "debootstrap is missing" "Try: apt-get install debootstrap"
    [[ -x $cargo_home/bin/rustup ]] || die "no rustup in $cargo_home/bin" "Set CARGO_HOME and RUSTUP_HOME, or install Rust from https://rustup.rs"

    root=$(mktemp -d "${TMPDIR:-/tmp}/zwhy-fresh.XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT TERM
    if [[ $arch != "$here" ]]; then programs_run; fi
    bare_system "$root"
    give_network_settings "$root"
    if [[ -n ${PACKAGE:-} ]]; then
        try_package "$root"
        return
    fi
    git clone --quiet --no-hardlinks . "$root/root/zwhy"
    for target; do
        start=$SECONDS
        say "make $target on the fresh machine"
        unshare --mount --propagation private --pid --fork --kill-child \
            "$0" --inside "$root" make -C /root/zwhy "$target" ||
            die "make $target failed on a fresh Debian $release after $((SECONDS - start)) s"
        say "make $target: $((SECONDS - start)) s"
    done
}

if [[ ${1:-} == --inside ]]; then
    enter "${@:2}"
else
    if (($# == 0)); then set -- demo test; fi
    main "$@"
fi
