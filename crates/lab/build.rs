//! Compiles the interposers of `src/user/shim/` into a shared object that the library embeds.

use std::path::PathBuf;
use std::{env, fs};

const SOURCES: [&str; 17] = [
    "src/user/shim/shim.c",
    "src/user/shim/pages.c",
    "src/user/shim/offload.c",
    "src/user/shim/vdevs.c",
    "src/user/shim/offload_checksum.c",
    "src/user/shim/offload_codec.c",
    "src/user/shim/offload_file.c",
    "src/user/shim/offload_isal.c",
    "src/user/shim/offload_lz4.c",
    "src/user/shim/offload_plugin.c",
    "src/user/shim/offload_raidz.c",
    "src/user/shim/offload_remote.c",
    "src/user/shim/offload_replay.c",
    "src/user/shim/offload_resident.c",
    "src/user/shim/offload_row.c",
    "src/user/shim/offload_touch.c",
    "src/user/shim/offload_zstd.c",
];

/// What providers outside of the lab are compiled against.
const INTERFACE: &str = "plugins";

fn main() {
    let headers = [
        "src/user/shim/shim.h",
        "src/user/shim/offload.h",
        "src/user/shim/offload_row.h",
        "plugins/zwhy_offload.h",
    ];
    for source in SOURCES.into_iter().chain(headers) {
        println!("cargo:rerun-if-changed={source}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shim.so");
    // A static musl program cannot open shared libraries; the engine says so when it finds no shim.
    if env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("musl") {
        fs::write(&out, []).expect("OUT_DIR is writable");
        return;
    }
    let status = cc::Build::new()
        .opt_level(2)
        .pic(true)
        .warnings(true)
        .get_compiler()
        .to_command()
        .args([
            "-std=gnu11",
            "-shared",
            "-fvisibility=hidden",
            "-fno-omit-frame-pointer",
            "-I",
            INTERFACE,
            "-o",
        ])
        .arg(&out)
        .args(SOURCES)
        .args(["-ldl", "-lpthread"])
        .status()
        .expect("a C compiler is needed to build zwhy-lab (Debian: apt install gcc libc6-dev)");
    assert!(status.success(), "the C compiler refused {SOURCES:?}: {status}");
}
