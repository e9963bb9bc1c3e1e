#!/usr/bin/env bash
# Looks into what dist.sh made: `check.sh FOLDER`. The programs run, their pages are whole, and lintian finds no error.
set -euo pipefail
. "$(dirname "$0")/build.sh"

made=$(realpath "${1:?usage: check.sh FOLDER}")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'dist: error: %s\n' "$*" >&2
    exit 1
}

# has FILE…: below the unpacked package.
has() {
    local file
    for file in "$@"; do [[ -s $top/$file ]] || fail "$deb has no /$file"; done
}

# unpacked FILE.deb: into $top and $control; its sums are those of its files.
unpacked() {
    deb=$1
    top=$work/$(basename "$1" .deb)
    control=$top.control
    dpkg-deb --extract "$1" "$top"
    dpkg-deb --control "$1" "$control"
    (cd "$top" && md5sum --check --quiet "$control/md5sums") || fail "files of $deb differ from its md5sums"
}

# only_files: nothing runs when it is installed or removed, so that removal leaves nothing.
only_files() {
    local found
    found=$(find "$control" -type f ! -name control ! -name md5sums)
    [[ -z $found ]] || fail "$deb has scripts: $found"
    found=$(find "$top" -type f ! -path "$top/usr/*")
    [[ -z $found ]] || fail "$deb has files outside of /usr: $found"
}

# run_of_package MACHINE: the command that runs its programs, in $run; status 1 where nothing here does.
run_of_package() {
    local command
    command=$(emulator "$1") || return 1
    read -ra run <<<"$command"
}

# Debian's name of a machine.
machine_of() {
    case $(dpkg-deb --field "$1" Architecture) in
    amd64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) uname -m ;;
    esac
}

# An answer is the same on all machines: those of this one come first, and the others are held against them.
zwhy_package() {
    local machine
    unpacked "$1"
    has usr/bin/zwhy usr/share/doc/zwhy/copyright usr/share/doc/zwhy/changelog.gz usr/share/doc/zwhy/THIRD-PARTY.txt.gz \
        usr/share/man/man1/zwhy.1.gz usr/share/man/man1/zwhy-lab-run.1.gz usr/share/man/man7/zwhy-privileges.7.gz \
        usr/share/bash-completion/completions/zwhy usr/share/zsh/vendor-completions/_zwhy \
        usr/share/fish/vendor_completions.d/zwhy.fish
    only_files
    machine=$(machine_of "$1")
    if ! run_of_package "$machine"; then
        echo "dist: programs for $machine were not run: qemu-$machine-static is not installed"
        return
    fi
    "${run[@]}" "$top/usr/bin/zwhy" --version | tee "$work/version"
    grep -q "$machine" "$work/version" || fail "the program of $deb is for another machine"
    "${run[@]}" "$top/usr/bin/zwhy" help privileges >"$work/help"
    [[ -s $work/help ]] || fail "the program of $deb has no help"
    for input in gzip.zwhy lz4.zwhy; do
        "${run[@]}" "$top/usr/bin/zwhy" explain --json "docs/first-hour/$input" >"$work/$input.$machine"
        grep -q '"why": "' "$work/$input.$machine" || fail "the program of $deb has no answer to $input"
        if [[ -f $work/$input.$(uname -m) ]]; then
            cmp "$work/$input.$(uname -m)" "$work/$input.$machine" || fail "$deb answers something else"
        fi
    done
}

agent_package() {
    unpacked "$1"
    has usr/lib/systemd/system/zwhy-agent.service etc/default/zwhy-agent usr/share/doc/zwhy-agent/changelog.gz
    [[ $(<"$control/conffiles") == /etc/default/zwhy-agent ]] || fail "$deb has other settings than it says"
    [[ $(stat -c %a "$top/etc/default/zwhy-agent") == 600 ]] || fail "others can read the keys in $deb"
    for script in postinst prerm postrm; do sh -n "$control/$script" || fail "$deb: $script"; done
}

fleet_package() {
    local machine
    unpacked "$1"
    has usr/bin/zwhy-fleet usr/share/man/man1/zwhy-fleet.1.gz usr/share/man/man1/zwhy-fleet-query-hosts.1.gz \
        usr/share/doc/zwhy-fleet/copyright usr/share/doc/zwhy-fleet/changelog.gz usr/share/doc/zwhy-fleet/THIRD-PARTY.txt.gz
    only_files
    machine=$(machine_of "$1")
    if run_of_package "$machine"; then "${run[@]}" "$top/usr/bin/zwhy-fleet" --version; fi
}

archive() {
    local folder
    tar --extract --xz --directory="$work" --file="$1"
    folder=$(basename "$1" .tar.xz)
    "$work/$folder/zwhy" --version >"$work/version"
    head -n 1 "$work/version" | grep -qE '^zwhy [0-9]' || fail "the static program does not say its version"
    if [[ $(ldd "$work/$folder/zwhy" 2>/dev/null) == *'=>'* ]]; then fail "the program of the archive needs libraries"; fi
}

bill() {
    python3 - "$1" <<'END' || fail "$1 is not what it should be"
import json, sys

bill = json.load(open(sys.argv[1], encoding="utf-8"))
parts = {part["bom-ref"] for part in bill["components"]}
assert bill["bomFormat"] == "CycloneDX" and len(parts) > 50, len(parts)
assert all(part["licenses"][0]["expression"] and part["purl"] for part in bill["components"])
known = parts | {bill["metadata"]["component"]["bom-ref"]}
assert all(set(entry["dependsOn"]) <= known for entry in bill["dependencies"])
END
}

# amd64 comes before arm64, and with it this machine where there are two.
for file in "$made"/zwhy_*.deb; do zwhy_package "$file"; done
for file in "$made"/*; do
    case ${file##*/} in
    zwhy_*.deb) ;;
    zwhy-agent_*.deb) agent_package "$file" ;;
    zwhy-fleet_*.deb) fleet_package "$file" ;;
    *-static.tar.xz) archive "$file" ;;
    *.cdx.json) bill "$file" ;;
    *) fail "nobody knows what $file is" ;;
    esac
done

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$made"/*.deb || fail "lintian finds errors in the packages"
else
    printf 'dist: lintian is not installed; the packages were not checked by it\n'
fi
