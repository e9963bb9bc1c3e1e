//! Module parameters: `/sys/module/zfs/parameters/x:1`, `options zfs a=b`, `zfs_arc_max = 0`, the kernel's
//! command line.

use crate::blocks::{Block, Line, Sink, Taken, command};
use crate::words::WORDS;
use zwhy_evidence::Param;

pub struct Parameters;

impl Block for Parameters {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut found: Vec<(String, String)> = Vec::new();
        if let Some(taken) = head_of_files(lines, sink).or_else(|| printed_files(lines, sink)) {
            return Some(taken);
        }
        let docs = lines.iter().take_while(|l| is_description(&l.text)).count();
        if docs > 0 {
            let mut taken = Taken::default();
            taken.drop("description of a module parameter", docs);
            return Some(taken);
        }
        let used = lines.iter().take_while(|l| read(&l.text, &mut found)).count();
        if used == 0 {
            return None;
        }
        hand_over(found, &lines[..used], sink);
        Taken::kept(used)
    }
}

fn hand_over(found: Vec<(String, String)>, lines: &[Line], sink: &mut Sink) {
    let origin = sink.origin("module parameters", lines);
    sink.evidence.params.extend(found.into_iter().map(|(name, value)| Param { name, value, origin }));
}

/// `==> /sys/module/zfs/parameters/zfs_arc_max <==` and the value below it, of `head *`.
fn head_of_files(lines: &[Line], sink: &mut Sink) -> Option<Taken> {
    let file = |l: &Line| {
        let path = l.text.trim().strip_prefix("==> ")?.strip_suffix(" <==")?;
        let name = path.rsplit('/').next()?;
        (path.contains("/parameters/") || is_parameter(name)).then(|| name.to_owned())
    };
    let mut found = Vec::new();
    let mut taken = Taken::default();
    let mut at = 0;
    while let (Some(name), Some(value)) = (lines.get(at).and_then(file), lines.get(at + 1)) {
        if value.is_blank() || value.text.starts_with("==>") || value.text.contains('=') {
            break;
        }
        found.extend(pair((&name, &value.text)));
        taken.kept += 2;
        at += 2;
        if lines.get(at).is_some_and(Line::is_blank) && lines.get(at + 1).and_then(file).is_some() {
            taken.drop("blank line", 1);
            at += 1;
        }
    }
    if found.is_empty() {
        return None;
    }
    hand_over(found, &lines[..at], sink);
    Some(taken)
}

/// The values below `cat /sys/module/zfs/parameters/zfs_arc_max …`, one line a file, also of other files below
/// `/sys` and `/proc/sys`, which keep their path; the command has a prompt, so that it was read before, or stands
/// there as it is.
fn printed_files(lines: &[Line], sink: &mut Sink) -> Option<Taken> {
    let typed = |text: &str| {
        let files = text.trim().trim_start_matches("sudo ").strip_prefix("cat ")?;
        let name = |file: &str| match file.split_once("/parameters/") {
            Some((_, name)) => Some(name.to_owned()),
            None => {
                ["/sys/", "/proc/sys/"].iter().any(|root| file.starts_with(root)).then(|| file.to_owned())
            }
        };
        files.split_whitespace().map(name).collect::<Option<Vec<String>>>()
    };
    let first = &lines.first()?.text;
    let (names, above) = match typed(first) {
        Some(names) => (names, 1),
        None => (typed(sink.command.as_deref()?)?, 0),
    };
    let values: Vec<&str> = lines[above..].iter().take(names.len()).map(|l| l.text.trim()).collect();
    let is_value = |v: &&str| {
        !v.is_empty() && (!v.contains(' ') || v.contains('[')) && v.len() < 200 && command(v).is_none()
    };
    let found: Vec<_> = names.iter().zip(&values).filter_map(|(n, v)| pair((n, v))).collect();
    if found.len() != names.len() || !values.iter().all(is_value) {
        return None;
    }
    // What follows is not of this command.
    sink.command = None;
    let used = above + names.len();
    hand_over(found, &lines[..used], sink);
    Taken::kept(used)
}

/// `parm:  zfs_arc_max:Maximum ARC size (ulong)` of modinfo: a description, not a value.
fn is_description(text: &str) -> bool {
    let text = text.trim().strip_prefix("parm:").unwrap_or(text).trim();
    let types =
        ["(ulong)", "(uint)", "(int)", "(charp)", "(u64)", "(U64)", "(UINT)", "(long)", "(string)", "(bool)"];
    text.split_once(':').is_some_and(|(name, _)| name.len() < 60 && !name.contains(' '))
        && types.iter().any(|t| text.ends_with(t))
}

