# Sourced by dist.sh: the Debian package of zwhy-fleet, which has a query engine in it; files alone, as the one of zwhy.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

# fleet_control GLIBC
fleet_control() {
    head_of_control zwhy-fleet "$(architecture)" "libc6 (>= $1), libgcc-s1 (>= 4.2)"
    cat <<'END'
Suggests: zwhy
Description: ask many OpenZFS hosts which of them spend their CPU in ZFS
 Asks a store of files that the agents of zwhy write, or that captures are put
 into: which hosts spend their CPU in ZFS, in which stage of its work, since
 when, and what the engine finds there. It merges files, makes sums of old
 ones, and serves a page and an API with tokens, limits and an audit log.
END
}

# make_fleet PROGRAM
make_fleet() {
    local top=$work/zwhy-fleet run=()
    local doc=$top/usr/share/doc/zwhy-fleet
    stripped "$1" "$top/usr/bin/zwhy-fleet"
    # The program says its own pages, which are the same for all machines.
    if [[ ! -d $base/fleet-pages ]]; then
        read -ra run < <(emulator "$machine" || true; echo)
        scripts/dist/pages.py zwhy-fleet "$version" "$base/fleet-pages" "${run[@]}" "$1"
    fi
    manual_pages "$base/fleet-pages" "$top/usr/share/man"
    mkdir -p "$doc" "$top/DEBIAN"
    copyright " The program contains libraries under licences of their own. Which, with their
 texts, is in /usr/share/doc/zwhy-fleet/THIRD-PARTY.txt.gz." >"$doc/copyright"
    debian_changelog zwhy-fleet NEWS >"$doc/changelog"
    cp CHANGELOG.md "$doc/NEWS"
    cp docs/FLEET.md docs/AGENT.md "$doc"
    cp "$work/FLEET-THIRD-PARTY.txt" "$doc/THIRD-PARTY.txt"
    gzip -9n "$doc/changelog" "$doc/NEWS" "$doc"/*.md "$doc/THIRD-PARTY.txt"
    fleet_control "$(needed_glibc "$1")" >"$top/DEBIAN/control"
    pack zwhy-fleet "$(architecture)"
}
