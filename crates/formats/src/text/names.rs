//! Function and module names as tools decorate them.

use zwhy_profile::{FrameId, FrameKind, Profile};

/// A module as our model wants it: no brackets, no path, all spellings of the kernel are `kernel`.
///
/// `[kernel.kallsyms]`, `[kernel.vmlinux]`, `[guest.kernel.kallsyms]`, `vmlinux`, `genunix` keep the last
/// one's own name: on illumos the kernel is made of named modules.
pub fn module(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    if inner == "unknown" {
        return "";
    }
    let inner = inner.strip_suffix("_[k]").unwrap_or(inner);
    if inner.starts_with("kernel") || inner.starts_with("guest.kernel") || inner == "vmlinux" {
        return "kernel";
    }
    if inner.ends_with("/vmlinux") || inner.contains("/vmlinux-") || inner.starts_with("vmlinux-") {
        return "kernel";
    }
    let base = inner.rsplit('/').next().unwrap_or(inner);
    // A module file: zfs.ko, zfs.ko.xz, zfs.ko.debug.
    match base.find(".ko") {
        Some(at) if at > 0 && matches!(base.as_bytes().get(at + 3), None | Some(b'.')) => &base[..at],
        _ => base,
    }
}

/// Kernel or user by the spelling of a module as perf prints it: `[zfs]`, `/usr/lib/libc.so.6`.
pub fn kind_of_module(text: &str) -> FrameKind {
    let text = text.trim();
    if matches!(text, "" | "unknown" | "[unknown]" | "//anon" | "[heap]" | "[stack]" | "[anon]") {
        return FrameKind::Unknown;
    }
    if matches!(text, "[vdso]" | "[vsyscall]") || text.starts_with("[JIT]") {
        return FrameKind::User;
    }
    if text.starts_with('[') || module(text) == "kernel" || text.ends_with(".ko") || text.contains(".ko.") {
        return FrameKind::Kernel;
    }
    FrameKind::User
}

/// Splits DTrace's ``module`function``; the module is empty where there is none.
///
/// A backtick inside a C++ name (`` `anonymous namespace' ``) does not count: what is before it must look
/// like a module.
pub fn backtick(text: &str) -> (&str, &str) {
    let is_module = |m: &str| {
        !m.is_empty()
            && m.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'+'))
    };
    match text.split_once('`') {
        // `zfs.ko`dmu_read` of FreeBSD is the module zfs.
        Some((m, function)) if is_module(m) && !function.is_empty() => (module(m), function),
        _ => ("", text),
    }
}

/// The frame of a name in folded stacks and flame graphs: `f`, `f_[k]`, ``module`f+0x12``.
pub fn frame_of_folded(profile: &mut Profile, text: &str) -> FrameId {
    let (name, annotated) = without_annotation(text);
    let (module, function) = backtick(name);
    let kind = annotated.unwrap_or_else(|| kind_of_bare_module(module));
    profile.frame(without_offset(function), module, kind)
}

/// Whether [`frame_of_folded`] takes a name as it is, with nothing split off.
pub fn is_plain_folded(text: &str) -> bool {
    let (name, annotated) = without_annotation(text);
    annotated.is_none() && backtick(name).0.is_empty() && without_offset(name) == text
}

/// The frame of a name as DTrace, bpftrace and bcc print it: ``zfs`f+0x12``, `f+18`, `f+0x12 [zfs]`.
pub fn frame_of_tracer(profile: &mut Profile, text: &str) -> FrameId {
    let text = text.trim();
    if let Some((name, inside)) = text.strip_suffix(']').and_then(|t| t.rsplit_once(" ["))
        && !inside.is_empty()
        && !inside.contains(' ')
    {
        // bpftrace and bcc print kernel modules in brackets.
        return profile.frame(without_offset(name), module(inside), FrameKind::Kernel);
    }
    if let Some((name, path)) = text.strip_suffix(')').and_then(|t| t.rsplit_once(" ("))
        && (path.starts_with('/') || path.starts_with('['))
    {
        return profile.frame(without_offset(name), module(path), kind_of_module(path));
    }
    frame_of_folded(profile, text)
}

