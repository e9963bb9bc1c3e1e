//! What the hooks of the offload lab cost where no provider is set: counted in instructions, one by one.
//!
//! Time is too noisy for a hundredth. So a child process is stepped through calls of each hook, and through the same
//! calls without it; what is more in one than in the other is the hook.

// Hooks are C functions, and a process is stepped by system calls.
#![allow(unsafe_code)]

use crate::harness::Test;
use crate::offload::{count, play};
use std::ffi::{CString, c_char, c_int, c_long, c_ulong, c_void};

pub const TESTS: &[Test] =
    &[("idle_hooks_take_less_than_a_hundredth", idle_hooks_take_less_than_a_hundredth)];

/// Instructions that an idle hook may add to a call.
const ALLOWED: u64 = 40;

type Seven = unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
type Zlib = unsafe extern "C" fn(*mut u8, *mut c_ulong, *const u8, c_ulong, c_int) -> c_int;

/// Stands for every function of libzpool that a hook calls; all take words, and some give one back.
unsafe extern "C" fn original(
    _: c_long,
    _: c_long,
    _: c_long,
    _: c_long,
    _: c_long,
    _: c_long,
    _: c_long,
) -> c_long {
    0
}

/// Instructions of a process that calls `work` so often, and of nothing else it does.
fn instructions(work: &dyn Fn(), times: u32) -> u64 {
    // SAFETY: the child calls `work` and ends without running anything of this process; the parent only waits for it.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
        if child == 0 {
            libc::ptrace(
                libc::PTRACE_TRACEME,
                0,
                std::ptr::null_mut::<c_void>(),
                std::ptr::null_mut::<c_void>(),
            );
            libc::raise(libc::SIGSTOP);
            for _ in 0..times {
                work();
            }
            libc::_exit(0);
        }
        let (mut status, mut steps) = (0, 0);
        loop {
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            if libc::WIFEXITED(status) {
                return steps;
            }
            assert!(libc::WIFSTOPPED(status), "the child ended with {status:#x}");
            let none = std::ptr::null_mut::<c_void>();
            assert_eq!(libc::ptrace(libc::PTRACE_SINGLESTEP, child, none, none), 0, "it can be stepped");
            steps += 1;
        }
    }
}

/// Instructions of one call: what a second one adds to the first.
fn of_one(work: &dyn Fn()) -> u64 {
    // Once before, so that nothing is looked up or allocated for the first time.
    work();
    instructions(work, 2) - instructions(work, 1)
}

/// The interposers, opened as a library: nothing of this process goes through them by itself.
struct Shim(libloading::Library);

impl Shim {
    fn open() -> Shim {
        // SAFETY: the library that build.rs made, which does nothing when it is opened.
        Shim(unsafe { libloading::Library::new(concat!(env!("OUT_DIR"), "/shim.so")).unwrap() })
    }

    fn address(&self, name: &str) -> *const c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: only looked up here.
        unsafe { *self.0.get::<*const c_void>(name.as_bytes_with_nul()).unwrap() }
    }

    /// Hands `original` over as each function of libzpool.
    fn hand_over(&self) {
        type Raidz = unsafe extern "C" fn(Seven, Seven);
        type Rows = unsafe extern "C" fn(Seven, c_int);
        type Lz4 = unsafe extern "C" fn(Seven, Seven, c_int);
        type Zstd = unsafe extern "C" fn(Seven, Seven, Seven, c_int);
        type Touch = unsafe extern "C" fn(*const Seven);
        type Checksum = unsafe extern "C" fn(Seven, Seven);
        // SAFETY: the functions of offload_raidz.c, offload_row.c, offload_touch.c and offload_checksum.c, which have
        // these signatures.
        unsafe {
            let raidz = std::mem::transmute::<*const c_void, Raidz>(self.address("zwhy_shim_raidz"));
            raidz(original, original);
            let rows = std::mem::transmute::<*const c_void, Rows>(self.address("zwhy_shim_rows"));
            rows(original, 1);
            let lz4 = std::mem::transmute::<*const c_void, Lz4>(self.address("zwhy_shim_lz4"));
            lz4(original, original, 1);
            let zstd = std::mem::transmute::<*const c_void, Zstd>(self.address("zwhy_shim_zstd"));
            zstd(original, original, original, 1);
            let touch = std::mem::transmute::<*const c_void, Touch>(self.address("zwhy_shim_touch"));
            touch([original as Seven; 7].as_ptr());
            let checksum = std::mem::transmute::<*const c_void, Checksum>(self.address("zwhy_shim_checksum"));
            checksum(original, original);
        }
    }
}

/// As `struct zwhy_offload` of offload.c.
#[repr(C)]
struct Wanted {
    provider: c_int,
    on: [c_int; 6],
    /// Answers, engines, parity columns, check, strict, its death, its codec.
    others: [c_int; 7],
    figures: [f64; 3],
    plugin: *const c_char,
}

