# Sourced by dist.sh: what all Debian packages have, and how a folder becomes one.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

# needed_glibc PROGRAM: the oldest version of the C library that has all that the program calls.
needed_glibc() {
    "$(of_machine objdump)" -T "$1" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -uV | tail -n 1 | cut -d_ -f2
}

# copyright TEXT: in the machine-readable format 1.0 of Debian, with a comment of the package.
copyright() {
    cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: zwhy

Files: *
Copyright: $(date -d "@$SOURCE_DATE_EPOCH" +%Y) zwhy contributors
License: Apache-2.0
 On Debian systems, the full text of the Apache License, Version 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
$1
END
}

# debian_changelog NAME WHERE
debian_changelog() {
    printf '%s (%s) unstable; urgency=medium\n\n  * What changed is in %s.\n\n' "$1" "$version" "$2"
    printf ' -- %s  %s\n' "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")"
}

# head NAME ARCHITECTURE DEPENDS: the first fields of a control file; Installed-Size is the folder's.
head_of_control() {
    cat <<END
Package: $1
Version: $version
Architecture: $2
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$work/$1" | cut -f1)
Depends: $3
Section: admin
Priority: optional
END
}

# pack NAME ARCHITECTURE: the folder of that name, with its DEBIAN/control in it, becomes a package.
pack() {
    local top=$work/$1
    (cd "$top" && find . -path ./DEBIAN -prune -o -type f ! -path './etc/*' -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod -R u=rwX,go=rX "$top"
    if [[ -d $top/etc/default ]]; then chmod 600 "$top"/etc/default/*; fi
    one_time "$top"
    DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Zxz --build "$top" "$out/$1_${version}_$2.deb" >/dev/null
}
