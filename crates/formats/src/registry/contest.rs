//! Which of several text formats that an input could be keeps most of it.
//!
//! A shape that is sure of itself may still be wrong: frames of a DTrace list look like those of perf.
//! So readers of text are tried on the first bytes, and what they keep of what they read decides.
//! Formats with a magic number never come here, and no input is read twice as a whole.

use crate::{Confidence, HEAD_BYTES, ImportOptions, ImportStats, Imported, Importer, Input};
use memchr::memrchr;

/// Readers of lines of text, whose shapes resemble each other.
const TEXT: [&str; 7] =
    ["perf-script", "perf-report", "kernel-stacks", "bpftrace", "dtrace", "folded", "pasted"];

/// Takes every sentence that ends in a number for a stack: it has to know its shape.
const ANYTHING: &str = "folded";
/// By so much more must another keep, of 1, than the one that is surer of itself.
const CLEARLY: f64 = 0.05;
/// Who keeps less than this has a rival in every reader of text.
const POOR: f64 = 0.5;

/// The one of `claims` that keeps most of the head; the surest and of those the first where they are
/// alike. `None` where the surest is of no text, and nothing has to be tried.
pub fn settle(
    claims: &[(Confidence, &'static Importer)],
    all: &'static [&'static Importer],
    input: &Input,
) -> Option<&'static Importer> {
    let mut claims = claims.to_vec();
    claims.sort_by_key(|(sure, _)| std::cmp::Reverse(*sure)); // stable: the list's order stays
    let (surest, first) = *claims.first()?;
    if !is_text(first) {
        return None;
    }
    let head = head(input.bytes());
    // Who would take anything does not compete with those who know a shape.
    let rivals = claims.iter().filter(|(sure, i)| is_text(i) && *sure >= surest.min(Confidence::Likely));
    let claimed = |importer: &Importer| claims.iter().any(|(_, i)| i.name == importer.name);
    let share = |importer: &Importer| {
        let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
        let read = (importer.read)(&Input::from_bytes(input.name(), head.to_vec()), &options);
        let names = |imported: &Imported| importer.name != ANYTHING && mostly_named(imported);
        let read = read.ok().filter(|imported| claimed(importer) || names(imported));
        read.map_or(0.0, |imported| self::share(&imported.stats))
    };
    let best = best(rivals.map(|(_, importer)| *importer), share);
    match best {
        Some((_, most)) if most < POOR => {
            let others = all.iter().copied().filter(|i| is_text(i) && i.name != first.name);
            self::best(std::iter::once(first).chain(others), share)
        }
        best => best,
    }
    .map(|(importer, _)| importer)
}

fn is_text(importer: &Importer) -> bool {
    TEXT.contains(&importer.name)
}

/// Whole lines from the start.
fn head(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= HEAD_BYTES {
        return bytes;
    }
    let head = &bytes[..HEAD_BYTES];
    memrchr(b'\n', head).map_or(head, |end| &head[..=end])
}

fn best(
    importers: impl Iterator<Item = &'static Importer>,
    share: impl Fn(&Importer) -> f64,
) -> Option<(&'static Importer, f64)> {
    let mut best: Option<(&'static Importer, f64)> = None;
    for importer in importers {
        let share = share(importer);
        if best.is_none_or(|(_, most)| share > most + CLEARLY) {
            best = Some((importer, share));
        }
    }
    best
}

/// Whether most samples name a function, and there are several. A line of prose with a colon could be a sample of perf
/// (`grows under pressure: a memory tug`): who did not know the shape needs more than that.
fn mostly_named(imported: &Imported) -> bool {
    const FEWEST: usize = 2;
    let profile = &imported.evidence.profile;
    // Names with a space are those of languages with types or classes: `take(int, bool)`, `<A as B>::f`.
    let of_code = |name: &str| !name.contains(' ') || name.contains(['(', '<', ':', '[']);
    let named =
        |stack| profile.function_names(stack).iter().any(|name| !name.starts_with('[') && of_code(name));
    let samples = profile.samples.iter().filter(|s| named(s.stack)).count();
    samples >= FEWEST && 2 * samples >= profile.samples.len()
        || !imported.evidence.flat.is_empty()
        || !imported.evidence.trees.is_empty()
}

/// What was kept, of all that is not there for the eye. What perf lost while it recorded is no line of the text.
fn share(stats: &ImportStats) -> f64 {
    let of = |reason: &str| stats.dropped.get(reason).copied().unwrap_or(0);
    let read = stats.read.saturating_sub(of("blank line") + of("comment") + stats.lost);
    stats.kept as f64 / read.max(1) as f64
}
