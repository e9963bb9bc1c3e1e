#!/usr/bin/env bash
# Builds the test VM for one OpenZFS version: kernel, modules and initramfs, all from Debian packages.
#
#   vm/build.sh 2.3|2.1
#
# The result is kept in target/vm/VERSION (or $ZWHY_VM_DIR/VERSION) and built again only when a
# package version or a file of this folder changes: about 6 CPU minutes, most of them for the
# modules. What it needs from the system is in scripts/setup/needs.sh; packages of OpenZFS are
# fetched with package lists of its own, so apt's sources stay as they are. Nothing of OpenZFS is
# kept in the project: the modules are compiled here from Debian's zfs-dkms and stay in the cache.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/setup/say.sh"
. "$here/../scripts/setup/needs.sh"
. "$here/../scripts/setup/apt.sh"
# shellcheck source=/dev/null
. /etc/os-release

version=${1:?usage: vm/build.sh 2.3|2.1}
case $version in
2.3) suite=$(openzfs_suite "${VERSION_CODENAME:-}") ||
    die "the VM is built from Debian 12 or 13; this is ${PRETTY_NAME:-another system}" ;;
2.1) [[ ${VERSION_CODENAME:-} == bookworm ]] || die "OpenZFS 2.1 builds only with the kernel of Debian 12" "Use 2.3 here."
    suite=bookworm ;;
*) die "no recipe for OpenZFS $version" "Use 2.3 or 2.1." ;;
esac
cache=${ZWHY_VM_DIR:-$here/../target/vm}/$version
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
# Two tests may want it at once.
exec 9>"$cache/lock"
flock 9

missing=$(missing_needs test | grep -F 'kernel VM' || true)
[[ -z $missing ]] || die "the VM needs the packages $(cut -d'|' -f1 <<<"$missing" | xargs)" "Try: make setup-test"

