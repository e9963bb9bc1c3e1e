//! Settings and versions as people spell them in a sentence: `8k record size`, `dedup is enabled`, `zfs-2.1.4-1`.
//!
//! Nobody writes a report in the words of `zfs get`. What is meant is the same: names in any case and in parts, a value
//! before its name, a unit apart, `enabled` for `on`, a parameter as the kernel's command line or FreeBSD has it.

use super::params::is_parameter;
use crate::cells;
use crate::words::WORDS;

/// Words between a name and its value.
const LINKS: [&str; 11] = ["of", "is", "at", "=", ":", "set", "to", "around", "about", "being", "currently"];

/// What stands for `on` and `off`.
const SWITCHES: [(&str, &str); 4] = [("enabled", "on"), ("disabled", "off"), ("active", "on"), ("on", "on")];

/// A property that the words name here, with its value; the spelling of `zfs get` is read as such elsewhere.
pub fn property(words: &[&str], at: usize) -> Option<(&'static str, String)> {
    let (name, after) = WORDS.spellings.iter().find_map(|(name, ways)| {
        let way = ways.iter().find(|way| stands(way, &words[at..]))?;
        Some((name.as_str(), at + way.split(' ').count()))
    })?;
    let behind = words[after..].iter().take(4).position(|w| !LINKS.contains(&lower(w).as_str()));
    let value = behind.and_then(|skip| value_of(name, &words[after + skip..]));
    let value = value.or_else(|| before(name, &words[..at]));
    value.filter(|value| is_setting(name, value)).map(|value| (name, value))
}

/// A property and a value that it can have.
pub fn is_setting(name: &str, value: &str) -> bool {
    let level =
        |of: &str| value.strip_prefix(of).map(|level| level.trim_start_matches("fast-").parse::<u16>());
    match name {
        "recordsize" | "volblocksize" | "special_small_blocks" => {
            cells::bytes(value).is_some_and(|b| b >= 512.0 && (b as u64).is_power_of_two())
        }
        "compression" if ["gzip-", "zstd-"].into_iter().filter_map(level).any(|l| l.is_ok()) => true,
        "encryption" if value.starts_with("aes-") => value.ends_with("cm"),
        "quota" | "refquota" | "reservation" | "refreservation" | "volsize" => {
            value == "none" || cells::bytes(value).is_some_and(|b| b >= 65536.0)
        }
        "ashift" => value.parse::<u8>().is_ok_and(|a| (9..=16).contains(&a)),
        _ => WORDS.settings.get(name).is_some_and(|values| values.has(value)),
    }
}

/// Whether the words begin with this way to write a name.
fn stands(way: &str, words: &[&str]) -> bool {
    let parts = way.split(' ');
    let many = parts.clone().count();
    words.len() >= many && parts.zip(words).all(|(part, word)| word.eq_ignore_ascii_case(part))
}

/// A value that begins the words.
fn value_of(name: &str, words: &[&str]) -> Option<String> {
    let first = *words.first()?;
    if is_size(name) {
        return size(first, words.get(1).copied());
    }
    let text = lower(first);
    let switch = SWITCHES.iter().find(|(word, _)| *word == text).map(|(_, value)| (*value).to_owned());
    switch.filter(|_| is_switch(name)).or(Some(text))
}

/// A value that stands before the name: `8K recordsize`, `gzip-9 compression`, `enabled dedup`.
fn before(name: &str, words: &[&str]) -> Option<String> {
    let (last, rest) = words.split_last()?;
    if is_size(name) {
        let apart = rest.last().and_then(|figure| size(figure, Some(last))).filter(|_| is_unit(last));
        return apart.or_else(|| size(last, None));
    }
    let text = lower(last);
    let switch =
        SWITCHES.iter().take(2).find(|(word, _)| *word == text).map(|(_, value)| (*value).to_owned());
    match name {
        // `on compression` is nothing that anybody means.
        "compression" if !matches!(text.as_str(), "on" | "off") => switch.or(Some(text)),
        _ if is_switch(name) => switch,
        _ => None,
    }
}

fn is_size(name: &str) -> bool {
    matches!(name, "recordsize" | "volblocksize")
}

fn is_switch(name: &str) -> bool {
    matches!(name, "compression" | "dedup" | "atime" | "autotrim")
}

/// `1M`, `8kb`, `16 MB`, `512b` as OpenZFS writes a size: a figure with a letter, or bytes.
fn size(figure: &str, unit: Option<&str>) -> Option<String> {
    let whole = match unit.filter(|unit| is_unit(unit) && figure.bytes().all(|b| b.is_ascii_digit())) {
        Some(unit) => format!("{figure}{unit}"),
        None => figure.to_owned(),
    };
    let whole = whole.to_ascii_uppercase().replace("IB", "B");
    let whole = whole.strip_suffix('B').unwrap_or(&whole);
    let is_figure = whole.starts_with(|c: char| c.is_ascii_digit());
    (is_figure && whole.len() <= 8 && cells::bytes(whole).is_some()).then(|| whole.to_owned())
}

fn is_unit(word: &str) -> bool {
    matches!(lower(word).as_str(), "k" | "kb" | "kib" | "m" | "mb" | "mib" | "b" | "bytes")
}