/// Adds what a line sets; `false` when it sets nothing.
fn read(text: &str, out: &mut Vec<(String, String)>) -> bool {
    let text = text.trim();
    if let Some(options) = text.strip_prefix("options ") {
        let before = out.len();
        let module = options.split_whitespace().next().unwrap_or("");
        if matches!(module, "zfs" | "spl" | "icp") {
            out.extend(options.split_whitespace().skip(1).filter_map(|o| pair(o.split_once('=')?)));
        }
        return out.len() > before;
    }
    if text.starts_with("BOOT_IMAGE=") || text.starts_with("Command line:") {
        const KERNEL: [&str; 5] =
            ["init_on_alloc", "init_on_free", "mitigations", "transparent_hugepage", "slub_debug"];
        let words = text.split_whitespace().filter_map(|w| w.split_once('='));
        out.extend(words.filter_map(|(name, value)| {
            match name.strip_prefix("zfs.").or(name.strip_prefix("spl.")) {
                Some(name) => pair((name, value)),
                None => KERNEL.contains(&name).then(|| (name.to_owned(), value.to_owned())),
            }
        }));
        return true;
    }
    if let Some((before, rest)) = text.split_once("/sys/module/")
        && !text.contains('>')
        && !before.trim_end().ends_with("cat")
        && let Some((_, rest)) = rest.split_once("/parameters/")
    {
        let found = rest
            .split_once([':', '=', ' '])
            .and_then(|(name, value)| pair((name, value.trim_start_matches([':', '=', ' ']))));
        let is_one = found.is_some();
        out.extend(found);
        return is_one;
    }
    let split = text
        .split_once('=')
        .or_else(|| text.split_once(':'))
        .or_else(|| text.split_once(char::is_whitespace));
    let Some((name, value)) = split.filter(|(name, _)| is_parameter(name.trim())) else { return false };
    // Words after a parameter's name are prose; a value is one word, or a choice in brackets.
    let value = value.trim();
    let one = !value.is_empty() && (!value.contains(' ') || value.contains('[')) && value.len() < 200;
    let valued = value.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '[')
        || text.contains('=')
        || value.contains('[');
    let found = if one && valued { pair((name, value)) } else { None };
    let is_one = found.is_some();
    out.extend(found);
    is_one
}

fn pair((name, value): (&str, &str)) -> Option<(String, String)> {
    let (name, value) = (name.trim(), one_list(value.trim()).trim_matches(['"', '\'']));
    let path = ["/sys/", "/proc/sys/"].iter().any(|root| name.starts_with(root)) && !name.contains(' ');
    let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_name = !name.is_empty() && (path && name.len() < 200 || is_word && name.len() < 80);
    (is_name && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// Choices end with their sentence: `cycle [fastest] generic aesni. It is slow.`
fn one_list(value: &str) -> &str {
    if !value.contains('[') {
        return value;
    }
    let end = value.find(". ").or_else(|| value.find("; ")).unwrap_or(value.len());
    value[..end].trim_end_matches(['.', ';'])
}

/// Names that only parameters of OpenZFS have.
pub fn is_parameter(name: &str) -> bool {
    WORDS.parameters.iter().any(|p| name.starts_with(p) && name.len() > p.len() + 2)
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_parameters() {
        for (text, want) in [
            ("/sys/module/zfs/parameters/zfs_arc_max:4294967296", &[("zfs_arc_max", "4294967296")][..]),
            (
                "options zfs zfs_arc_max=1 zfs_prefetch_disable=0",
                &[("zfs_arc_max", "1"), ("zfs_prefetch_disable", "0")],
            ),
            ("zfs_arc_max                0", &[("zfs_arc_max", "0")]),
            (
                "icp_aes_impl: cycle [fastest] generic x86_64",
                &[("icp_aes_impl", "cycle [fastest] generic x86_64")],
            ),
            (
                "NVMe stripe. /sys/module/icp/parameters/icp_aes_impl: cycle [fastest] generic aesni. All is slow.",
                &[("icp_aes_impl", "cycle [fastest] generic aesni")],
            ),
            (
                "icp_gcm_impl = cycle [fastest] avx generic.",
                &[("icp_gcm_impl", "cycle [fastest] avx generic")],
            ),
            (
                "BOOT_IMAGE=/vmlinuz root=/dev/sda zfs.zfs_arc_max=5 init_on_alloc=0",
                &[("zfs_arc_max", "5"), ("init_on_alloc", "0")],
            ),
            ("zfs_arc_max is too low", &[]),
            ("# cat /sys/module/zfs/parameters/zfs_arc_max /sys/module/zfs/parameters/zfs_arc_min", &[]),
            ("zfs_arc_max -> 8589934592", &[]),
            ("zfs_read 5 times", &[]),
            ("options snd x=1", &[]),
        ] {
            let mut found = Vec::new();
            read(text, &mut found);
            let got: Vec<(&str, &str)> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            assert_eq!(got, want, "{text}");
        }
        let path = "/sys/kernel/mm/lru_gen/enabled";
        assert_eq!(pair((path, "0x0007")), Some((path.to_owned(), "0x0007".to_owned())));
        assert_eq!(pair(("/home/me/file", "0x0007")), None);
    }
}
