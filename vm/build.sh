#!/usr/bin/env bash
# Builds the test VM for one OpenZFS version: kernel, modules and initramfs, all from Debian packages.
#
#   vm/build.sh 2.3|2.1
#
# The result is kept in target/vm/VERSION (or $ZWHY_VM_DIR/VERSION) and built again only when a
# package version or a file of this folder changes. Needs root for the packages, about 5 minutes
# the first time. Nothing of OpenZFS is kept in the project: the modules are compiled here from
# Debian's zfs-dkms and stay in the cache.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
version=${1:?usage: vm/build.sh 2.3|2.1}
case $version in
    2.3) release=bookworm-backports ;;
    2.1) release=bookworm ;;
    *) echo "error: no recipe for OpenZFS $version; use 2.3 or 2.1" >&2; exit 2 ;;
esac
cache=${ZWHY_VM_DIR:-$here/../target/vm}/$version
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# The version of package $1 in the release, from the lists that apt has.
candidate() {
    apt-cache madison "$1" | awk -F'|' -v suite="$release/" 'index($3, suite) { gsub(/ /, "", $2); print $2; exit }'
}

# Fetches package $1 (version $2) into the cache and unpacks it to $3.
unpack() {
    local name=$1 package_version=$2 into=$3
    (cd "$cache/debs" && apt-get download -qq "$name=$package_version" 2>"$cache/download.log") ||
        { echo "error: cannot download $name $package_version:" >&2; cat "$cache/download.log" >&2; exit 1; }
    dpkg -x "$(ls -t "$cache/debs/${name}_"*.deb | head -1)" "$into"
}

packages_needed=(qemu-system-x86 busybox-static cpio fdisk xz-utils build-essential linux-headers-cloud-amd64)
missing=()
for package in "${packages_needed[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" = 0 ] || { echo "error: the VM needs the packages ${missing[*]}; run this as root" >&2; exit 1; }
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}"
fi

headers=$(find /usr/src -maxdepth 1 -name 'linux-headers-*-cloud-amd64' | sort -V | tail -1)
kernel=${headers#/usr/src/linux-headers-}
common=/usr/src/linux-headers-${kernel%-cloud-amd64}-common
zfs_package=$(candidate zfs-dkms)
[ -n "$zfs_package" ] || { echo "error: apt knows no zfs-dkms in $release; run 'make setup' first" >&2; exit 1; }

stamp="$kernel $zfs_package $(cat "$here/build.sh" "$here/init" | sha256sum | cut -c1-16)"
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$stamp" ]; then
    exit 0
fi
echo "building the VM: Linux $kernel, OpenZFS $zfs_package (a few minutes)"
rm -rf "$cache/stamp" "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"
mkdir -p "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"

kernel_package=$(dpkg-query -W -f='${Version}' "linux-headers-$kernel")
unpack "linux-image-$kernel" "$kernel_package" "$cache/kernel"
cp "$cache/kernel/boot/vmlinuz-$kernel" "$cache/vmlinuz"

build_modules() {
    local built="$cache/modules-$kernel-$zfs_package"
    if [ ! -f "$built/zfs.ko" ]; then
        rm -rf "$cache/source"
        unpack zfs-dkms "$zfs_package" "$cache/source"
        local source
        source=$(find "$cache/source/usr/src" -maxdepth 1 -name 'zfs-*')
        (
            cd "$source"
            ./configure --with-config=kernel --with-linux="$common" --with-linux-obj="$headers"
            make -s -j"$(nproc)"
        ) >"$cache/modules.log" 2>&1 || { echo "error: building the modules failed; see $cache/modules.log" >&2; exit 1; }
        mkdir -p "$built"
        find "$source/module" -name '*.ko' -exec cp {} "$built/" \;
        rm -rf "$cache/source"
    fi
    mkdir -p "$cache/root/mods"
    cp "$built"/*.ko "$cache/root/mods/"
    strip --strip-debug "$cache/root/mods"/*.ko
}

# Copies a program and every library it needs to the same paths below root/.
install_program() {
    local program=$1 target=$2
    install -D -m 755 "$program" "$cache/root/$target"
    # A static program has no libraries, for which ldd and grep fail.
    { LD_LIBRARY_PATH=$libraries ldd "$program" 2>&1 | grep -oE '/[^ )]+' || true; } | while read -r library; do
        install -D -m 755 "$library" "$cache/root/lib/$(basename "$library")"
    done
}

build_root() {
    local package package_version
    for package in $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "zfsutils-linux=$(candidate zfsutils-linux)" |
        grep -E '^(libzfs[0-9]|libzpool|libnvpair|libuutil)' | sort -u) zfsutils-linux; do
        package_version=$(candidate "$package")
        [ -z "$package_version" ] || unpack "$package" "$package_version" "$cache/user"
    done
    libraries="$cache/user/lib/x86_64-linux-gnu:$cache/user/usr/lib/x86_64-linux-gnu"
    mkdir -p "$cache/root"/{bin,proc,sys,dev,tmp,run,etc,out,job}
    install_program "$(command -v busybox)" bin/busybox
    local applet
    for applet in $(busybox --list); do
        [ -e "$cache/root/bin/$applet" ] || ln -s busybox "$cache/root/bin/$applet"
    done
    local tool
    for tool in zpool zfs zdb; do
        install_program "$(find "$cache/user" -path "*/sbin/$tool" | head -1)" "bin/$tool"
    done
    mkdir -p "$cache/root/lib64" "$cache/root/sbin"
    ln -sf ../lib/ld-linux-x86-64.so.2 "$cache/root/lib64/ld-linux-x86-64.so.2"
    install -m 755 "$here/init" "$cache/root/init"
    (cd "$cache/root" && find . | LC_ALL=C sort | cpio -o -H newc --quiet | gzip -1) >"$cache/base.cpio.gz"
}

build_modules
build_root
rm -rf "$cache/debs" "$cache/kernel" "$cache/user" "$cache/root"
echo "$stamp" >"$cache/stamp"