impl Shim {
    /// The provider `software`, with all stages left to OpenZFS.
    fn switch_off(&self) {
        type Set = unsafe extern "C" fn(*const Wanted) -> *const c_char;
        let wanted = Wanted {
            provider: 1,
            on: [0; 6],
            others: [0, 1, 2, 0, 0, 0, 1],
            figures: [0.0; 3],
            plugin: std::ptr::null(),
        };
        // SAFETY: the function of offload.c, which has this signature and copies what it is given.
        let why =
            unsafe { std::mem::transmute::<*const c_void, Set>(self.address("zwhy_shim_offload"))(&wanted) };
        assert!(why.is_null());
    }
}

fn call(function: Seven) {
    // SAFETY: `original`, or a hook that hands its arguments to it.
    std::hint::black_box(unsafe { function(0, 0, 0, 0, 0, 0, 0) });
}

/// The dearest hook of those before functions of libzpool.
fn of_libzpool(shim: &Shim) -> u64 {
    shim.hand_over();
    let alone = of_one(&|| call(std::hint::black_box(original)));
    let hooks = [
        "abd_iterate_func",
        "abd_iterate_func2",
        "abd_copy_from_buf_off",
        "abd_copy_to_buf_off",
        "abd_zero_off",
        "zio_buf_free",
        "zio_data_buf_free",
        "zfs_lz4_compress",
        "zfs_lz4_decompress",
        "lz4_compress_zfs",
        "lz4_decompress_zfs",
        "zfs_zstd_compress",
        "zfs_zstd_decompress",
        "zfs_zstd_decompress_level",
        "abd_raidz_gen_iterate",
        "vdev_raidz_math_generate",
        "vdev_raidz_math_reconstruct",
        "abd_fletcher_4_native",
        "abd_checksum_sha256",
        "abd_checksum_SHA256",
    ];
    let mut dearest = 0;
    for name in hooks {
        // SAFETY: a hook has the arguments of its original: up to seven words.
        let hook = unsafe { std::mem::transmute::<*const c_void, Seven>(shim.address(name)) };
        let added = of_one(&|| call(hook)) - alone;
        assert!((1..=ALLOWED).contains(&added), "{name} adds {added} instructions");
        dearest = dearest.max(added);
    }
    dearest
}

/// What the hook before zlib adds, and what zlib takes for the smallest block that OpenZFS has.
fn of_zlib(shim: &Shim) -> (u64, u64) {
    const BLOCK: usize = 512;
    // SAFETY: zlib of this host, which the hook calls too.
    let zlib = unsafe { libloading::Library::new("libz.so.1").unwrap() };
    // SAFETY: compress2() of zlib, and the hook before it.
    let (direct, hook) = unsafe {
        let hook = std::mem::transmute::<*const c_void, Zlib>(shim.address("compress2"));
        (*zlib.get::<Zlib>(b"compress2\0").unwrap(), hook)
    };
    let from = [b'z'; BLOCK];
    let compress = |function: Zlib| {
        let mut to = [0_u8; 2 * BLOCK];
        let mut room = to.len() as c_ulong;
        // SAFETY: both buffers have the sizes that are given.
        let done = unsafe { function(to.as_mut_ptr(), &mut room, from.as_ptr(), BLOCK as c_ulong, 1) };
        assert!(done == 0 && room > 0);
    };
    let (with, without) = (of_one(&|| compress(hook)), of_one(&|| compress(direct)));
    (with.saturating_sub(without), without)
}

fn idle_hooks_take_less_than_a_hundredth() {
    let shim = Shim::open();
    let mut dearest = 0;
    // Without a provider, and with one that has nothing to do.
    for switched_off in [false, true] {
        if switched_off {
            shim.switch_off();
        }
        let (added, zlib) = of_zlib(&shim);
        assert!(added <= ALLOWED, "compress2 adds {added} instructions");
        assert!(added * 100 <= zlib, "{added} instructions to {zlib} of the smallest block");
        dearest = dearest.max(of_libzpool(&shim)).max(added);
    }
    // All calls of small records, as a provider that calls OpenZFS's own code counts them. At one instruction a
    // nanosecond, slower than any CPU of today, the hooks of them all must be below a hundredth of the CPU.
    let all = "zia_checksum = 1\nrecordsize = \"4K\"\nio_size = \"4K\"\ncompression = \"off\"\n\
               layout = \"raidz2\"\ndisks = 5";
    let result = play("provider = [\"software\"]", all);
    for step in result.runs[0]
        .steps
        .iter()
        .filter(|step| ["write", "overwrite", "read"].contains(&step.name.as_str()))
    {
        let calls: i64 = ["compress", "decompress", "checksum", "raidz_gen", "raidz_rec"]
            .iter()
            .map(|verb| count(step, &format!("offload_{verb}.calls")))
            .sum();
        // Each row calls two more hooks for each of its columns (vdev_raidz_math_impl.h).
        let rows = count(step, "offload_raidz_gen.calls") + count(step, "offload_raidz_rec.calls");
        let hooks = (calls + 2 * 5 * rows) as u64 * dearest;
        let cpu_ns = step.cpu_s() * 1e9;
        assert!(calls > 1000 && (hooks as f64) < cpu_ns / 100.0, "{}: {hooks} of {cpu_ns} ns", step.name);
    }
}
