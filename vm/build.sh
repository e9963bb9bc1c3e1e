#!/usr/bin/env bash
# Builds the test VM for one OpenZFS version: kernel, modules and initramfs, all from Debian packages.
#
#   vm/build.sh 2.4|2.3|2.1
#
# The result is kept in target/vm/VERSION (or $ZWHY_VM_DIR/VERSION) and built again only when a
# package version or a file of this folder changes: about 6 CPU minutes, most of them for the
# modules. What it needs from the system is in scripts/setup/needs.sh; packages of OpenZFS are
# fetched with package lists of its own, so apt's sources stay as they are. 2.4 comes with the kernel of Debian 13, which
# Debian 12 has in backports. Nothing of OpenZFS is kept in the project: the modules are compiled here from Debian's
# zfs-dkms and stay in the cache.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/setup/say.sh"
. "$here/../scripts/setup/needs.sh"
. "$here/../scripts/setup/apt.sh"
# shellcheck source=/dev/null
. /etc/os-release

usage='usage: vm/build.sh 2.4|2.3|2.1'
version=${1:?$usage}
release=${VERSION_CODENAME:-}
# What the modules and programs of OpenZFS come from, and what those are linked to where this system is older.
base_suite='' kernel_suite=''
case $version in
2.4)
    suite=trixie-backports
    case $release in
    trixie) ;;
    bookworm) base_suite=trixie kernel_suite=bookworm-backports ;;
    *) die "the VM is built from Debian 12 or 13; this is ${PRETTY_NAME:-another system}" ;;
    esac
    ;;
2.3) suite=$(openzfs_suite "$release") ||
    die "the VM is built from Debian 12 or 13; this is ${PRETTY_NAME:-another system}" ;;
2.1) [[ $release == bookworm ]] || die "OpenZFS 2.1 builds only with the kernel of Debian 12" "Use 2.3 here."
    suite=bookworm ;;
*) die "no recipe for OpenZFS $version" "Use 2.4, 2.3 or 2.1." ;;
esac
cache=${ZWHY_VM_DIR:-$here/../target/vm}/$version
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
. "$here/packages.sh"
# Two tests may want it at once.
exec 9>"$cache/lock"
flock 9

missing=$(missing_needs test | grep -F 'kernel VM' || true)
[[ -z $missing ]] || die "the VM needs the packages $(cut -d'|' -f1 <<<"$missing" | xargs)" "Try: make setup-test"

