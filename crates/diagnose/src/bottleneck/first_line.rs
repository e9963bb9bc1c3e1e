//! The first line of the answer where something limits the load: with a cause that uses CPU both are told, without
//! one the limit is.

use super::Decided;
use super::answer::{Bottleneck, LimitKind};
use super::words::{self, MOST};
use crate::answer::Finding;

/// From here on a finding is more than a hint.
pub const TELLING: f64 = 0.4;
/// Part of all CPU from which a cause that uses CPU is told first.
const GOOD_SHARE: f64 = 0.1;

/// What the findings say in a sentence, without figures of how sure that is.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Causes that belong to a limit, the likeliest first, in forms of which the first that fits is taken.
    pub cause: Vec<String>,
    /// The first finding with its share of CPU, where it has one.
    pub first: Option<String>,
}

impl Told {
    /// A line that is too long is told in short.
    fn fitting(&self, line: String) -> String {
        let short = self.first.as_ref().filter(|_| line.chars().count() > MOST);
        short.cloned().unwrap_or(line)
    }
}

/// `said` is what the findings alone say, and what to do.
pub fn first_line(
    said: (String, Option<String>),
    decided: Option<&Decided>,
    findings: &[Finding],
    told: &Told,
) -> (String, Option<String>) {
    let Some(decided) = decided else { return (told.fitting(said.0), said.1) };
    let limit = &decided.bottleneck;
    let top = findings.first().filter(|f| f.confidence >= TELLING);
    let uses_cpu = top.is_some_and(|f| f.share.is_some_and(|share| share.value >= GOOD_SHARE));
    let of_cpu = matches!(limit.kind, LimitKind::Cpu | LimitKind::Thread);
    let nothing = matches!(limit.kind, LimitKind::Idle | LimitKind::Client);
    match top {
        // Where CPUs are full and no cause is known, the stages say more than that they are full.
        None if limit.kind == LimitKind::Cpu => said,
        None => (limit.text.clone(), Some(request(limit))),
        Some(_) if of_cpu || uses_cpu => {
            let short = |beside: &str| joined(&[told.first.as_deref()?, beside]);
            let both = |beside: &String| joined(&[&said.0, beside]).or_else(|| short(beside));
            let both = decided.beside.as_ref().and_then(both);
            (both.unwrap_or_else(|| told.fitting(said.0)), said.1)
        }
        // A cause that is likelier than not is told where merely nothing is at its limit.
        Some(top) if nothing && top.confidence < decided.least => (limit.text.clone(), Some(request(limit))),
        Some(_) if nothing => (told.fitting(said.0), said.1),
        Some(_) => (with_cause(decided, &told.cause), said.1),
    }
}

/// The limit and its likely cause; that the CPU is not the limit is said where there is room.
fn with_cause(decided: &Decided, forms: &[String]) -> String {
    let fitting = forms.iter().find_map(|cause| beside_limit(decided, cause));
    fitting.unwrap_or_else(|| decided.bottleneck.text.clone())
}

/// `None` where there is no room for both.
fn beside_limit(decided: &Decided, cause: &str) -> Option<String> {
    let limit = &decided.bottleneck;
    let whole = joined(&[&limit.text, cause]);
    let idle =
        limit.cpu_idle.map_or(String::new(), |idle| format!("Not the CPU ({} idle):", words::whole(idle)));
    let beside = decided.beside.as_deref().unwrap_or(&limit.text);
    let shorter = || joined(&[&idle, beside, cause]).filter(|_| limit.text.starts_with("The CPU is not"));
    let short = || joined(&[beside, cause]);
    let shortest = || joined(&[&beside.replace(words::TOO_FAST, ""), cause]);
    whole.or_else(shorter).or_else(short).or_else(shortest)
}

/// Sentences side by side; `None` where they are too long for a line.
fn joined(sentences: &[&str]) -> Option<String> {
    let line = sentences.join(" ");
    (line.chars().count() <= MOST).then_some(line)
}

/// What to do where no cause is known: find out more of what is at its limit.
fn request(limit: &Bottleneck) -> String {
    let pool = limit.disks.iter().find(|d| d.disk == limit.what).and_then(|d| d.pool.as_deref());
    let pool = pool.filter(|p| is_plain(p)).unwrap_or("POOL");
    match limit.kind {
        LimitKind::Device => format!(
            "See which disk is slower than its neighbours, and which queue its requests wait in: \
             zpool iostat -vlqy {pool} 5 2"
        ),
        LimitKind::Throttle if limit.what == "hypervisor" => {
            "Give this guest more CPU time, or move it to a host with less to do".to_owned()
        }
        LimitKind::Throttle if limit.text.contains("cpu.max") => {
            "Raise cpu.max of the control group if its programs are to be faster (systemctl set-property UNIT \
             CPUQuota=)"
                .to_owned()
        }
        LimitKind::Throttle => format!("See how fast the disks take it: zpool iostat -vly {pool} 5 2"),
        LimitKind::Memory => {
            "See who has the memory: zwhy explain -v, free -m, and ps -eo rss,comm --sort -rss".to_owned()
        }
        LimitKind::Lock | LimitKind::Queue => {
            "See who holds it, with every wait: zwhy record --off-cpu -a -d 30 -o host.zwhy".to_owned()
        }
        LimitKind::Client => "Look at the program: ZFS cannot make it faster".to_owned(),
        LimitKind::Thread => "See what it does, in the flame graph: zwhy flame".to_owned(),
        LimitKind::Cpu | LimitKind::Idle => {
            "If something is slow, record while it is slow: zwhy record -a -d 60 -o host.zwhy".to_owned()
        }
    }
}

/// A name that a shell takes as it is.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b))
}