headers=$(kernel_headers)
kernel=${headers#/usr/src/linux-headers-}
common=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$headers/Makefile")

# A build in the cache is good as long as the files here and the kernel are the same; whether
# Debian has a newer OpenZFS is not asked each time.
recipe="$kernel $(cat "$here/build.sh" "$here/init" | sha256sum | cut -c1-16)"
if [[ -f $cache/stamp && $(cut -d' ' -f1,2 "$cache/stamp") == "$recipe" ]]; then exit 0; fi

contrib_options=(
    -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$cache/apt/sources"
    -o "Dir::State::Lists=$cache/apt/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o "APT::Sandbox::User=root" -o "Acquire::Retries=3"
)

# Package lists of the suite's contrib area.
fetch_contrib_lists() {
    local entry uri
    read -r entry uri <<<"$(configured_source "$suite" "$VERSION_CODENAME")"
    [[ -n ${uri:-} ]] || die "apt has no working source for Debian $VERSION_CODENAME to take the mirror from" "Try: apt-get update"
    mkdir -p "$cache/apt/sources" "$cache/apt/lists/partial"
    {
        printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: contrib\n' "$uri" "$suite"
        signed_by "${entry%:*}" "${entry##*:}"
    } >"$cache/apt/sources/contrib.sources"
    apt-get -qq "${contrib_options[@]}" update >"$cache/update.log" 2>&1 ||
        die "cannot read the package lists of $suite contrib" "$(tail -n 5 "$cache/update.log")"
}

contrib_version() { apt-cache "${contrib_options[@]}" madison "$1" | awk -F'|' -v suite="$suite/" 'index($3, suite) { gsub(/ /, "", $2); print $2; exit }'; }

# unpack PACKAGE VERSION FOLDER [APT-OPTION…]: fetches a package and unpacks it.
unpack() {
    local name=$1 package_version=$2 into=$3
    shift 3
    (cd "$cache/debs" && apt-get download -qq -o APT::Sandbox::User=root "$@" "$name=$package_version" 2>"$cache/download.log") ||
        die "cannot download $name $package_version" "$(cat "$cache/download.log")"
    dpkg -x "$(find "$cache/debs" -name "${name}_*.deb" | head -1)" "$into"
}

build_modules() {
    local built="$cache/modules-$kernel-$zfs_package" source
    if [[ ! -f $built/zfs.ko || ! -f $built/debug/zfs.ko.gz ]]; then
        rm -rf "$cache/source"
        unpack zfs-dkms "$zfs_package" "$cache/source" "${contrib_options[@]}"
        source=$(find "$cache/source/usr/src" -maxdepth 1 -name 'zfs-*')
        (
            cd "$source"
            ./configure --with-config=kernel --with-linux="$common" --with-linux-obj="$headers"
            make -s -j"$(nproc)"
        ) >"$cache/modules.log" 2>&1 || die "building the modules failed" "$(tail -n 15 "$cache/modules.log")" "All of it: $cache/modules.log"
        # Debian's kernels are built with debug information, and so is what is built for them. DKMS
        # strips it; here it is kept apart, packed, for recordings with source lines.
        mkdir -p "$built/debug"
        find "$source/module" -name '*.ko' -exec cp {} "$built/debug/" \;
        cp "$built"/debug/*.ko "$built/"
        strip --strip-debug "$built"/*.ko
        gzip -1 -f "$built"/debug/*.ko
        rm -rf "$cache/source"
    fi
    ln -sfn "$(basename "$built")/debug" "$cache/debug"
    mkdir -p "$cache/root/mods"
    cp "$built"/*.ko "$cache/root/mods/"
    strip --strip-debug "$cache/root/mods"/*.ko
}

# install_program FILE TARGET: with every library it needs, below root/.
install_program() {
    local program=$1 target=$2
    install -D -m 755 "$program" "$cache/root/$target"
    # A static program has no libraries, for which ldd and grep fail.
    { LD_LIBRARY_PATH=$libraries ldd "$program" 2>&1 | grep -oE '/[^ )]+' || true; } | while read -r library; do
        install -D -m 755 "$library" "$cache/root/lib/$(basename "$library")"
    done
}

# add_libgcc: the C library opens it by name when a thread is cancelled, as `zfs send` does.
add_libgcc() {
    local library
    library=$(ldconfig -p | awk '$1 == "libgcc_s.so.1" { print $NF; exit }')
    install -D -m 755 "$library" "$cache/root/lib/libgcc_s.so.1"
}

build_root() {
    local package package_version applet tool
    for package in $(apt-cache "${contrib_options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "zfsutils-linux=$(contrib_version zfsutils-linux)" |
        grep -E '^(libzfs[0-9]|libzpool|libnvpair|libuutil)' | sort -u) zfsutils-linux; do
        package_version=$(contrib_version "$package")
        [[ -z $package_version ]] || unpack "$package" "$package_version" "$cache/user" "${contrib_options[@]}"
    done
    libraries="$cache/user/lib/x86_64-linux-gnu:$cache/user/usr/lib/x86_64-linux-gnu"
    mkdir -p "$cache/root"/{bin,proc,sys,dev,tmp,run,etc,out,job,lib64,sbin}
    install_program "$(command -v busybox)" bin/busybox
    for applet in $(busybox --list); do
        [[ -e $cache/root/bin/$applet ]] || ln -s busybox "$cache/root/bin/$applet"
    done
    for tool in zpool zfs zdb; do
        install_program "$(find "$cache/user" -path "*/sbin/$tool" | head -1)" "bin/$tool"
    done
    add_libgcc
    ln -sf ../lib/ld-linux-x86-64.so.2 "$cache/root/lib64/ld-linux-x86-64.so.2"
    install -m 755 "$here/init" "$cache/root/init"
    (cd "$cache/root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet | gzip -1) >"$cache/base.cpio.gz"
}

fetch_contrib_lists
zfs_package=$(contrib_version zfs-dkms)
[[ -n $zfs_package ]] || die "$suite contrib has no zfs-dkms" "Does the mirror carry contrib?"
say "building the VM: Linux $kernel, OpenZFS $zfs_package (a few minutes)"
rm -rf "$cache/stamp" "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"
mkdir -p "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"

unpack "linux-image-$kernel" "$(dpkg-query -W -f='${Version}' "linux-headers-$kernel")" "$cache/kernel"
cp "$cache/kernel/boot/vmlinuz-$kernel" "$cache/vmlinuz"
build_modules
build_root
rm -rf "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root" "$cache/apt"
echo "$recipe $zfs_package" >"$cache/stamp"
