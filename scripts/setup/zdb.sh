# Sourced: a zdb of the same release as libzpool, for the tests that walk the blocks of pools. It is unpacked into
# .tools/zdb and not installed: zfsutils-linux would bring services that mount and scrub.

has_zdb() { has zdb && [[ $(zdb --help 2>&1) == *[Uu]sage* ]]; }

# The library package that zdb needs besides libzpool's own: libzfs6linux, libzfs4linux … All is read to its end: apt-cache
# would fail where nobody reads the rest of what it says.
library_of_zdb() {
    apt-cache show "zfsutils-linux=$1" 2>/dev/null |
        awk '/^Depends:/ && !found && match($0, /libzfs[0-9]+linux/) { found = 1; print substr($0, RSTART, RLENGTH) }'
}

knows_zdb() { [[ -n $(library_of_zdb "$1") ]]; }

ensure_zdb() {
    if has_zdb; then return; fi
    local version library folder=$repo/.tools/zdb packages
    version=$(dpkg-query --show --showformat '${Version}\n' 'libzpool*linux' 2>/dev/null | awk 'NF && !found++') &&
        [[ -n $version ]] ||
        die "zdb is missing, and libzpool is from no package whose release it could be of" "Please install zdb by hand."
    say "unpacking zdb of OpenZFS $version into .tools/zdb"
    knows_zdb "$version" || refresh knows_zdb "$version" ||
        die "apt cannot find zfsutils-linux $version" "libzpool is of that release; update it, then run this again."
    library=$(library_of_zdb "$version")
    rm -rf "$folder"
    mkdir -p "$folder"
    packages=$(mktemp -d)
    # As root apt would fetch as a user who may not write there, and complain.
    (cd "$packages" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "zfsutils-linux=$version" "$library=$version") ||
        die "apt-get could not fetch zfsutils-linux and $library $version" "Its own message is above."
    for package in "$packages"/*.deb; do dpkg-deb --extract "$package" "$folder"; done
    rm -rf "$packages"
    write_zdb "$folder"
    hash -r
    has_zdb || die "the zdb in .tools/zdb does not run" "Remove .tools/zdb and run this again, or install zdb by hand."
}

# write_zdb FOLDER: a zdb in FOLDER that finds the libraries beside it.
write_zdb() {
    local program libraries
    program=$(find "$1" -path '*sbin/zdb' | head -n 1)
    libraries=$(dirname "$(find "$1" -name 'libzfs_core.so.*' | head -n 1)")
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec %q "$@"\n' "$libraries" "$program" >"$1/zdb"
    chmod +x "$1/zdb"
}
