//! One line of a kernel log or a stack file, without its time stamp, as what it says.

use crate::text::names;
use zwhy_paste::words::WORDS;

/// How a task's stack came to be printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head<'a> {
    pub comm: Option<&'a str>,
    /// `None` where the line does not say.
    pub waiting: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum KernelLine<'a> {
    /// The next stack is this task's.
    Task(Head<'a>),
    /// `CPU: 2 PID: 77 Comm: arc_prune`: this task was running there.
    Running {
        comm: &'a str,
    },
    CallTrace,
    Frame(&'a str),
    /// `? name+0x…`: left over on the stack, perhaps.
    Unreliable(&'a str),
    /// `RIP: 0010:name+0x…`.
    Instruction(&'a str),
    /// What was above is the interrupt that printed the stack.
    EndOfInterrupt,
    /// `<TASK>` and the like.
    Marker,
    Dump,
    /// Has a kernel time stamp and is nothing of the above.
    OtherMessage,
    No,
}

impl KernelLine<'_> {
    /// Such a line can be the first of a block.
    pub fn starts_block(&self) -> bool {
        matches!(
            self,
            KernelLine::Task(_)
                | KernelLine::Running { .. }
                | KernelLine::CallTrace
                | KernelLine::Frame(_)
                | KernelLine::Instruction(_)
        )
    }

    /// A block goes on over a blank line to such a line.
    pub fn goes_on(&self) -> bool {
        self.starts_block()
            || matches!(self, KernelLine::Instruction(_) | KernelLine::Unreliable(_) | KernelLine::Marker)
    }
}

/// Whether a line comes from a log of the kernel: /proc/PID/stack has no time stamps.
pub fn is_logged(text: &str) -> bool {
    without_stamp(text).1
}

/// Reads a line with or without syslog and dmesg prefixes.
pub fn read(text: &str) -> KernelLine<'_> {
    let (text, stamped) = without_stamp(text);
    let text = text.trim();
    match classify(text) {
        KernelLine::No if stamped => KernelLine::OtherMessage,
        found => found,
    }
}

/// Takes off `Nov 21 07:00:00 db7 kernel: `, `<4>`, `[ 1234.567890] `, `[T123] `.
fn without_stamp(text: &str) -> (&str, bool) {
    let (mut text, mut stamped) = (text.trim_start(), false);
    if let Some(at) = text.find("kernel: ").filter(|at| *at < 80) {
        (text, stamped) = (text[at + 8..].trim_start(), true);
    }
    loop {
        let inner = if let Some(rest) = text.strip_prefix('[') {
            rest.split_once(']').filter(|(stamp, _)| is_stamp(stamp))
        } else if let Some(rest) = text.strip_prefix('<') {
            rest.split_once('>')
                .filter(|(level, _)| level.len() == 1 && level.bytes().all(|b| b.is_ascii_digit()))
        } else {
            None
        };
        match inner {
            Some((_, rest)) => (text, stamped) = (rest.trim_start(), true),
            None => return (text, stamped),
        }
    }
}

/// `  1234.567890`, `T123`, `C3`, `Sat Nov 21 07:00:00 2026`.
fn is_stamp(text: &str) -> bool {
    let text = text.trim();
    let seconds = text.split_once('.').is_some_and(|(s, us)| {
        !s.is_empty() && us.len() == 6 && (s.bytes().chain(us.bytes())).all(|b| b.is_ascii_digit())
    });
    let caller = text.strip_prefix(['T', 'C']).is_some_and(|n| {
        let n = n.trim();
        !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())
    });
    let clock = text.len() == 24 && text.bytes().filter(|b| *b == b':').count() == 2;
    seconds || caller || clock
}

