# Sourced by dist.sh: the Debian package, of files alone; nothing runs when it is installed or removed.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

# needed_glibc PROGRAM: the oldest version of the C library that has all that the program calls.
needed_glibc() {
    objdump -T "$1" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -uV | tail -n 1 | cut -d_ -f2
}

# control SIZE GLIBC
control() {
    cat <<END
Package: zwhy
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $1
Depends: libc6 (>= $2), libgcc-s1 (>= 4.2)
Suggests: zfsutils-linux, libzpool7linux | libzpool6linux | libzpool5linux, linux-perf
Section: admin
Priority: optional
Description: name the root cause of an OpenZFS performance problem
 Records what an OpenZFS host does (stacks of kernel and user code, CPU time
 of each ZFS thread, counters, disks, memory, configuration), names the root
 cause of a performance problem with its evidence and remedy, and proves the
 remedy by experiments on real OpenZFS in user space.
 .
 It also explains recordings of perf, DTrace, bpftrace and others, flame
 graphs, and text that was pasted from the usual tools. It needs no kernel
 module, no service and no configuration.
END
}

# copyright: in the machine-readable format 1.0 of Debian.
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
 The program contains libraries under licences of their own. Which, with their
 texts, is in /usr/share/doc/zwhy/THIRD-PARTY.txt.gz. Nothing of OpenZFS is part
 of it: the lab opens the library of the host at run time.
END
}

# debian_changelog
debian_changelog() {
    printf 'zwhy (%s) unstable; urgency=medium\n\n  * What changed is in NEWS.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")"
}

# overrides: what lintian warns of and is meant so.
overrides() {
    cat <<'END'
# The lab says which package the library of OpenZFS is from. It only reads, and does without where it cannot.
zwhy: uses-dpkg-database-directly [usr/bin/zwhy]
END
}

# make_deb PROGRAM
make_deb() {
    local top=$work/deb
    local doc=$top/usr/share/doc/zwhy
    stripped "$1" "$top/usr/bin/zwhy"
    manual_pages "$top/usr/share/man"
    put 644 "$work/manual/completions/zwhy" "$top/usr/share/bash-completion/completions/zwhy"
    put 644 "$work/manual/completions/_zwhy" "$top/usr/share/zsh/vendor-completions/_zwhy"
    put 644 "$work/manual/completions/zwhy.fish" "$top/usr/share/fish/vendor_completions.d/zwhy.fish"
    mkdir -p "$doc"
    copyright >"$doc/copyright"
    debian_changelog >"$doc/changelog"
    cp CHANGELOG.md "$doc/NEWS"
    cp README.md "$work/THIRD-PARTY.txt" "$doc"
    cp docs/*.md "$doc"
    cp -r docs/first-hour docs/images "$doc"
    gzip -9n "$doc/changelog" "$doc/NEWS" "$doc"/*.md "$doc/THIRD-PARTY.txt"
    mkdir -p "$top/DEBIAN" "$top/usr/share/lintian/overrides"
    overrides >"$top/usr/share/lintian/overrides/zwhy"
    control "$(du -sk --apparent-size "$top/usr" | cut -f1)" "$(needed_glibc "$1")" >"$top/DEBIAN/control"
    (cd "$top" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod -R u=rwX,go=rX "$top"
    one_time "$top"
    DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Zxz --build "$top" \
        "$out/zwhy_${version}_$(dpkg --print-architecture).deb" >/dev/null
}
