# Sourced by build.sh: Debian packages by suite, with package lists of their own, so that apt's sources stay as they are.
# Needs $cache, a folder, and the functions of scripts/setup/{say,apt}.sh.

list_options=(
    -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$cache/apt/sources"
    -o "Dir::State::Lists=$cache/apt/lists" -o "Dir::Cache=$cache/apt" -o "Dir::Cache::srcpkgcache="
    -o "APT::Sandbox::User=root" -o "Acquire::Retries=3"
)

# fetch_lists RELEASE SUITE:COMPONENT…: from the mirror that this system, Debian RELEASE, uses.
fetch_lists() {
    local release=$1 area entry uri
    shift
    mkdir -p "$cache/apt/sources" "$cache/apt/lists/partial"
    for area; do
        read -r entry uri <<<"$(configured_source "${area%:*}" "$release")"
        [[ -n ${uri:-} ]] || die "apt has no working source for Debian $release to take the mirror from" "Try: apt-get update"
        {
            printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\n' "$uri" "${area%:*}" "${area#*:}"
            signed_by "${entry%:*}" "${entry##*:}"
        } >"$cache/apt/sources/${area/:/-}.sources"
    done
    apt-get -qq "${list_options[@]}" update >"$cache/update.log" 2>&1 ||
        die "cannot read the package lists of $*" "$(tail -n 5 "$cache/update.log")"
}

# version_in SUITE PACKAGE: prints the version that the suite has, or nothing.
version_in() {
    apt-cache "${list_options[@]}" madison "$2" | awk -F'|' -v suite="$1/" 'index($3, suite) && !found++ { gsub(/ /, "", $2); print $2 }'
}

# depends_of PACKAGE VERSION: prints it and all that it depends on, a package a line.
depends_of() {
    apt-cache "${list_options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "$1=$2" | grep -E '^[a-z0-9]' | sort -u
}

# first_dependency PACKAGE VERSION: prints the package that this one names first.
first_dependency() {
    apt-cache "${list_options[@]}" show "$1=$2" | sed -n 's/^Depends: *\([^ ,]*\).*/\1/p'
}

# unpack_with PACKAGE VERSION FOLDER [APT-OPTION…]: fetches a package and unpacks it.
unpack_with() {
    local name=$1 package_version=$2 into=$3
    shift 3
    (cd "$cache/debs" && apt-get download -qq -o APT::Sandbox::User=root "$@" "$name=$package_version" 2>"$cache/download.log") ||
        die "cannot download $name $package_version" "$(cat "$cache/download.log")"
    dpkg -x "$(find "$cache/debs" -name "${name}_*.deb" | head -1)" "$into"
}

# unpack PACKAGE VERSION FOLDER: by the lists of fetch_lists; a package without a version there is left out.
unpack() {
    [[ -z $2 ]] || unpack_with "$@" "${list_options[@]}"
}
