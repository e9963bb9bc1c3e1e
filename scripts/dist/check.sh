#!/usr/bin/env bash
# Looks into what dist.sh made: `check.sh FOLDER`. The programs run, their pages are whole, and lintian finds no error.
set -euo pipefail

made=$(realpath "${1:?usage: check.sh FOLDER}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'dist: error: %s\n' "$*" >&2
    exit 1
}

# has FILE…: below the unpacked package.
has() {
    local file
    for file in "$@"; do [[ -s $work/deb/usr/$file ]] || fail "the package has no /usr/$file"; done
}

deb=$(ls "$made"/zwhy_*.deb)
dpkg-deb --extract "$deb" "$work/deb"
dpkg-deb --control "$deb" "$work/control"
has bin/zwhy share/doc/zwhy/copyright share/doc/zwhy/changelog.gz share/doc/zwhy/THIRD-PARTY.txt.gz \
    share/man/man1/zwhy.1.gz share/man/man1/zwhy-lab-run.1.gz share/man/man7/zwhy-privileges.7.gz \
    share/bash-completion/completions/zwhy share/zsh/vendor-completions/_zwhy \
    share/fish/vendor_completions.d/zwhy.fish
# Nothing runs when it is installed or removed, so that removal leaves nothing.
scripts=$(find "$work/control" -type f ! -name control ! -name md5sums)
[[ -z $scripts ]] || fail "the package has scripts: $scripts"
(cd "$work/deb" && md5sum --check --quiet ../control/md5sums) || fail "files of the package differ from its md5sums"
outside=$(find "$work/deb" -type f ! -path "$work/deb/usr/*")
[[ -z $outside ]] || fail "files outside of /usr: $outside"
"$work/deb/usr/bin/zwhy" --version
"$work/deb/usr/bin/zwhy" help privileges >"$work/help"
[[ -s $work/help ]] || fail "the program of the package has no help"

archive=$(find "$made" -name 'zwhy-*-static.tar.xz')
if [[ -n $archive ]]; then
    tar --extract --xz --directory="$work" --file="$archive"
    folder=$(basename "$archive" .tar.xz)
    "$work/$folder/zwhy" --version >"$work/version"
    head -n 1 "$work/version" | grep -qE '^zwhy [0-9]' || fail "the static program does not say its version"
    if ldd "$work/$folder/zwhy" 2>/dev/null | grep -q '=>'; then fail "the program of the archive needs libraries"; fi
fi

python3 - "$(ls "$made"/*.cdx.json)" <<'END' || fail "the SBOM is not what it should be"
import json, sys

bill = json.load(open(sys.argv[1], encoding="utf-8"))
parts = {part["bom-ref"] for part in bill["components"]}
assert bill["bomFormat"] == "CycloneDX" and len(parts) > 50, len(parts)
assert all(part["licenses"][0]["expression"] and part["purl"] for part in bill["components"])
known = parts | {bill["metadata"]["component"]["bom-ref"]}
assert all(set(entry["dependsOn"]) <= known for entry in bill["dependencies"])
END

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$deb" || fail "lintian finds errors in the package"
else
    printf 'dist: lintian is not installed; the package was not checked by it\n'
fi