fn classify(text: &str) -> KernelLine<'_> {
    if let Some(frame) = frame(text) {
        return frame;
    }
    if let Some(head) = task(text) {
        return KernelLine::Task(head);
    }
    match text {
        "Call Trace:" | "Call trace:" | "Backtrace:" | "[ Call Trace ]" => return KernelLine::CallTrace,
        "</IRQ>" | "<EOI>" | "</NMI>" | "<<EOE>>" | "</#DF>" => return KernelLine::EndOfInterrupt,
        "<TASK>" | "</TASK>" | "<IRQ>" | "<NMI>" => return KernelLine::Marker,
        _ => {}
    }
    if let Some(rest) = text
        .strip_prefix("RIP")
        .and_then(|r| r.strip_prefix(':').or(r.strip_prefix(" [")).or(r.strip_prefix("  :")))
    {
        return instruction(rest);
    }
    // arm64 prints `pc : name+0x…`, ppc64 `NIP [c000…] .name+0x…`.
    if let Some(rest) = text.strip_prefix("pc : ").or_else(|| text.strip_prefix("NIP [")) {
        return instruction(rest.split_once("] ").map_or(rest, |(_, name)| name));
    }
    if let Some((_, rest)) = text.split_once("Comm: ").filter(|(before, _)| before.starts_with("CPU: ")) {
        // Names may have spaces; what follows them is `Tainted:`, `Not tainted` or `Kdump:`.
        let end = [" Tainted:", " Not tainted", " Kdump:"].iter().filter_map(|m| rest.find(m)).min();
        return KernelLine::Running { comm: rest[..end.unwrap_or(rest.len())].trim() };
    }
    // Before 3.9: `Pid: 28672, comm: mount.zfs Tainted: G …`.
    if let Some((_, rest)) = text.split_once(", comm: ").filter(|(before, _)| before.starts_with("Pid: ")) {
        let end = [" Tainted:", " Not tainted"].iter().filter_map(|m| rest.find(m)).min();
        return KernelLine::Running { comm: rest[..end.unwrap_or(rest.len())].trim() };
    }
    if is_dump(text) { KernelLine::Dump } else { KernelLine::No }
}

/// Lines that say whose stack comes next.
fn task(text: &str) -> Option<Head<'_>> {
    // INFO: task txg_sync:1234 blocked for more than 120 seconds.
    if let Some((_, rest)) = text.split_once("INFO: task ")
        && let Some((who, _)) = rest.split_once(" blocked for more than ")
    {
        let comm = who.rsplit_once(':').map_or(who, |(comm, _)| comm);
        return Some(Head { comm: Some(comm), waiting: Some(true) });
    }
    // watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [arc_prune:1234]
    if text.contains("soft lockup") || text.contains("hard LOCKUP") {
        let who = text.rsplit_once('[').and_then(|(_, r)| r.split_once(']')).map(|(who, _)| who);
        let comm = who.and_then(|w| w.rsplit_once(':')).map(|(comm, _)| comm);
        return Some(Head { comm, waiting: Some(false) });
    }
    if text.contains("detected stall")
        || text.contains("self-detected stall")
        || text.contains("NMI backtrace for cpu")
    {
        return Some(Head { comm: None, waiting: Some(false) });
    }
    // crash: PID: 1234   TASK: ffff88…  CPU: 3   COMMAND: "txg_sync"
    if text.starts_with("PID:") && text.contains("TASK:") {
        let comm = text.split_once("COMMAND:").map(|(_, c)| c.trim().trim_matches('"'));
        return Some(Head { comm, waiting: None });
    }
    // task:txg_sync        state:D stack:    0 pid: 1234
    if let Some(rest) = text.strip_prefix("task:")
        && let Some((comm, state)) = rest.split_once("state:")
    {
        let running = state.starts_with('R');
        return Some(Head { comm: Some(comm.trim()), waiting: Some(!running) });
    }
    sysrq(text).or_else(|| {
        // cat /proc/1234/stack, as a command or as a heading
        let path = text
            .split_whitespace()
            .find(|w| w.starts_with("/proc/") && w.trim_end_matches(':').ends_with("/stack"))?;
        (path.len() < 60).then_some(Head { comm: None, waiting: Some(true) })
    })
}

