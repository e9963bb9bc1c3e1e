//! A confident finding of a report rests on several lines of evidence, and nothing else is as likely.

use crate::calibration::Corroboration;
use crate::condition::Truth;
use crate::score::Verdict;

/// Takes the confidence from findings that stand on little, and from those beside which another stands as well.
pub(crate) fn doubt_what_stands_alone(verdicts: &mut [Verdict<'_>], needs: &Corroboration) {
    let doubted: Vec<bool> = verdicts
        .iter()
        .map(|verdict| {
            let rival = |other: &Verdict<'_>| {
                other.cause.class != verdict.cause.class
                    && other.confidence >= needs.rival
                    && !follows(verdict, other)
                    && !follows(other, verdict)
            };
            lines(verdict) < needs.fewest || verdict.confidence >= needs.rival && verdicts.iter().any(rival)
        })
        .collect();
    for (verdict, _) in verdicts.iter_mut().zip(doubted).filter(|(_, doubted)| *doubted) {
        verdict.confidence = verdict.confidence.min(needs.most);
    }
}

/// What is shown as evidence: signs that hold, and words.
fn lines(verdict: &Verdict<'_>) -> usize {
    let signs = verdict.truths.iter().filter(|truth| **truth == Truth::Yes).count();
    signs + usize::from(!verdict.words.is_empty())
}

fn follows(verdict: &Verdict<'_>, from: &Verdict<'_>) -> bool {
    from.cause.explains.contains(&verdict.cause.class)
}
