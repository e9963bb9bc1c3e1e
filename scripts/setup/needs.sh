# Sourced: what the project needs from the system, how to tell that it is there, and which Debian package brings it.
#
# Each need is tested by what it can do, not by package name, so a compiler or a browser
# from elsewhere counts, and the second run touches neither the network nor dpkg.

# One line each: for whom | test | Debian packages | what it is
needs_table='
demo | has_compiler     | gcc libc6-dev   | a C compiler with its headers (some Rust crates build C)
demo | has_libzpool     | libzpool6linux  | libzpool, the OpenZFS library of zfsutils (version 2.1 or newer)
demo | has_certificates | ca-certificates | CA certificates (cargo downloads over HTTPS)
test | has chromium     | chromium        | Chromium (tests of the report page)
test | has curl         | curl            | curl (tests of what the docs tell to type)
test | has_isal         | libisal2        | ISA-L (the lab hands gzip to it)
test | has perf         | linux-perf      | perf (tests compare with it)
test | has tmux         | tmux            | tmux (tests of the live view)
test | has shellcheck   | shellcheck      | shellcheck (checks these scripts)
test | has qemu-system-x86_64 | qemu-system-x86 | QEMU (for the kernel VM)
test | has_vm_tools     | busybox-static cpio fdisk make | busybox, cpio, sfdisk and make (for the kernel VM)
test | kernel_headers   | linux-headers-cloud-amd64 | headers of a Debian cloud kernel (for the kernel VM)
test | has musl-gcc     | musl-tools      | musl-gcc (for a static zwhy in the kernel VM)
test | has python3      | python3         | Python (holds zwhy against the numbers of other tools)
fleet | has_venv        | python3-venv    | Python with venv (tests of what docs/FLEET.md tells to type)
dist | has musl-gcc     | musl-tools      | musl-gcc (for the static program)
dist | has objcopy      | binutils        | binutils (strips programs)
dist | has xz           | xz-utils        | xz (packs)
dist | has python3      | python3         | Python (lists what is in the program)
dist | has lintian      | lintian         | lintian (checks the Debian packages)
dist | has_arm64_compiler | gcc-aarch64-linux-gnu libc6-dev-arm64-cross | a C compiler for arm64 (for its packages)
dist | has_arm64_emulator | qemu-user-static | QEMU for programs of arm64 (runs what was built for it)
page | has_wasm_clang | clang           | clang for WebAssembly (compiles zstd and xz for the page)
page | has llvm-ar      | llvm            | llvm-ar (packs what clang compiled)
page | has_node_or_venv | python3-venv    | Node 20.19 or newer with npm, or Python with venv to fetch it
test | has_node_or_venv | python3-venv    | Node 20.19 or newer with npm, or Python with venv to fetch it
'

has() { command -v "$1" >/dev/null; }

has_compiler() { echo '#include <stdio.h>' | cc -x c -E - >/dev/null 2>&1; }

has_arm64_compiler() {
    [[ $(uname -m) == aarch64 ]] || echo '#include <stdio.h>' | aarch64-linux-gnu-gcc -x c -E - >/dev/null 2>&1
}

has_arm64_emulator() { [[ $(uname -m) == aarch64 ]] || has qemu-aarch64-static; }

has_wasm_clang() { echo 'int one;' | clang --target=wasm32 -x c -c -o /dev/null - >/dev/null 2>&1; }

has_libzpool() { [[ $(PATH=$PATH:/sbin ldconfig -p) == *libzpool.so.[5-9]* ]]; }

has_venv() { python3 -c 'import venv, ensurepip' 2>/dev/null; }

has_isal() { [[ $(PATH=$PATH:/sbin ldconfig -p) == *libisal.so.2* ]]; }

has_certificates() {
    local file
    for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        if [[ -s $file ]]; then return 0; fi
    done
    return 1
}

has_node() {
    has npm && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number);
        process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null
}

has_node_or_venv() { has_node || has_venv; }

has_vm_tools() { has busybox && has cpio && has make && PATH=$PATH:/sbin has sfdisk; }

# Prints the folder of the newest ones.
kernel_headers() {
    find /usr/src -maxdepth 1 -name 'linux-headers-*-cloud-amd64' 2>/dev/null | sort -V | tail -1 | grep .
}

# missing_needs demo|test|fleet|dist|page: prints "packages | description" for each need that is not met. What the demo needs, all need.
missing_needs() {
    local whom test packages what
    while IFS='|' read -r whom test packages what; do
        whom=${whom// /}
        if [[ -z $whom || ($whom != demo && $whom != "$1") ]]; then continue; fi
        # The test may be a command with an argument.
        # shellcheck disable=SC2086
        if ! $test >/dev/null; then printf '%s|%s\n' "$packages" "${what# }"; fi
    done <<<"$needs_table"
}
