//! Causes that look alike: at most one of them holds for the same samples.

use crate::asked::Asked;
use crate::condition::Truth;
use crate::knowledge::Cause;
use crate::score::{MOST, Verdict, odds};

/// Log-odds taken from a cause that another one rules out.
const RULED_OUT: f64 = -4.0;
/// A cause rules others out from this confidence on.
const RULES_OUT_FROM: f64 = 0.5;
/// From here on a cause is likely enough to make another that looks like it doubtful.
const LIKELY: f64 = 0.5;

/// Takes odds from the causes that another one rules out.
pub(crate) fn rule_out(verdicts: &mut [Verdict<'_>], asked: &Asked<'_>) {
    let mut losers: Vec<usize> = Vec::new();
    for at in 0..verdicts.len() {
        if verdicts[at].confidence < RULES_OUT_FROM {
            continue;
        }
        for (i, other) in verdicts[at].cause.look_alikes.iter().enumerate() {
            let Some(condition) = &other.ruled_out_when else { continue };
            let asked = asked.for_rows(&condition.queries, verdicts[at].rows.as_ref());
            if condition.truth(&*asked) != Truth::Yes {
                continue;
            }
            verdicts[at].rules_out.push(i);
            losers.extend(verdicts.iter().position(|v| v.cause.class == other.class));
        }
    }
    losers.sort_unstable();
    losers.dedup();
    for at in losers {
        verdicts[at].log_odds += RULED_OUT;
        verdicts[at].confidence = odds(verdicts[at].log_odds) / (1.0 + odds(verdicts[at].log_odds));
    }
}

fn alike(a: &Cause, b: &Cause) -> bool {
    a.look_alikes.iter().any(|l| l.class == b.class) || b.look_alikes.iter().any(|l| l.class == a.class)
}

/// Whether the other one would explain the same instead. What a cause brings about holds beside it.
fn rivals(cause: &Cause, other: &Cause) -> bool {
    alike(cause, other) && !cause.explains.contains(&other.class)
}

/// Of causes that look alike at most one holds: each one's odds are against all of them.
pub(crate) fn share_odds(verdicts: &mut [Verdict<'_>]) {
    let shared: Vec<f64> = verdicts
        .iter()
        .map(|v| {
            let rivals = verdicts.iter().filter(|o| rivals(v.cause, o.cause)).map(|o| odds(o.log_odds));
            let own = odds(v.log_odds);
            own / (1.0 + own + rivals.sum::<f64>())
        })
        .collect();
    for (verdict, confidence) in verdicts.iter_mut().zip(shared) {
        verdict.confidence = confidence;
    }
}

/// A report's figures seldom tell causes that look alike from each other: where two of them are likely, neither is
/// confident. Both stay where they are, as one of the two is likelier than what comes after them; nothing that comes
/// after the first is told as more likely than it.
pub(crate) fn doubt_look_alikes(verdicts: &mut [Verdict<'_>], most: f64) {
    let likely = |v: &Verdict| v.confidence >= LIKELY;
    let doubted: Vec<bool> = verdicts
        .iter()
        .map(|v| likely(v) && verdicts.iter().any(|o| likely(o) && rivals(v.cause, o.cause)))
        .collect();
    let mut before = MOST;
    for (verdict, doubted) in verdicts.iter_mut().zip(doubted) {
        let most = if doubted { before.min(most) } else { before };
        verdict.confidence = verdict.confidence.min(most);
        before = verdict.confidence;
    }
}