/// The name of a parameter as OpenZFS has it on Linux: `zfs.zfs_arc_max` of the kernel's command line and
/// FreeBSD's `vfs.zfs.arc.max` are `zfs_arc_max` (include/os/freebsd/spl/sys/mod_os.h).
pub fn parameter(name: &str) -> Option<String> {
    const WHOLE: [&str; 9] = ["l2arc", "dbuf", "metaslab", "zfetch", "zvol", "zil", "spa", "send", "dmu"];
    let name = match name.strip_prefix("vfs.zfs.") {
        Some(rest)
            if WHOLE.iter().any(|p| rest.strip_prefix(p).is_some_and(|r| r.starts_with(['.', '_']))) =>
        {
            rest.replace('.', "_")
        }
        Some(rest) => format!("zfs_{}", rest.replace('.', "_")),
        None => {
            let modules = ["zfs.", "spl.", "icp."];
            modules.iter().find_map(|m| name.strip_prefix(m)).unwrap_or(name).to_owned()
        }
    };
    is_parameter(&name).then_some(name)
}

/// A release in one word: of OpenZFS (`zfs-2.1.4-1`) or of the kernel (`4.18.0-348.7.1.el8_5.x86_64`).
#[derive(Debug, PartialEq, Eq)]
pub enum Release<'w> {
    Zfs(&'w str),
    Kernel(&'w str),
}

/// What release a word names.
pub fn release(word: &str) -> Option<Release<'_>> {
    let version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.');
    let text = word.trim_start_matches(['v', 'V']);
    for of_zfs in ["zfs-kmod-", "zfs-dkms-", "openzfs-", "zfsonlinux-", "zfs-"] {
        if let Some(rest) = strip_prefix(text, of_zfs).filter(|rest| version(rest)) {
            return Some(Release::Zfs(rest));
        }
    }
    let kernel =
        ["kernel-", "linux-"].iter().find_map(|p| strip_prefix(text, p)).filter(|rest| version(rest));
    kernel.or_else(|| is_kernel(text).then_some(text)).map(Release::Kernel)
}

fn strip_prefix<'w>(text: &'w str, prefix: &str) -> Option<&'w str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// A release as only distributions' kernels have it: three numbers and a mark of who built it.
fn is_kernel(word: &str) -> bool {
    let numbers = word.split(['.', '-']).take(3).filter(|part| part.parse::<u16>().is_ok()).count();
    numbers == 3 && word.len() < 60 && WORDS.kernel_marks.iter().any(|mark| word.contains(mark))
}

fn lower(word: &str) -> String {
    word.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let found = (0..words.len()).filter_map(|at| property(&words, at));
        found.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_setting_in_peoples_words() {
        for (text, want) in [
            ("8k recordsize", "recordsize=8K"),
            ("a record size of 16 KB", "recordsize=16K"),
            ("16 MB recordsizes", "recordsize=16M"),
            ("Recordsize is 1m", "recordsize=1M"),
            ("volblock size 512", "volblocksize=512"),
            ("gzip-9 compression", "compression=gzip-9"),
            ("compression enabled", "compression=on"),
            ("deduplication is enabled", "dedup=on"),
            ("we enabled dedup", "dedup=on"),
            ("atime is disabled", "atime=off"),
            ("primary cache set to metadata", "primarycache=metadata"),
        ] {
            assert_eq!(said(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_setting_is_not_read() {
        for text in [
            "compression ratio 1.5",
            "a good compression",
            "recordsize 3k",
            "the recordsize",
            "dedup table of 5 GB",
            "dedup ratio 2.1x",
            "5 recordsize",
            "on compression of files",
            "recordsize 8Kx",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }

    #[test]
    fn parameters_of_the_command_line_and_of_freebsd() {
        for (name, want) in [
            ("zfs.zfs_arc_max", Some("zfs_arc_max")),
            ("vfs.zfs.arc.max", Some("zfs_arc_max")),
            ("vfs.zfs.arc_max", Some("zfs_arc_max")),
            ("vfs.zfs.l2arc.feed_secs", Some("l2arc_feed_secs")),
            ("zfs_txg_timeout", Some("zfs_txg_timeout")),
            ("kern.maxvnodes", None),
            ("size", None),
        ] {
            assert_eq!(parameter(name).as_deref(), want, "{name}");
        }
    }

    #[test]
    fn releases_in_one_word() {
        use Release::{Kernel, Zfs};
        for (word, want) in [
            ("zfs-2.1.4-1", Some(Zfs("2.1.4-1"))),
            ("zfs-kmod-2.1.4-0ubuntu0.1", Some(Zfs("2.1.4-0ubuntu0.1"))),
            ("OpenZFS-2.2.3", Some(Zfs("2.2.3"))),
            ("kernel-4.18.0-348.7.1.el8_5.x86_64", Some(Kernel("4.18.0-348.7.1.el8_5.x86_64"))),
            ("3.10.0-957.el7_lustre.x86_64", Some(Kernel("3.10.0-957.el7_lustre.x86_64"))),
            ("5.4.41-1-pve", Some(Kernel("5.4.41-1-pve"))),
            ("6.8.0-45-generic", Some(Kernel("6.8.0-45-generic"))),
            ("2.2.2", None),
            ("zfs-auto-snap", None),
            ("1.2.3.4", None),
        ] {
            assert_eq!(release(word), want, "{word}");
        }
    }
}