/// `txg_sync        D ffff88085fc13180     0  1234      2 0x00000000` of older kernels.
fn sysrq(text: &str) -> Option<Head<'_>> {
    let words: Vec<&str> = text.split_whitespace().take(8).collect();
    let at =
        words.iter().take(4).position(|w| w.len() == 1 && "DSRIZTtX".contains(*w)).filter(|at| *at > 0)?;
    let after = &words[at + 1..];
    let number = |w: &str| names::is_address(w) || w.bytes().all(|b| b.is_ascii_digit());
    if after.len() < 3 || !after.iter().all(|w| number(w) || *w == "running" || *w == "task") {
        return None;
    }
    let end = text.find(&format!(" {} ", words[at]))?;
    Some(Head { comm: Some(text[..end].trim()), waiting: Some(words[at] != "R") })
}

/// `[<0>] name+0x1/0x2 [mod]`, `? name+0x1/0x2`, `name+0x1/0x2 [mod]`, `#3 [ffff…] name at ffff…`.
fn frame(text: &str) -> Option<KernelLine<'_>> {
    let mut text = text;
    let mut addressed = false;
    while let Some(rest) = text.strip_prefix("[<") {
        let (address, rest) = rest.split_once(">]")?;
        if !address.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        addressed = true;
        text = rest.trim_start();
    }
    if let Some(rest) = text.strip_prefix('#') {
        // crash: the number, the stack address, the name, `at`, the code address.
        let (number, rest) = rest.split_once(' ')?;
        number.parse::<u32>().ok()?;
        let name = rest.trim_start().strip_prefix('[')?.split_once(']')?.1.trim_start().split(' ').next()?;
        return (!name.is_empty()).then_some(KernelLine::Frame(name));
    }
    // ppc64: the address of the stack's frame, then that of the code.
    while let Some((address, rest)) = text.strip_prefix('[').and_then(|t| t.split_once("] ")) {
        if address.len() != 16 || !names::is_address(address) {
            break;
        }
        addressed = true;
        text = rest.trim_start();
    }
    let (reliable, text) = match text.strip_prefix("? ") {
        Some(rest) => (false, rest.trim_start()),
        None => (!text.ends_with("(unreliable)"), text),
    };
    let word = text.split(' ').next()?;
    let rest = text[word.len()..].trim();
    let name = names::without_dot(names::without_offset(word));
    let has_offset = name.len() < word.len() && word.contains("/0x");
    let tail = rest.is_empty() || rest.starts_with('[') || rest.starts_with('(');
    if !tail || !(has_offset || (addressed && !word.is_empty())) {
        return None;
    }
    // The end of the stack has no name: 0xffffffffffffffff.
    if names::is_address(name) {
        return Some(KernelLine::Marker);
    }
    if !reliable {
        return Some(KernelLine::Unreliable(name));
    }
    Some(KernelLine::Frame(name))
}

/// What follows `RIP:`; addresses of user space say where the task will return to.
fn instruction(rest: &str) -> KernelLine<'_> {
    let rest = rest.trim();
    if rest.starts_with("0033:") {
        return KernelLine::Dump;
    }
    let text = rest.split_once(':').filter(|(segment, _)| segment.len() == 4).map_or(rest, |(_, r)| r.trim());
    let word = text.split_whitespace().find(|w| !w.starts_with("[<") && !w.ends_with(">]")).unwrap_or("");
    let name = names::without_offset(word);
    if name.len() < word.len() && !names::is_address(name) {
        KernelLine::Instruction(names::without_dot(name))
    } else {
        KernelLine::Dump
    }
}

