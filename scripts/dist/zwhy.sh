# Sourced by dist.sh: the Debian package of the program, of files alone; nothing runs when it is installed or removed.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

# zwhy_control GLIBC
zwhy_control() {
    head_of_control zwhy "$(architecture)" "libc6 (>= $1), libgcc-s1 (>= 4.2)"
    cat <<'END'
Suggests: zfsutils-linux, libzpool7linux | libzpool6linux | libzpool5linux, linux-perf
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

# zwhy_overrides: what lintian warns of and is meant so.
zwhy_overrides() {
    cat <<'END'
# The lab says which package the library of OpenZFS is from. It only reads, and does without where it cannot.
zwhy: uses-dpkg-database-directly [usr/bin/zwhy]
END
}

# make_zwhy PROGRAM
make_zwhy() {
    local top=$work/zwhy made=$base/manual/completions
    local doc=$top/usr/share/doc/zwhy
    stripped "$1" "$top/usr/bin/zwhy"
    manual_pages "$base/manual/man" "$top/usr/share/man"
    put 644 "$made/zwhy" "$top/usr/share/bash-completion/completions/zwhy"
    put 644 "$made/_zwhy" "$top/usr/share/zsh/vendor-completions/_zwhy"
    put 644 "$made/zwhy.fish" "$top/usr/share/fish/vendor_completions.d/zwhy.fish"
    mkdir -p "$doc"
    copyright " The program contains libraries under licences of their own. Which, with their
 texts, is in /usr/share/doc/zwhy/THIRD-PARTY.txt.gz. Nothing of OpenZFS is part
 of it: the lab opens the library of the host at run time." >"$doc/copyright"
    debian_changelog zwhy NEWS >"$doc/changelog"
    cp CHANGELOG.md "$doc/NEWS"
    cp README.md "$work/THIRD-PARTY.txt" "$doc"
    cp docs/*.md "$doc"
    cp -r docs/first-hour docs/images "$doc"
    gzip -9n "$doc/changelog" "$doc/NEWS" "$doc"/*.md "$doc/THIRD-PARTY.txt"
    mkdir -p "$top/DEBIAN" "$top/usr/share/lintian/overrides"
    zwhy_overrides >"$top/usr/share/lintian/overrides/zwhy"
    zwhy_control "$(needed_glibc "$1")" >"$top/DEBIAN/control"
    pack zwhy "$(architecture)"
}