# A build in the cache is good as long as the files here and the kernel are the same; whether Debian has a newer OpenZFS,
# or a newer kernel in backports, is not asked each time.
recipe=$(cat "$here/build.sh" "$here/packages.sh" "$here/init" | sha256sum | cut -c1-16)
if [[ -z $kernel_suite ]]; then
    headers=$(kernel_headers)
    kernel=${headers#/usr/src/linux-headers-}
    recipe="$kernel $recipe"
else
    recipe="$kernel_suite $recipe"
fi
if [[ -f $cache/stamp && $(cut -d' ' -f1,2 "$cache/stamp") == "$recipe" ]]; then exit 0; fi

# kernel_of_suite: unpacks kernel and headers of another suite, and sets $kernel and $headers.
kernel_of_suite() {
    local meta package
    meta=$(version_in "$kernel_suite" linux-headers-cloud-amd64)
    [[ -n $meta ]] || die "$kernel_suite has no linux-headers-cloud-amd64" "Does the mirror carry $kernel_suite?"
    package=$(first_dependency linux-headers-cloud-amd64 "$meta")
    kernel=${package#linux-headers-}
    for package in "linux-image-$kernel" "linux-headers-$kernel" "linux-headers-${kernel%-cloud-amd64}-common" "linux-kbuild-${kernel%-cloud-amd64}"; do
        unpack "$package" "$(version_in "$kernel_suite" "$package")" "$cache/kernel"
    done
    headers=$cache/kernel/usr/src/linux-headers-$kernel
    # Its makefile names the common headers where a package would install them.
    sed -i "s|/usr/src/|$cache/kernel/usr/src/|g" "$headers/Makefile"
    # With it the modules would get types for BPF, for which pahole is needed.
    rm -f "$headers/vmlinux"
}

build_modules() {
    local built="$cache/modules-$kernel-$zfs_package" source
    if [[ ! -f $built/zfs.ko || ! -f $built/debug/zfs.ko.gz ]]; then
        rm -rf "$cache/source"
        unpack zfs-dkms "$zfs_package" "$cache/source"
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

# libraries_of PROGRAM: prints the path of each library that it loads, its loader among them. Those of a newer Debian are
# found by its loader, which runs here.
libraries_of() {
    # ldd fails for a static program.
    if [[ $1 != "$cache/user/"* ]]; then
        ldd "$1" 2>&1 || true
    elif [[ -n $base_suite ]]; then
        "$cache/user/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" --list "$1" 2>&1
    else
        LD_LIBRARY_PATH=$libraries ldd "$1" 2>&1
    fi | { grep -oE '/[^ )]+' || true; } | sort -u
}

# install_program FILE TARGET: with every library it needs, below root/. A static program has none.
install_program() {
    local program=$1 target=$2
    install -D -m 755 "$program" "$cache/root/$target"
    libraries_of "$program" | while read -r library; do
        install -D -m 755 "$library" "$cache/root/lib/$(basename "$library")"
    done
}

# add_libgcc: the C library opens it by name when a thread is cancelled, as `zfs send` does.
add_libgcc() {
    local library
    library=$(ldconfig -p | awk '$1 == "libgcc_s.so.1" && !found++ { print $NF }')
    install -D -m 755 "$library" "$cache/root/lib/libgcc_s.so.1"
}

# The programs of OpenZFS and its libraries; where this system is older, with all libraries that they are linked to.
unpack_programs() {
    local package of_openzfs wanted='^(libzfs[0-9]|libzpool|libnvpair|libuutil)'
    of_openzfs=$(depends_of zfsutils-linux "$(version_in "$suite" zfsutils-linux)" | grep -E "$wanted")
    for package in $of_openzfs zfsutils-linux; do
        unpack "$package" "$(version_in "$suite" "$package")" "$cache/user"
    done
    [[ -n $base_suite ]] || return 0
    for package in $of_openzfs; do
        depends_of "$package" "$(version_in "$suite" "$package")"
    done | sort -u | grep -E '^(lib|zlib)' | grep -vE "$wanted" | while read -r package; do
        unpack "$package" "$(version_in "$base_suite" "$package")" "$cache/user"
    done
}

build_root() {
    local applet tool
    unpack_programs
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

areas=("$suite:contrib")
[[ -z $base_suite ]] || areas+=("$base_suite:main")
[[ -z $kernel_suite ]] || areas+=("$kernel_suite:main")
rm -rf "$cache/stamp" "$cache/apt" "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"
mkdir -p "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"
fetch_lists "$release" "${areas[@]}"
zfs_package=$(version_in "$suite" zfs-dkms)
[[ -n $zfs_package ]] || die "$suite contrib has no zfs-dkms" "Does the mirror carry contrib?"
if [[ -z $kernel_suite ]]; then
    unpack_with "linux-image-$kernel" "$(dpkg-query -W -f='${Version}' "linux-headers-$kernel")" "$cache/kernel"
else
    kernel_of_suite
fi
common=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$headers/Makefile")
say "building the VM: Linux $kernel, OpenZFS $zfs_package (a few minutes)"
cp "$cache/kernel/boot/vmlinuz-$kernel" "$cache/vmlinuz"
build_modules
build_root
rm -rf "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root" "$cache/apt"
echo "$kernel" >"$cache/kernel-release"
echo "$recipe $zfs_package" >"$cache/stamp"
