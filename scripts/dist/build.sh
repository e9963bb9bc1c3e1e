# Sourced by dist.sh and check.sh: for which machines programs can be built and run here, and how.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

# has_target TRIPLE: whether Rust's library for it is here.
has_target() { [[ -d $(rustc --print target-libdir --target "$1" 2>/dev/null) ]]; }

# machines: those that are asked for; else this one, and arm64 where its compilers are. One that cannot be made is an error
# only where it was asked for.
machines() {
    local asked=${DIST_MACHINES:-} one
    for one in ${asked:-$here $(if [[ $here != aarch64 ]]; then echo aarch64; fi)}; do
        if [[ $one == "$here" ]] || { has_target "$one-unknown-linux-gnu" && command -v "$one-linux-gnu-gcc" >/dev/null; }; then
            echo "$one"
        elif [[ -n $asked ]]; then
            die "no programs for $one can be built here" \
                "Try: rustup target add $one-unknown-linux-gnu; apt-get install gcc-${one/_/-}-linux-gnu"
        else
            say "nothing for $one: rustup target add $one-unknown-linux-gnu and gcc-$one-linux-gnu make it" >&2
        fi
    done
}

# emulator MACHINE: the command that runs its programs here, nothing for this machine's own. Status 1 where there is none.
emulator() {
    if [[ $1 == "$(uname -m)" ]]; then return; fi
    command -v "qemu-$1-static" >/dev/null || return 1
    echo "qemu-$1-static -L /usr/$1-linux-gnu"
}

# of_machine TOOL: that tool of binutils for the machine that things are made for.
of_machine() {
    if [[ $machine == "$here" ]]; then echo "$1"; else echo "$machine-linux-gnu-$1"; fi
}

# architecture: Debian's name of the machine.
architecture() {
    case $machine in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) dpkg --print-architecture ;;
    esac
}

# same_place: these sources under a name that does not depend on their folder. Cargo makes the folders of crates outside of a
# workspace, as zwhy's are for zwhy-fleet, part of the names of their functions: other folders would give other bytes.
same_place() {
    local name=/tmp/zwhy-source
    if [[ ! -L $base/place ]]; then
        # What a build that was killed left behind leads nowhere.
        if [[ -L $name && ! -e $name ]]; then rm "$name"; fi
        ln -sT "$PWD" "$name" || die "$name is there, and zwhy-fleet is built under that name" \
            "If no other build is under way: rm $name"
        ln -sT "$name" "$base/place"
    fi
    echo "$name"
}

leave_place() { if [[ -L $base/place ]]; then rm -f "$(readlink "$base/place")"; fi; }

# program NAME BUILT TRIPLE: prints where the program is: BUILT where that names one for this machine, else it is built.
program() {
    local name=$1 given=$2 triple=$3 folder=${profile/#dev/debug} home=${CARGO_HOME:-$HOME/.cargo}
    local arguments=(--package "$name") into=${CARGO_TARGET_DIR:-target} linker=${triple^^} from=$PWD
    if [[ -n $given && $machine == "$here" ]]; then
        realpath "$given"
        return
    fi
    if [[ $name == zwhy-fleet ]]; then
        from=$(same_place) || exit 1
        arguments=(--manifest-path "$from/fleet/Cargo.toml")
        into=${CARGO_TARGET_DIR:-fleet/target}
    fi
    if [[ $machine != "$here" ]]; then export "CARGO_TARGET_${linker//-/_}_LINKER=$machine-linux-gnu-gcc"; fi
    # Folders of this machine would be in messages of panics and in debug information.
    RUSTFLAGS="--remap-path-prefix=$PWD=/zwhy --remap-path-prefix=$from=/zwhy --remap-path-prefix=$home=/cargo" \
        CFLAGS="-ffile-prefix-map=$PWD=/zwhy -ffile-prefix-map=$home=/cargo" \
        cargo build --locked --quiet --profile "$profile" --target "$triple" "${arguments[@]}" >&2
    realpath "$into/$triple/$folder/$name"
}

# make_static: the archive of a program that needs no library, for this machine's kind alone: Debian has no C compiler for
# musl on others.
make_static() {
    local musl=$machine-unknown-linux-musl built
    if [[ ${DIST_STATIC:-} == none ]]; then
        say "no static archive, as DIST_STATIC says"
    elif [[ $machine != "$here" ]]; then
        say "no static archive for $machine: it is made on such a machine"
    elif [[ -n ${DIST_STATIC:-} ]] || { has_target "$musl" && command -v musl-gcc >/dev/null; }; then
        built=$(program zwhy "${DIST_STATIC:-}" "$musl")
        make_archive "$built"
    else
        say "no static archive: rustup target add $musl and musl-gcc make one"
    fi
}
