//! What a device could bring at most to a recorded host, in sentences.

use crate::layout::labelled;
use crate::style::Style;
use crate::words::{assumption, times};
use zwhy_diagnose::{Answer, Offloaded};

/// For `--what-if offload=compress`: the bound, what it takes for granted, and how to measure instead.
pub fn offloaded_text(offloaded: &Offloaded, answer: &Answer, style: Style) -> String {
    let wanted = offloaded.wanted.join(", ");
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let share = offloaded.share;
    let mut text = format!(
        "What if a device did {wanted}: that is {} % of the busy CPU ({}–{}), so at most {}. This is a bound and no \
         forecast: it leaves out what the device and its link take.",
        percent(share.value),
        percent(share.low),
        percent(share.high),
        times(&offloaded.bound),
    );
    if let Some(what_if) = &answer.what_if {
        text += &format!(" {}", assumption(what_if));
    }
    let mut out = format!("\n{}", labelled("", 0, &text, style.prose()));
    if offloaded.encrypts {
        let minds = "This host encrypts or decrypts. Z.I.A., the branch of OpenZFS that hands stages to devices, does \
                     without encryption (and dedup) while it has one.";
        out += &labelled("", 0, minds, style.prose());
    }
    let measure = "To measure it on such data instead: zwhy lab run offload (docs/LAB.md).";
    out += &labelled("", 0, measure, style.prose());
    out
}
