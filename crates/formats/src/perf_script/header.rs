//! The line that starts a sample: `comm  PID/TID [CPU] TIME: PERIOD EVENT: …`, any part may be absent.

use memchr::{memchr, memchr_iter, memrchr};

/// Parts of a header line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header<'a> {
    /// Name and ids as they stand there; equal bytes are the same thread.
    pub thread: &'a [u8],
    pub cpu: Option<i32>,
    /// Nanoseconds of the recording's clock.
    pub time: Option<i64>,
    pub period: Option<u64>,
    /// Without the colon; empty where there is none.
    pub event: &'a [u8],
    /// The frame of a sample without call chain, which stands on the same line.
    pub here: Option<&'a [u8]>,
    /// What follows the event and is no frame: the fields of a tracepoint.
    pub rest: &'a [u8],
}

/// Reads a header line; `None` for a line that cannot be one.
pub fn parse(line: &[u8]) -> Option<Header<'_>> {
    if let Some((start, end, time)) = find_time(line) {
        let (thread, cpu) = split_cpu(&line[..start]);
        let mut header = Header { thread, cpu, time: Some(time), ..Header::default() };
        header.read_rest(&line[end..]);
        return Some(header);
    }
    without_time(line)
}

/// The first `123.456789:`; its start, the byte after its colon and the time in nanoseconds.
fn find_time(line: &[u8]) -> Option<(usize, usize, i64)> {
    for colon in memchr_iter(b':', line) {
        let mut at = colon;
        while at > 0 && line[at - 1].is_ascii_digit() {
            at -= 1;
        }
        let decimals = colon - at;
        if !matches!(decimals, 1..=6 | 9) || at == 0 || line[at - 1] != b'.' {
            continue;
        }
        let mut start = at - 1;
        while start > 0 && line[start - 1].is_ascii_digit() {
            start -= 1;
        }
        let followed = matches!(line.get(colon + 1), None | Some(b' '));
        if start == at - 1 || !(start == 0 || line[start - 1] == b' ') || !followed {
            continue;
        }
        let seconds = digits(&line[start..at - 1])?;
        let part = digits(&line[at..colon])? as i64;
        // perf pads with zeros; simpleperf prints the microseconds as a plain number: `115540.8374`.
        let part =
            if matches!(decimals, 3 | 6 | 9) { part * 10i64.pow(9 - decimals as u32) } else { part * 1000 };
        let time = i64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(part)?;
        return Some((start, colon + 1, time));
    }
    None
}

fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
    }
    Some(value)
}

/// Splits `comm 12 [003]` and `comm 12 [003] d.h1.` into thread and CPU.
fn split_cpu(text: &[u8]) -> (&[u8], Option<i32>) {
    let text = text.trim_ascii();
    let Some(open) = memrchr(b'[', text) else { return (text, None) };
    let Some(close) = memchr(b']', &text[open..]) else { return (text, None) };
    let Some(cpu) = digits(&text[open + 1..open + close]) else { return (text, None) };
    (text[..open].trim_ascii_end(), i32::try_from(cpu).ok())
}

impl<'a> Header<'a> {
    /// Period, event and frame, from what follows the time.
    fn read_rest(&mut self, mut rest: &'a [u8]) {
        loop {
            rest = rest.trim_ascii_start();
            let end = memchr(b' ', rest).unwrap_or(rest.len());
            let token = &rest[..end];
            if let Some(event) = token.strip_suffix(b":") {
                self.event = event;
                rest = rest[end..].trim_ascii();
                break;
            }
            match digits(token) {
                // A decimal number before an event is the period, even where it could be an address.
                Some(period)
                    if self.period.is_none()
                        && (next_is_event(rest[end..].trim_ascii_start()) || !looks_like_frame(rest)) =>
                {
                    self.period = Some(period);
                    rest = &rest[end..];
                }
                _ => break,
            }
        }
        let rest = rest.trim_ascii();
        if looks_like_frame(rest) { self.here = Some(rest) } else { self.rest = rest }
    }
}

/// `ffffffff81354a42 copy_process+0x1d2 ([kernel.kallsyms])`, also without module.
fn looks_like_frame(text: &[u8]) -> bool {
    let end = memchr(b' ', text).unwrap_or(text.len());
    let (address, rest) = text.split_at(end);
    !address.is_empty()
        && address.len() <= 16
        && address.iter().all(u8::is_ascii_hexdigit)
        && (rest.trim_ascii().first().is_some_and(|b| !b.is_ascii_digit()) || address.len() >= 10)
}

/// Field sets without a time.
fn without_time(line: &[u8]) -> Option<Header<'_>> {
    let text = line.trim_ascii();
    if text.starts_with(b"#") {
        return None; // a frame of crash: `#0 [ffff88…] schedule at ffffffff81…`
    }
    // `comm 12 [003] …`
    for open in memchr_iter(b'[', text) {
        let close = open + memchr(b']', &text[open..])?;
        if let Some(cpu) = digits(&text[open + 1..close])
            && matches!(text.get(close + 1), None | Some(b' '))
        {
            let thread = text[..open].trim_ascii_end();
            let mut header = Header { thread, cpu: i32::try_from(cpu).ok(), ..Header::default() };
            header.read_rest(&text[close + 1..]);
            return Some(header);
        }
    }
    // `comm 12 cycles: …`, `comm 12 7f00 f (x)`, `cycles:`: the first number or event decides.
    let mut at = 0;
    while at < text.len() {
        let end = memchr(b' ', &text[at..]).map_or(text.len(), |n| at + n);
        let token = &text[at..end];
        let after = text[end..].trim_ascii_start();
        if ids(token).is_some() && (at > 0 || after.is_empty() || next_is_event(after)) {
            let mut header = Header { thread: &text[..end], ..Header::default() };
            header.read_rest(&text[end..]);
            let says_more = !header.event.is_empty() || header.here.is_some();
            return (says_more || header.rest.is_empty()).then_some(header);
        }
        // A comm may end in a colon, an event of perf is made of few characters. A sentence has more before its colon.
        const LONGEST_COMM: usize = 31;
        if (is_event(token) && at <= LONGEST_COMM)
            || (at > 0 && token.len() >= 5 && looks_like_frame(&text[at..]))
        {
            let mut header = Header { thread: text[..at].trim_ascii_end(), ..Header::default() };
            header.read_rest(&text[at..]);
            return Some(header);
        }
        at = end + (text.len() - end - after.len());
        if end == text.len() {
            break;
        }
    }
    None
}

