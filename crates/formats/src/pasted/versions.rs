//! Versions: `zfs-0.8.3-1`, `uname -a`, the table of an issue template, os-release, package lists.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Host;
use zwhy_zfs::parse_version;

pub struct Versions;

impl Block for Versions {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut host = Host::default();
        if let Some(used) = bare_version(lines, sink.command.as_deref(), &mut host) {
            sink.evidence.host.fill(&host);
            return Taken::kept(used);
        }
        let used = lines.iter().take_while(|l| read(&l.text, &mut host)).count();
        // What was said first is about the reporter's host; others in a thread add theirs below.
        sink.evidence.host.fill(&host);
        Taken::kept(used)
    }
}

/// The output of `cat /sys/module/zfs/version`, `uname -r`, `modinfo zfs`, where the command says which.
fn bare_version(lines: &[Line], command: Option<&str>, host: &mut Host) -> Option<usize> {
    let (command, text) = (command?, lines.first()?.text.trim());
    let version = |t: &str| {
        t.len() < 60 && !t.contains(' ') && t.contains('.') && t.starts_with(|c: char| c.is_ascii_digit())
    };
    if command.contains("/sys/module/zfs/version") && version(text) {
        host.zfs_version = Some(text.to_owned());
    } else if command.starts_with("uname -r") && version(text) {
        host.kernel = Some(text.to_owned());
    } else if command.contains("modinfo") && command.contains("zfs") {
        let value = text.strip_prefix("version:").map(str::trim).filter(|v| version(v))?;
        host.zfs_version = Some(value.to_owned());
    } else {
        return None;
    }
    Some(1)
}

