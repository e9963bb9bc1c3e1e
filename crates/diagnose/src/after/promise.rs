//! Whether what a remedy promised came: the part of the CPU of ZFS for the same work that went away.

use super::answer::{AfterAnswer, Kept, Outcome, Promise};
use super::words;
use crate::answer::{Answer, Range, ShareOf};

/// The promise of the finding that led before, set against what the work costs now; where nobody counted the work
/// nothing can be said, as less CPU may be less work.
pub fn promise(before: &Answer, after: &AfterAnswer) -> Option<Promise> {
    let class = &words::main(after)?.class;
    let promised = before.findings.iter().find(|f| f.class == *class)?.gain.as_ref()?.zfs_cpu_less?;
    let times = after.cost.zfs_cpu_s_per_unit.filter(|_| after.outcome != Outcome::CannotTell);
    let came = times.and_then(|t| Some((t.ratio?, t.low?, t.high?)));
    let came =
        came.map(|(ratio, low, high)| ShareOf { value: 1.0 - ratio, low: 1.0 - high, high: 1.0 - low });
    let kept = came.map_or(Kept::NotMeasured, |came| kept(&promised, &came));
    Some(Promise {
        class: class.clone(),
        zfs_cpu_less: promised,
        came,
        kept,
        text: text(&promised, came, kept),
    })
}

fn kept(promised: &Range, came: &ShareOf) -> Kept {
    match (came.high < promised.low, came.low > promised.high) {
        (true, _) => Kept::Less,
        (_, true) => Kept::More,
        _ => Kept::Kept,
    }
}

fn text(promised: &Range, came: Option<ShareOf>, kept: Kept) -> String {
    let percent = |part: f64| part * 100.0;
    let promise = format!(
        "The remedy promised {:.0} to {:.0} % less CPU in ZFS",
        percent(promised.low),
        percent(promised.high)
    );
    let Some(came) = came else {
        return format!("{promise} for the same work; what it saved cannot be measured here.");
    };
    let word = match kept {
        Kept::Kept => "kept",
        Kept::More => "more than promised",
        _ => "less than promised",
    };
    format!(
        "{promise} and saved {:.0} % ({:.0}–{:.0}): {word}.",
        percent(came.value),
        percent(came.low),
        percent(came.high)
    )
}