/// Registers, code bytes, raw stack words, module lists.
fn is_dump(text: &str) -> bool {
    if WORDS.dumps.beginning(text).is_some() {
        return true;
    }
    // `x29: ffff80000a3fbb20 x28: …` of arm64, and where ppc64 left the kernel.
    let register = text.strip_prefix('x').and_then(|t| t.split_once(':'));
    if register.is_some_and(|(n, _)| n.trim().parse::<u8>().is_ok_and(|n| n < 31))
        || text.starts_with("--- interrupt:")
        || text.starts_with("--- Exception:")
        || text.starts_with("--- syscall")
    {
        return true;
    }
    // Lines of old kernels around them: `CPU 1`, `Process mount.zfs (pid: 28672, threadinfo ffff88…`.
    let numbered = text.strip_prefix("CPU ").is_some_and(|n| n.parse::<u32>().is_ok());
    if numbered
        || text == "sending NMI to all CPUs:"
        || (text.starts_with("Process ") && text.contains("(pid: ") && text.contains("threadinfo"))
    {
        return true;
    }
    let words = text.split_whitespace();
    text.len() >= 33
        && words.clone().count() >= 2
        && words.clone().all(|w| w.len() == 16 && names::is_address(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kernels() {
        use KernelLine::*;
        let head = |comm, waiting| Task(Head { comm, waiting });
        for (text, want) in [
            ("[<0>] cv_wait_common+0x101/0x140 [spl]", Frame("cv_wait_common")),
            ("[<ffffffffa0a1>] ? zio_wait+0x10/0x20 [zfs]", Unreliable("zio_wait")),
            ("[ 12.345678]  schedule+0x42/0xb0", Frame("schedule")),
            ("[ 12.345678] [T77]  ? x+0x1/0x2", Unreliable("x")),
            ("[<ffffffffffffffff>] 0xffffffffffffffff", Marker),
            (
                "Nov 21 07:00:00 db7 kernel: [    1.000000] INFO: task txg_sync:12 blocked for more than 120 seconds.",
                head(Some("txg_sync"), Some(true)),
            ),
            (
                "watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [arc_prune:77]",
                head(Some("arc_prune"), Some(false)),
            ),
            (
                "txg_sync        D ffff88085fc13180     0  1234      2 0x00000000",
                head(Some("txg_sync"), Some(true)),
            ),
            (
                "task:z_wr iss        state:R  running task     stack:    0",
                head(Some("z_wr iss"), Some(false)),
            ),
            ("CPU: 2 PID: 77 Comm: Web Content Tainted: P  OE", Running { comm: "Web Content" }),
            (
                "RIP: 0010:native_queued_spin_lock_slowpath+0x12b/0x1d0",
                Instruction("native_queued_spin_lock_slowpath"),
            ),
            (
                "RIP: 0010:[<ffffffff8156>]  [<ffffffff8156>] _raw_spin_lock+0x32/0x50",
                Instruction("_raw_spin_lock"),
            ),
            ("RIP: 0033:0x7f0011223344", Dump),
            ("Pid: 28672, comm: mount.zfs Tainted: G           O 3.7.1 #3", Running { comm: "mount.zfs" }),
            ("Process mount.zfs (pid: 28672, threadinfo ffff880205dca000, task ffff8801027747c0)", Dump),
            ("CPU 1", Dump),
            ("CPU 1 is slow", No),
            ("PID: 12  TASK: ffff88  CPU: 3  COMMAND: \"txg_sync\"", head(Some("txg_sync"), None)),
            ("#1 [ffff880] schedule at ffffffff81", Frame("schedule")),
            (" 0000000000000046 ffff88085fc13fd8 0000000000013180", Dump),
            ("[    1.000000] usb 1-1: new device", OtherMessage),
            ("[c000000fe2b5b8a0] [c0000000000b2f38] .__switch_to+0x2a4/0x520", Frame("__switch_to")),
            ("[c000000fe2b5b8a0] [c0000000000b2f38] 0xc0000000000b2f38 (unreliable)", Marker),
            ("[c000000fe2b5b8a0] [c00000000001c8e8] .x+0x1/0x2 (unreliable)", Unreliable("x")),
            ("NIP [c0000000000b2f38] .zio_wait+0x10/0x20", Instruction("zio_wait")),
            ("pc : el0_svc+0x1/0x2", Instruction("el0_svc")),
            ("lr : zio_wait+0x10/0x20 [zfs]", Dump),
            ("x29: ffff80000a3fbb20 x28: 0000000000000000", Dump),
            ("GPR04: 0000000000000001 c000000000f80000", Dump),
            ("a+b is a sum", No),
            ("# cat /proc/77/stack", head(None, Some(true))),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