/// Takes what a line says; `false` when it says no version.
fn read(text: &str, host: &mut Host) -> bool {
    let text = text.trim().trim_matches('|').trim();
    let set = |slot: &mut Option<String>, value: &str| {
        let value = value.trim().trim_matches(['"', '`', '*']).trim();
        if slot.is_none() && !value.is_empty() && value.len() < 200 {
            *slot = Some(value.to_owned());
        }
        true
    };
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    // zfs version
    if (first.starts_with("zfs-") || first.starts_with("zfs-kmod-"))
        && words.next().is_none()
        && let Some(version) = parse_version(first)
    {
        return set(&mut host.zfs_version, &version.to_string());
    }
    // dmesg: ZFS: Loaded module v0.8.3-1ubuntu12, ZFS pool version 5000
    if let Some((_, rest)) = text.split_once("ZFS: Loaded module v") {
        return set(&mut host.zfs_version, rest.split([',', ' ']).next().unwrap_or(""));
    }
    // uname -a: Linux HOST RELEASE #N …
    if first == "Linux" {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() >= 5 && words[2].starts_with(|c: char| c.is_ascii_digit()) && words[2].contains('.') {
            if words.len() > 3 && words[3].starts_with('#') {
                set(&mut host.name, words[1]);
            }
            return set(&mut host.kernel, words[2]);
        }
    }
    // uname -a: FreeBSD HOST 13.1-RELEASE …
    if matches!(first, "FreeBSD" | "SunOS") {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() >= 5 && words[2].starts_with(|c: char| c.is_ascii_digit()) {
            set(&mut host.os, &format!("{first} {}", words[2]));
            return set(&mut host.kernel, words[2]);
        }
    }
    // rpm -qa: zfs-dkms-0.8.4-1.el7.noarch, kmod-zfs-0.8.4-1.el7.x86_64
    for package in ["zfs-dkms-", "kmod-zfs-"] {
        if let Some(rest) =
            first.strip_prefix(package).filter(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        {
            return set(&mut host.zfs_version, rest.split(".el").next().unwrap_or(rest));
        }
    }
    // The head of arc_summary: Machine: nas (x86_64)   2.1.9-1
    if first == "Machine:" {
        let last = text.split_whitespace().next_back().unwrap_or("");
        return last.contains('.') && parse_version(last).is_some() && set(&mut host.zfs_version, last);
    }
    if let Some(rest) = text.strip_prefix("PRETTY_NAME=") {
        return set(&mut host.os, rest);
    }
    // dpkg -l: ii  zfs-dkms  2.1.11-1 all …; rpm -qa: zfs-2.1.11-1.el8.x86_64 is the first case
    if first == "ii" {
        let words: Vec<&str> = text.split_whitespace().take(3).collect();
        if let [
            _,
            "zfs-dkms" | "zfsutils-linux" | "zfs-modules" | "libzpool6linux" | "libzpool5linux",
            version,
        ] = words[..]
        {
            return set(&mut host.zfs_version, version);
        }
        return false;
    }
    field(text, host, set)
}

/// `ZFS Version | 2.1.5`, `Linux Kernel: 5.4`, as issue templates ask for.
fn field(text: &str, host: &mut Host, set: impl Fn(&mut Option<String>, &str) -> bool) -> bool {
    let Some((key, value)) =
        text.split_once('|').or_else(|| text.split_once('\t')).or_else(|| text.split_once(": "))
    else {
        return false;
    };
    // /proc/cpuinfo puts a tab before its colon.
    let value = value.trim().trim_matches('|').trim_start_matches(':').trim();
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    match key.trim().trim_matches('*').to_ascii_lowercase().as_str() {
        "zfs version" | "openzfs version" | "zfs" | "zol version" | "zfs release" if has_digit => {
            set(&mut host.zfs_version, value)
        }
        "linux kernel" | "kernel version" | "kernel" | "kernel release" if has_digit => {
            set(&mut host.kernel, value)
        }
        "distribution name" | "operating system" | "os" if !value.is_empty() && value.len() < 60 => {
            set(&mut host.os, value)
        }
        "distribution version" if !value.is_empty() && value.len() < 60 => {
            let os = host.os.take().map_or(value.to_owned(), |os| format!("{os} {value}"));
            set(&mut host.os, &os)
        }
        "spl version" | "architecture" | "type" if text.contains('|') && value.len() < 60 => true,
        "---" | ":---" | "--- " if text.contains('|') => true,
        "model name" => set(&mut host.cpu_model, value),
        "cpu" | "processor" | "cpu model" if text.contains('|') && is_cpu(value) => {
            set(&mut host.cpu_model, value)
        }
        "flags" if value.split(' ').any(|w| w == "sse2") => {
            if host.cpu_flags.is_empty() {
                host.cpu_flags = value.split_whitespace().map(str::to_owned).collect();
            }
            true
        }
        _ => false,
    }
}

/// A model of a CPU, not a number of them.
fn is_cpu(value: &str) -> bool {
    const MAKES: [&str; 11] = [
        "intel", "amd", "xeon", "epyc", "ryzen", "opteron", "atom", "celeron", "pentium", "cortex", "ampere",
    ];
    let value = value.to_ascii_lowercase();
    value.len() < 100 && MAKES.iter().any(|make| value.contains(make))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_all_places() {
        let mut host = Host::default();
        for text in [
            "| Distribution Name | Debian |",
            "Distribution Version    | 10.9",
            "Linux db7 5.10.19-1~bpo10+1 #1 SMP Debian x86_64 GNU/Linux",
            "zfs-2.0.4-1",
            "zfs-kmod-2.0.4-1",
        ] {
            assert!(read(text, &mut host), "{text}");
        }
        assert_eq!(host.os.as_deref(), Some("Debian 10.9"));
        assert_eq!((host.kernel.as_deref(), host.name.as_deref()), (Some("5.10.19-1~bpo10+1"), Some("db7")));
        assert_eq!(host.zfs_version.as_deref(), Some("2.0.4-1"));
        let mut host = Host::default();
        for text in [
            "FreeBSD nas 13.1-RELEASE FreeBSD 13.1-RELEASE GENERIC amd64",
            "model name\t: AMD EPYC 7302P 16-Core Processor",
            "flags\t\t: fpu sse2 avx2 sha_ni",
            "kmod-zfs-0.8.4-1.el7.x86_64",
        ] {
            assert!(read(text, &mut host), "{text}");
        }
        assert_eq!(
            (host.os.as_deref(), host.zfs_version.as_deref()),
            (Some("FreeBSD 13.1-RELEASE"), Some("0.8.4-1"))
        );
        assert_eq!(host.cpu_model.as_deref(), Some("AMD EPYC 7302P 16-Core Processor"));
        assert_eq!(host.cpu_flags.len(), 4);
        let mut host = Host::default();
        assert!(read("CPU | Intel Xeon E5-2407", &mut host) && !read("| CPU | 8 |", &mut host));
        assert_eq!(host.cpu_model.as_deref(), Some("Intel Xeon E5-2407"));
        for text in [
            "zfs is slow",
            "Linux is fine with that",
            "os: a long sentence without end and point and more of it and more of it",
        ] {
            assert!(!read(text, &mut Host::default()), "{text}");
        }
    }
}