/// Takes `_[k]` and the like off a name, with the kind it stands for.
fn without_annotation(text: &str) -> (&str, Option<FrameKind>) {
    for (suffix, kind) in [
        ("_[k]", FrameKind::Kernel),
        ("_[j]", FrameKind::User),
        ("_[i]", FrameKind::Inlined),
        ("_[w]", FrameKind::Kernel),
    ] {
        if let Some(name) = text.strip_suffix(suffix).filter(|n| !n.is_empty()) {
            return (name, Some(kind));
        }
    }
    (text, None)
}

/// Kernel or user by a module that DTrace prints without brackets: shared objects are user, the core
/// modules of illumos and FreeBSD and ZFS are kernel, of others it is not known.
pub fn kind_of_bare_module(module: &str) -> FrameKind {
    match module {
        "kernel" | "unix" | "genunix" | "zfs" | "spl" | "opensolaris" | "icp" | "nfssrv" | "sd" | "apix" => {
            FrameKind::Kernel
        }
        m if m.ends_with(".so") || m.contains(".so.") => FrameKind::User,
        _ => FrameKind::Unknown,
    }
}

/// The name of a function of ppc64, whose first ABI puts a dot before it; others as they are.
pub fn without_dot(name: &str) -> &str {
    match name.strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => rest,
        _ => name,
    }
}

/// Splits `name+0x1a` (also `name+26`) into name and the rest; the name alone where there is no offset.
pub fn without_offset(text: &str) -> &str {
    match text.rfind('+') {
        Some(at) if at > 0 && is_offset(&text[at + 1..]) => &text[..at],
        _ => text,
    }
}

/// `0x1a`, `0x1a/0x30`, `26`.
fn is_offset(text: &str) -> bool {
    let text = text.split('/').next().unwrap_or(text);
    match text.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// `true` for a bare address: `0x7f00…` or at least eight hex digits.
pub fn is_address(text: &str) -> bool {
    let hex = text.strip_prefix("0x").unwrap_or(text);
    let long_enough = if hex.len() < text.len() { !hex.is_empty() } else { hex.len() >= 8 };
    long_enough && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_lose_their_dress() {
        for (text, want) in [
            ("[kernel.kallsyms]", "kernel"),
            ("[kernel]", "kernel"),
            ("[zfs]", "zfs"),
            ("/lib/modules/6.1/extra/zfs.ko.xz", "zfs"),
            ("/usr/lib/debug/boot/vmlinux-6.1.0", "kernel"),
            ("/usr/lib/libzpool.so.6", "libzpool.so.6"),
            ("[unknown]", ""),
            ("x.kotlin", "x.kotlin"),
        ] {
            assert_eq!(module(text), want, "{text}");
        }
        assert_eq!(kind_of_module("[zfs]"), FrameKind::Kernel);
        assert_eq!(kind_of_module("/bin/fio"), FrameKind::User);
        assert_eq!(kind_of_module("[unknown]"), FrameKind::Unknown);
    }

    #[test]
    fn dtrace_names_split_at_a_module_only() {
        assert_eq!(backtick("zfs`dmu_read"), ("zfs", "dmu_read"));
        assert_eq!(backtick("zfs.ko`dmu_read"), ("zfs", "dmu_read"));
        assert_eq!(backtick("a::`anonymous namespace'::b"), ("", "a::`anonymous namespace'::b"));
        assert_eq!(backtick("`x"), ("", "`x"));
    }

    #[test]
    fn offsets_go_and_operators_stay() {
        assert_eq!(without_offset("zio_read+0x1a/0x30"), "zio_read");
        assert_eq!(without_offset("A::operator+"), "A::operator+");
        assert_eq!(without_offset("f+12"), "f");
        assert_eq!(without_offset("+0x1"), "+0x1");
        assert!(is_address("0x7f") && is_address("ffffffff81000000") && !is_address("deadbee"));
    }
}
