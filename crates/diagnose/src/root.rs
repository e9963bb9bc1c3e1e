//! What a cause brings about is told after it: writers are delayed because a table does not fit into memory.

use crate::score::Verdict;

/// A cause that is as likely as that is told before what it explains: more than one moderate sign speaks for it.
const ENOUGH: f64 = 0.6;
/// Nothing is said of what follows from less.
const LEAST: f64 = 0.2;
/// So much less is said of what follows from a cause than of the cause.
const BEHIND: f64 = 0.01;

/// Lets nothing that a cause explains that is likely enough be told as likelier than the cause itself.
pub(crate) fn causes_first(verdicts: &mut [Verdict<'_>]) {
    // A cause may itself follow from another: each passes on what is left of it.
    const LONGEST_CHAIN: usize = 4;
    for _ in 0..LONGEST_CHAIN {
        let mut changed = false;
        for at in 0..verdicts.len() {
            let Verdict { cause, confidence, .. } = verdicts[at];
            if !verdicts[at].has_signs() {
                continue;
            }
            for other in verdicts.iter_mut().filter(|v| cause.explains.contains(&v.cause.class)) {
                let most = confidence - BEHIND;
                // Of equals the cause is first, however little is known of either.
                if confidence < ENOUGH && other.confidence > confidence || confidence < LEAST {
                    continue;
                }
                changed |= other.confidence > most;
                other.confidence = other.confidence.min(most);
            }
        }
        if !changed {
            break;
        }
    }
}