fn next_is_event(text: &[u8]) -> bool {
    is_event(&text[..memchr(b' ', text).unwrap_or(text.len())])
}

/// `cycles:`, `cpu-clock:ppp:`, `sched:sched_switch:`, `cpu/event=0x3c/pp:`.
fn is_event(token: &[u8]) -> bool {
    let Some(name) = token.strip_suffix(b":") else { return false };
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|b| b.is_ascii_alphanumeric() || b"_-:/=,.".contains(b))
}

/// `123`, `-1`, `123/124`.
pub fn ids(token: &[u8]) -> Option<(i32, i32)> {
    let one = |text: &[u8]| match text.strip_prefix(b"-") {
        Some(b"1") => Some(-1),
        Some(_) => None,
        None => i32::try_from(digits(text)?).ok(),
    };
    match memchr(b'/', token) {
        Some(slash) => one(&token[..slash]).zip(one(&token[slash + 1..])),
        None => one(token).map(|tid| (-1, tid)),
    }
}

/// Splits a header's thread into name, pid and tid; -1 where there is none.
pub fn split_thread(thread: &[u8]) -> (&[u8], i32, i32) {
    let start = memrchr(b' ', thread).map_or(0, |space| space + 1);
    match ids(&thread[start..]) {
        Some((pid, tid)) => (thread[..start].trim_ascii(), pid, tid),
        None => (thread, -1, -1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Want<'a> = (&'a str, i32, i32, Option<i32>, Option<i64>, Option<u64>, &'a str, Option<&'a str>);

    #[test]
    fn headers_of_all_field_sets() {
        let t = Some(2_374_923_095_000);
        let wants: &[(&str, Want)] = &[
            (
                "bash   410  2374.923095:    1001001 cpu-clock:ppp: ",
                ("bash", -1, 410, None, t, Some(1_001_001), "cpu-clock:ppp", None),
            ),
            (
                "Web Content 7/9 [013]  2374.923095: cycles: ",
                ("Web Content", 7, 9, Some(13), t, None, "cycles", None),
            ),
            (
                ":-1    -1 [000]  2374.923095:  5 cycles:u: ",
                (":-1", -1, -1, Some(0), t, Some(5), "cycles:u", None),
            ),
            (
                "kworker/0:1-eve 33 [001] d.h1. 2374.923095: cycles:",
                ("kworker/0:1-eve", -1, 33, Some(1), t, None, "cycles", None),
            ),
            ("  410  2374.923095: cpu-clock:ppp: ", ("", -1, 410, None, t, None, "cpu-clock:ppp", None)),
            // simpleperf does not pad the microseconds with zeros.
            (
                "RenderThread 7 [002] 2374.8374: 1 cpu-clock:",
                ("RenderThread", -1, 7, Some(2), Some(2_374_008_374_000), Some(1), "cpu-clock", None),
            ),
            ("bash  2374.923095:    1001001 ", ("bash", -1, -1, None, t, Some(1_001_001), "", None)),
            ("cpu-clock:ppp: ", ("", -1, -1, None, None, None, "cpu-clock:ppp", None)),
            ("bash   410 ", ("bash", -1, 410, None, None, None, "", None)),
            (
                "            node   573 [000]  2374.923095:   10 cpu-clock:ppp:      7f39838ad0cf f@@G+0x3f (/lib/x.so)",
                (
                    "node",
                    -1,
                    573,
                    Some(0),
                    t,
                    Some(10),
                    "cpu-clock:ppp",
                    Some("7f39838ad0cf f@@G+0x3f (/lib/x.so)"),
                ),
            ),
            (
                "   node   573 cycles:  7f39 f (x)",
                ("node", -1, 573, None, None, None, "cycles", Some("7f39 f (x)")),
            ),
            (
                "   my node      1bda714 CRYPTO_strndup+0x34 (/usr/bin/node)",
                (
                    "my node",
                    -1,
                    -1,
                    None,
                    None,
                    None,
                    "",
                    Some("1bda714 CRYPTO_strndup+0x34 (/usr/bin/node)"),
                ),
            ),
            (
                "a b 1 [002] 2374.923095:  sched:sched_switch: prev_comm=a ==> b:1.000000: x",
                ("a b", -1, 1, Some(2), t, None, "sched:sched_switch", None),
            ),
        ];
        for (line, want) in wants {
            let h = parse(line.as_bytes()).unwrap_or_else(|| panic!("no header: {line}"));
            let (comm, pid, tid) = split_thread(h.thread);
            let text = |b| std::str::from_utf8(b).unwrap();
            assert_eq!(
                &(text(comm), pid, tid, h.cpu, h.time, h.period, text(h.event), h.here.map(text)),
                want,
                "{line}"
            );
        }
        for line in ["", "prose about nothing", "\tffffffff81 f (x)", "    40.13%  [kernel]  [k] f"] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
