# Sourced by dist.sh: files of a package in a folder, with the times of the sources, and the static archive.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

say() { printf 'dist: %s\n' "$*"; }

# die WHAT [WHAT TO TRY]
die() {
    printf 'dist: error: %s\n' "$@" >&2
    exit 1
}

# put MODE FILE TARGET
put() { install -D -m "$1" "$2" "$3"; }

# stripped FILE TARGET: a program without symbols that nobody here needs.
stripped() {
    put 755 "$1" "$2"
    "$(of_machine strip)" --strip-unneeded --remove-section=.comment --remove-section=.note "$2"
}

# one_time FOLDER: every file is as old as the sources.
one_time() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# manual_pages FROM FOLDER: packed as distributions have them.
manual_pages() {
    local page
    for page in "$1"/*; do
        put 644 "$page" "$2/man${page##*.}/${page##*/}"
        gzip -9n "$2/man${page##*.}/${page##*/}"
    done
}

# make_archive PROGRAM: one folder that runs where it is unpacked.
make_archive() {
    local name=zwhy-$version-$machine-linux-static
    local top=$work/archive/$name
    stripped "$1" "$top/zwhy"
    put 644 LICENSE "$top/LICENSE"
    put 644 README.md "$top/README.md"
    put 644 CHANGELOG.md "$top/CHANGELOG.md"
    put 644 "$work/THIRD-PARTY.txt" "$top/THIRD-PARTY.txt"
    cp -r "$base/manual/completions" "$top/completions"
    manual_pages "$base/manual/man" "$top/man"
    chmod -R u=rwX,go=rX "$top"
    one_time "$work/archive"
    tar --create --directory="$work/archive" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner "$name" |
        xz -T1 -6 >"$out/$name.tar.xz"
}
