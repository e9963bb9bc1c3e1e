//! The text of `perf script`, in all its field sets, several hundred megabytes a second.
//!
//! Invariants: equal stack texts are parsed once (found by hash, compared byte by byte) and equal frame
//! lines are parsed once; work a sample is its header and one lookup. Samples are the unit of the stats;
//! a line that is neither sample nor stack counts as one dropped record.

mod events;
mod excerpt;
mod frame;
mod header;
mod host;
mod reader;
mod stacks;
mod tidy;

pub(crate) use excerpt::SampleExcerpt;

use crate::text::lines;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use std::borrow::Cow;

pub(crate) static IMPORTER: Importer = Importer { name: "perf-script", sniff, read };

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let bytes = spaced(without_carriage_returns(input.bytes()));
    let tidied = tidy::tidied(&bytes);
    let odd = tidied.as_ref().map_or(0, |t| t.odd);
    let bytes = tidied.map_or(bytes, |t| Cow::Owned(t.text));
    let done_with = |from, to| {
        if matches!(bytes, Cow::Borrowed(_)) {
            input.release(from, to);
        }
    };
    let mut imported = reader::read(&bytes, input.name(), options, &done_with);
    imported.stats.read += odd;
    imported.stats.drop("line is no sample", odd);
    if imported.stats.kept == 0 {
        return Err(FormatError::read(ErrorKind::Empty, input.name(), "no line of it is a sample")
            .hint("write it with `perf script -i perf.data`, without -F or with at least comm,tid,time,event,ip,sym,dso"));
    }
    Ok(imported)
}

/// A header and a frame below it is sure; many lines with a place and a name are likely.
fn sniff(head: &[u8]) -> Confidence {
    const LOOK_AT: usize = 400;
    let (mut headers, mut frames, mut pairs, mut one_line, mut other) = (0, 0, 0, 0, 0);
    let mut after_header = false;
    let head = spaced(Cow::Borrowed(head));
    for line in lines::raw_lines(&head).take(LOOK_AT) {
        if line.is_empty() || line.starts_with(b"#") {
            after_header |= line.is_empty() && (headers == 0 || after_header);
            continue;
        }
        if (frame::is_frame_line(line) && frame::is_address_wide(line)) || tidy::is_bare_frame(line) {
            frames += 1;
            pairs += usize::from(after_header);
        } else if let Some(header) = header::parse(line).filter(|_| !line.starts_with(b"\t")) {
            headers += 1;
            one_line += usize::from(is_sample(&header));
            after_header = true;
            continue;
        } else if !line.starts_with(b"  ") {
            other += 1;
        }
        after_header = false;
    }
    if pairs > 0 && frames > other {
        Confidence::Certain
    } else if one_line > 0 && one_line * 9 >= other * 91 {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

/// Whether a line is a sample by itself: an address and a name behind a time, an event or a number. Sentences have
/// words of the hexadecimal digits (`While data is added at a rate`) and commits (`commit e8b96c6 makes reads slow`).
fn is_sample(header: &header::Header<'_>) -> bool {
    const WIDE: std::ops::RangeInclusive<usize> = 12..=16;
    let Some(here) = header.here else { return false };
    let address = here.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let numbered = header.thread.trim_ascii_end().last().is_some_and(u8::is_ascii_digit);
    let told = header.time.is_some() || !header.event.is_empty() || numbered;
    // perf prints small letters, and no program is loaded below 64 KiB: `size: 512B configured` is zpool status.
    let printed = address.len() > 4 && !address.iter().any(u8::is_ascii_uppercase);
    printed
        && frame::is_named(here)
        && address.iter().any(u8::is_ascii_digit)
        && (told || WIDE.contains(&address.len()))
}

/// Text that went through a Windows tool; the usual text is not copied.
fn without_carriage_returns(bytes: &[u8]) -> Cow<'_, [u8]> {
    let head = &bytes[..bytes.len().min(crate::HEAD_BYTES)];
    if memchr::memmem::find(head, b"\r\n").is_none() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().copied().filter(|b| *b != b'\r').collect())
}

/// Text of simpleperf, which parts the fields of a line by tabs; the usual text is not copied.
fn spaced(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    const LOOK_AT: usize = 400;
    let head = &bytes[..bytes.len().min(crate::HEAD_BYTES)];
    let is_parted = |line: &[u8]| {
        !line.starts_with(b"\t")
            && line.contains(&b'\t')
            && header::parse(line).is_none_or(|h| h.time.is_none())
            && header::parse(&with_spaces(line)).is_some_and(|h| h.time.is_some() && !h.event.is_empty())
    };
    if lines::raw_lines(head).take(LOOK_AT).any(is_parted) { Cow::Owned(with_spaces(&bytes)) } else { bytes }
}

/// Tabs that do not indent a line as spaces.
fn with_spaces(bytes: &[u8]) -> Vec<u8> {
    let mut before = b'\n';
    let space = |byte: &u8| {
        let inside = *byte == b'\t' && before != b'\n';
        before = *byte;
        if inside { b' ' } else { *byte }
    };
    bytes.iter().map(space).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_tool_indents_by_tabs_is_no_sample() {
        let zdb = b"\tFat ZAP stats:\n\t\tPointer table:\n\t\t\t524288 elements\n\t\tLeaf blocks: 445397\n";
        assert!(matches!(sniff(zdb), Confidence::No));
        let perf = b"bash 410 2374.923095: 1 cycles:\n\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])\n";
        assert!(matches!(sniff(perf), Confidence::Certain));
    }

    #[test]
    fn sentences_are_no_samples() {
        let text = b"While data is added at a somewhat consistent rate, data is drained in large swaths.\n";
        assert!(matches!(sniff(text), Confidence::No));
        let commit = b"Performance regression\ncommit e8b96c6 introduces a large one\n";
        assert!(matches!(sniff(commit), Confidence::No));
        let status = b"        NAME   STATE     READ WRITE CKSUM\n        tank   ONLINE       0     0     0\n          sda    \
            ONLINE       0     0     0  block size: 512B configured, 4096B native\n";
        assert!(matches!(sniff(status), Confidence::No));
        let one_line = b"node 573 [000] 2374.923095: 10 cpu-clock:ppp: 7f39838ad0cf f@@G+0x3f (/lib/x.so)\n";
        assert!(matches!(sniff(one_line), Confidence::Likely));
    }

    #[test]
    fn fields_parted_by_tabs() {
        let text = b"Worker\t25122 [007] 115.936601:\t\t1000000 task-clock:u:\n        \
            b3cea6c4\ttake(int, bool) (/lib/libc.so)\n        99070c55\tmain (/bin/app)\n\n";
        assert!(matches!(sniff(text), Confidence::Certain));
        let read = crate::import_bytes("x", text.to_vec(), &ImportOptions::default()).unwrap();
        assert_eq!((read.stats.kept, read.stats.dropped.len()), (1, 0), "{:?}", read.stats);
        let profile = &read.evidence.profile;
        let sample = profile.samples.iter().next().unwrap();
        assert_eq!(profile.function_names(sample.stack), ["main", "take(int, bool)"]);
        assert!(profile.threads.iter().any(|(_, thread)| thread.tid == 25122));
    }
}
