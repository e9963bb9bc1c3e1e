//! Compiles the interposers of `src/user/shim/` into a shared object that the library embeds.

use std::path::PathBuf;
use std::{env, fs};

/// The folder of the interposers: each `.c` file in it is a part.
const SOURCES: &str = "src/user/shim";

/// What providers outside of the lab are compiled against.
const INTERFACE: &str = "plugins";

fn main() {
    for watched in [SOURCES, "plugins/zwhy_offload.h"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    let files = fs::read_dir(SOURCES).expect("the folder of the interposers can be read").flatten();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "c");
    let mut sources: Vec<PathBuf> = files.map(|file| file.path()).filter(is_source).collect();
    sources.sort();
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
        .args(["-std=gnu11", "-shared", "-fvisibility=hidden", "-fno-omit-frame-pointer"])
        .args(["-I", INTERFACE, "-o"])
        .arg(&out)
        .args(&sources)
        .args(["-ldl", "-lpthread"])
        .status()
        .expect("a C compiler is needed to build zwhy-lab (Debian: apt install gcc libc6-dev)");
    assert!(status.success(), "the C compiler refused {sources:?}: {status}");
}
