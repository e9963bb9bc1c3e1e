# Sourced: installs Debian packages; adds the archive area that has OpenZFS when apt does not know it yet.

sources_file=/etc/apt/sources.list.d/zwhy-openzfs.sources

# Debian release → the suite that carries OpenZFS 2.3 (in its contrib component).
openzfs_suite() {
    case $1 in
    bookworm) echo bookworm-backports ;;
    trixie) echo trixie ;;
    *) return 1 ;;
    esac
}

as_root() {
    if ((EUID == 0)); then "$@"; else sudo --preserve-env=http_proxy,https_proxy,no_proxy "$@"; fi
}

# Waits for another apt or dpkg to end. apt's own timeout is silent, and it has none for the lists.
wait_for_other_apt() {
    local lock inode holder told=
    for lock in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
        inode=$(stat -c %i "$lock" 2>/dev/null) || continue
        while holder=$(awk -v inode=":$inode\$" '$6 ~ inode { print $5; held = 1; exit } END { exit !held }' /proc/locks); do
            if [[ $told != "$holder" ]]; then say "waiting for process $holder, which holds $lock"; fi
            told=$holder
            sleep 1
        done
    done
}

# Asks no questions. The timeout covers an apt that starts between our wait and our turn.
apt_get() {
    wait_for_other_apt
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
        -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

apt_knows() {
    local package
    for package in "$@"; do
        [[ -n $(apt-cache madison "$package" 2>/dev/null) ]] || return 1
    done
}

# refresh TEST…: fetches the package lists until TEST succeeds. A broken third-party source must not
# stop us, so apt's exit code does not count.
refresh() {
    local try
    for try in 1 2 3 4; do
        say "reading the Debian package lists"
        apt_get update || true
        if "$@"; then return 0; fi
        if ((try < 4)); then
            say "the lists (messages above) lack what is needed; trying again in $((try * 10)) s"
            sleep $((try * 10))
        fi
    done
    return 1
}

# configured_source SUITE RELEASE: prints "FILE:INDEX URI" of the source to take after: one that
# has the wanted suite already, else the one of the release itself.
configured_source() {
    # apt fills in these fields, not the shell.
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(RELEASE) $(SOURCESENTRY) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
        awk -v suite="$1" -v release="$2" '
            $1 == suite && !exact { exact = $2 " " $3 }
            ($1 == release || $1 == "stable" || $1 == "oldstable") && !near { near = $2 " " $3 }
            END { print exact ? exact : near }'
}

# signed_by FILE INDEX: the Signed-By field of that source, in the form of a .sources file.
# apt refuses two sources of one suite that differ in it.
signed_by() {
    if [[ $1 == *.sources ]]; then
        awk -v RS= -v n="$2" 'NR == n' "$1" |
            awk '/^[^ \t#]/ { copy = tolower($1) == "signed-by:" } copy'
    else
        sed -n "${2}s/.*signed-by=\([^] ]*\).*/Signed-By: \1/p" "$1"
    fi
}

has_configured_source() { [[ -n $(configured_source "$@") ]]; }

add_openzfs_source() {
    local release=$1 suite entry uri
    suite=$(openzfs_suite "$release")
    has_configured_source "$suite" "$release" || refresh has_configured_source "$suite" "$release" ||
        die "apt has no working source for Debian $release to take the mirror from" \
            "Check /etc/apt/sources.list and /etc/apt/sources.list.d, then try: apt-get update"
    read -r entry uri <<<"$(configured_source "$suite" "$release")"
    say "adding $suite contrib of $uri in $sources_file"
    {
        echo "# OpenZFS's libzpool for zwhy. Safe to remove."
        printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: contrib\n' "$uri" "$suite"
        signed_by "${entry%:*}" "${entry##*:}"
    } | as_root install -m 644 /dev/stdin "$sources_file"
}

# Old lists name files that the mirror no longer has: one refresh, then once more.
install_now() {
    if apt_get install -y --no-install-recommends "$@"; then return; fi
    say "apt-get install failed; reading the package lists afresh and trying once more"
    apt_get update || true
    apt_get install -y --no-install-recommends "$@" ||
        die "apt-get could not install: $*" "Its own message is above. After mending that, run this again."
}

install_ordinary() {
    apt_knows "$@" || refresh apt_knows "$@" ||
        die "apt cannot find all of: $*" "Check the mirror (its messages are above), then run this again."
    install_now "$@"
}

# From one suite, so that libzpool and the libnvpair it loads are of one version.
install_openzfs() {
    local release=$1 suite
    shift
    suite=$(openzfs_suite "$release")
    if ! apt_knows "$@"; then
        add_openzfs_source "$release"
        refresh apt_knows "$@" ||
            die "apt cannot find $* in $suite contrib" "Does the mirror named in $sources_file carry $suite?"
    fi
    install_now -t "$suite" "$@"
}

# install_packages RELEASE PACKAGE…
install_packages() {
    local release=$1 package ordinary=() openzfs=()
    shift
    ((EUID == 0)) || has sudo ||
        die "root is needed to install: $*" "Run this step once as root, or install sudo."
    say "installing $*"
    for package in "$@"; do
        if [[ $package == libzpool* ]]; then openzfs+=("$package"); else ordinary+=("$package"); fi
    done
    if ((${#ordinary[@]})); then install_ordinary "${ordinary[@]}"; fi
    if ((${#openzfs[@]})); then install_openzfs "$release" "${openzfs[@]}"; fi
}
