//! One place that is probed, and what is asked of the kernel for it.
//!
//! Facts: probes by the `kprobe` and `uprobe` PMUs (Linux 4.17) vanish with their descriptor. They
//! cannot be inherited: a fork of the target would read the probe's path or name from its own memory
//! and fail with EFAULT or EACCES (`perf_uprobe_init`, `perf_kprobe_init` in
//! kernel/trace/trace_event_perf.c), so they are opened for all tasks of a CPU.

use super::error::CountError;
use rustix::io::Errno;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use zwhy_host::paranoid;
use zwhy_perf::ask::{event_of, with_side_band};
use zwhy_perf::attr::has;
use zwhy_perf::sys;
use zwhy_profile::FrameKind;

/// Where a call is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// An address of the kernel.
    Kernel(u64),
    /// An offset in a file.
    File(PathBuf, u64),
}

#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub point: Point,
    pub function: String,
    pub module: String,
}

/// On x86-64 the word at the top of the stack is the return address when a function begins.
const TOP_OF_STACK: bool = cfg!(target_arch = "x86_64");

impl Probe {
    pub(super) fn is_kernel(&self) -> bool {
        matches!(self.point, Point::Kernel(_))
    }

    pub(super) fn kind(&self) -> FrameKind {
        if self.is_kernel() { FrameKind::Kernel } else { FrameKind::User }
    }

    pub(super) fn describe(&self) -> String {
        format!("{}:{}", self.module, self.function)
    }

    /// The number of the PMU that makes these probes on this kernel.
    pub(super) fn pmu(&self) -> Result<u32, CountError> {
        let (kind, remedy) = if self.is_kernel() {
            ("kprobe", "use a kernel built with CONFIG_KPROBE_EVENTS, as those of distributions are")
        } else {
            ("uprobe", "use a kernel built with CONFIG_UPROBE_EVENTS, as those of distributions are")
        };
        let device = format!("/sys/bus/event_source/devices/{kind}/type");
        fs::read_to_string(&device)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or(CountError::NoProbes { what: self.describe(), kind, device, remedy })
    }

    /// The attribute, and the path it points to, which must live as long as the attribute is used.
    ///
    /// `side_band`: records of mappings, names and ends of processes come with this event.
    pub(super) fn attr(&self, pmu: u32, side_band: bool) -> (sys::perf_event_attr, CString) {
        let mut attr = Probe::sampled(self.is_kernel());
        attr.type_ = pmu;
        let mut path = CString::default();
        match &self.point {
            Point::Kernel(address) => attr.__bindgen_anon_4.kprobe_addr = *address,
            Point::File(file, offset) => {
                // A path with a zero in it cannot have been opened before.
                path = CString::new(file.as_os_str().as_bytes()).unwrap_or_default();
                attr.__bindgen_anon_3.uprobe_path = path.as_ptr() as u64;
                attr.__bindgen_anon_4.probe_offset = *offset;
                attr.set_exclude_callchain_kernel(1);
            }
        }
        if side_band {
            with_side_band(&mut attr);
        }
        (attr, path)
    }

    /// What every probe of a kind samples: its chain, of user code also the top of the stack.
    pub(super) fn sampled(in_kernel: bool) -> sys::perf_event_attr {
        let mut attr = event_of(has::IDENTIFIER | has::TID | has::TIME | has::CPU | has::CALLCHAIN);
        if !in_kernel && TOP_OF_STACK {
            attr.sample_type |= has::STACK_USER;
            attr.sample_stack_user = 8;
        }
        attr.__bindgen_anon_1.sample_period = 1;
        attr.set_disabled(1);
        attr
    }

    /// What a refused probe means.
    pub(super) fn refused(&self, source: io::Error) -> CountError {
        let what = self.describe();
        let hint = match (Errno::from_io_error(&source), &self.point) {
            (Some(Errno::ACCESS | Errno::PERM), _) => return self.forbidden(),
            (Some(Errno::MFILE | Errno::NFILE), _) => {
                "one descriptor is open for each function and CPU; name fewer functions or raise ulimit -n"
                    .to_owned()
            }
            (Some(Errno::INVAL | Errno::NOENT | Errno::ADDRNOTAVAIL), Point::Kernel(_)) => {
                let black = fs::read_to_string("/sys/kernel/debug/kprobes/blacklist").unwrap_or_default();
                let listed = black.lines().any(|line| line.ends_with(&format!("\t{}", self.function)));
                let why = if listed { "is on" } else { "may be on" };
                format!(
                    "the function {why} the kernel's list of those that must not be probed (notrace, \
                     entry code; see /sys/kernel/debug/kprobes/blacklist): count its caller instead"
                )
            }
            (_, Point::File(file, _)) => format!(
                "probes need a file of a local file system and code that begins with an instruction \
                 they know; {} may not be such",
                file.display()
            ),
            _ => "count its caller instead".to_owned(),
        };
        CountError::Refused { what, source, hint }
    }

    fn forbidden(&self) -> CountError {
        let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
        let root = rustix::process::geteuid().is_root();
        let (found, remedy) = if self.is_kernel() && lockdown.contains("[confidentiality]") {
            ("the kernel is locked down for confidentiality", "boot without lockdown=confidentiality")
        } else if root {
            (
                "root, but without the capability (a container or a seccomp filter)",
                "run outside of the container, or give it CAP_PERFMON and CAP_SYS_ADMIN and no seccomp \
                 filter",
            )
        } else {
            (
                "only root may put probes into code that others run too",
                "run as root, or give CAP_PERFMON and CAP_SYSLOG (setcap cap_perfmon,cap_syslog+ep)",
            )
        };
        let paranoid = paranoid().map_or(String::new(), |p| format!(" (kernel.perf_event_paranoid is {p})"));
        CountError::Permission {
            what: self.describe(),
            found: format!("{found}{paranoid}"),
            remedy: remedy.to_owned(),
        }
    }
}

/// The name of an object as frames show it.
pub(super) fn module_of(path: &Path) -> String {
    zwhy_symbols::module_name(&path.to_string_lossy()).to_owned()
}
