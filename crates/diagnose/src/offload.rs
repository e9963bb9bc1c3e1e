//! How much faster everything could be at most if a device did some stages: `--what-if offload=compress`.

use crate::answer::{Answer, ShareOf, SpeedUp};

/// What can be handed to a device, and the stages that it is.
const OFFLOADABLE: [(&str, &[&str]); 4] = [
    ("compress", &["compress"]),
    ("decompress", &["decompress"]),
    ("checksum", &["checksum"]),
    ("raidz", &["parity", "reconstruct"]),
];

/// Stages that exclude each other: with a provider Z.I.A. does without encryption.
const ENCRYPTION: [&str; 3] = ["crypto", "encrypt", "decrypt"];
/// Encryption with less of the CPU may be that of a stream or of a neighbour.
const ENCRYPTS: f64 = 0.01;

/// The bound for some stages together.
#[derive(Clone, Debug, PartialEq)]
pub struct Offloaded {
    /// As they were asked for.
    pub wanted: Vec<String>,
    /// Of the busy CPU, from 0 to 1.
    pub share: ShareOf,
    pub bound: SpeedUp,
    /// The CPU encrypts or decrypts.
    pub encrypts: bool,
}

/// What would be left without these stages, `compress,checksum`.
///
/// # Errors
/// A stage that nobody can take over, and an input that does not say how much CPU each stage takes.
pub fn offloaded(answer: &Answer, wanted: &str) -> Result<Offloaded, String> {
    let wanted: Vec<String> = wanted.split(',').map(|name| name.trim().to_owned()).collect();
    let mut stages = Vec::new();
    for name in &wanted {
        match OFFLOADABLE.iter().find(|(known, _)| known == name) {
            Some((_, own)) => stages
                .extend(own.iter().filter(|stage| !stages.contains(*stage)).copied().collect::<Vec<_>>()),
            None => {
                let known: Vec<&str> = OFFLOADABLE.iter().map(|(known, _)| *known).collect();
                return Err(format!(
                    "nothing can be offloaded that is called {name:?}; it must be of {}",
                    known.join(", ")
                ));
            }
        }
    }
    if answer.what_if.is_none() {
        return Err(
            "the input does not say how much of the CPU each stage takes; record one with zwhy record".into(),
        );
    }
    let mut share = ShareOf { value: 0.0, low: 0.0, high: 0.0 };
    for bound in
        answer.stages.iter().filter(|row| stages.contains(&row.stage.as_str())).filter_map(|row| row.without)
    {
        // Ends of intervals are added as if all erred alike: the sum is no narrower than that.
        share.value += part(bound.at_most);
        share.low += part(Some(bound.low));
        share.high += part(bound.high);
    }
    let share = ShareOf { value: share.value.min(1.0), low: share.low.min(1.0), high: share.high.min(1.0) };
    let encrypts = answer
        .stages
        .iter()
        .any(|row| ENCRYPTION.contains(&row.stage.as_str()) && row.share.value >= ENCRYPTS);
    Ok(Offloaded { wanted, share, bound: SpeedUp::without(&share), encrypts })
}

/// The share that a bound was made of.
fn part(bound: Option<f64>) -> f64 {
    bound.map_or(1.0, |times| 1.0 - 1.0 / times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_and_its_bound_are_one_thing() {
        for value in [0.0, 0.3, 0.9] {
            let bound = SpeedUp::without(&ShareOf::figure(value));
            assert!((part(bound.at_most) - value).abs() < 1e-9);
        }
        assert_eq!(part(None), 1.0);
    }
}
