//! From which link on a modelled device pays, and how fast a device of known figures would be.

use super::providers::{of, pairs};
use super::{number, range};
use crate::result::RunResult;
use crate::spec::{Offload, Provider};
use crate::stats::{Interval, Ratio};
use std::collections::BTreeMap;

/// A modelled device at one bandwidth of its link.
struct Point {
    /// GB a second; 0 for no limit.
    link: f64,
    /// Its speed, to that of OpenZFS alone.
    speed: Ratio,
}

/// A sentence for each modelled device: the bandwidth of the link from which on it is faster than OpenZFS alone, or,
/// where one of known figures was tried with one link, how much faster it is. `outside`: see [`pairs`].
pub fn break_even(runs: &[&RunResult], step: &str, with: &str, outside: f64) -> Vec<String> {
    let speed = |run: &RunResult| run.step(step).and_then(|s| s.mb_per_s);
    let none = of(runs, Provider::None);
    // The device but for its link → bandwidth in bytes a second → its runs.
    let mut devices: BTreeMap<String, BTreeMap<u64, Vec<&RunResult>>> = BTreeMap::new();
    for run in of(runs, Provider::Model) {
        let link = (run.setup.offload.link_gb_per_s * 1e9) as u64;
        devices.entry(described(&run.setup.offload)).or_default().entry(link).or_default().push(run);
    }
    let mut sentences = Vec::new();
    for (device, links) in devices {
        let offload = links.values().flatten().next().map(|run| &run.setup.offload);
        let points: Vec<Point> = links
            .iter()
            .filter_map(|(link, own)| {
                Some(Point { link: *link as f64 / 1e9, speed: pairs(own, &none, outside, speed)? })
            })
            .collect();
        let known = offload.filter(|offload| offload.device.is_some());
        match (points.as_slice(), known) {
            ([], _) => {}
            ([only], Some(offload)) => sentences.push(of_known(offload, &only.speed, step, with)),
            (points, _) => sentences.extend(of_links(&format!("{device} in {step}{with}"), points)),
        }
    }
    sentences
}

/// `A device with 10 µs and 4 × 2 GB/s`
fn described(offload: &Offload) -> String {
    let mut name = match &offload.device {
        Some(known) => format!("A device like model:{known} with {} µs", number(offload.us)),
        None => format!("A device with {} µs", number(offload.us)),
    };
    if offload.gb_per_s > 0.0 {
        name += &format!(" and {} × {} GB/s", offload.engines, number(offload.gb_per_s));
    }
    name
}

fn of_known(offload: &Offload, speed: &Ratio, step: &str, with: &str) -> String {
    let name = offload.device.as_deref().unwrap_or_default();
    let unlimited = offload.unlimited();
    let speed = format!("{} as fast as OpenZFS alone", times(speed));
    match unlimited.as_slice() {
        [] => format!("model:{name} in {step}{with} is {speed}, by the figures that were set."),
        free => format!(
            "model:{name} in {step}{with} is at most {speed}: a bound, for no figure was set for its {}.",
            free.join(" and ")
        ),
    }
}

/// `2.30 times [2.10, 2.50]`
fn times(ratio: &Ratio) -> String {
    let value = number(ratio.times.value);
    match ratio.runs {
        1 => format!("{value} times (one run)"),
        _ => format!("{value} times {}", range(&ratio.times)),
    }
}

fn of_links(what: &str, points: &[Point]) -> Option<String> {
    let limited: Vec<&Point> = points.iter().filter(|point| point.link > 0.0).collect();
    let (slowest, fastest) = (limited.first()?, limited.last()?);
    let curve = |end: fn(&Interval) -> f64| {
        limited.iter().map(|point| (point.link, end(&point.speed.times))).collect::<Vec<_>>()
    };
    if let Some(link) = crossing(&curve(|times| times.value)) {
        // Where the speed may be higher, less of a link is enough.
        let range = match (crossing(&curve(|times| times.high)), crossing(&curve(|times| times.low))) {
            (Some(low), Some(high)) => format!(" [{}, {}]", number(low), number(high)),
            _ => String::new(),
        };
        return Some(format!(
            "{what} pays from {} GB/s{range} of link on (between two measured ones); below, you lose.",
            number(link)
        ));
    }
    Some(match slowest.speed.times.value >= 1.0 {
        true => format!(
            "{what} was no slower than OpenZFS alone at {} GB/s of link already ({} its speed).",
            number(slowest.link),
            times(&slowest.speed)
        ),
        false => format!(
            "{what} was no faster than OpenZFS alone at any measured link, up to {} GB/s ({} its speed).",
            number(fastest.link),
            times(&fastest.speed)
        ),
    })
}

/// Where the speed ratio passes 1, between the two bandwidths on its sides, straight on logarithms.
fn crossing(points: &[(f64, f64)]) -> Option<f64> {
    let pair = points.windows(2).find(|pair| pair[0].1 < 1.0 && pair[1].1 >= 1.0)?;
    let ((x0, y0), (x1, y1)) = ((pair[0].0.ln(), pair[0].1.ln()), (pair[1].0.ln(), pair[1].1.ln()));
    Some((x0 + (x1 - x0) * -y0 / (y1 - y0)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(value: f64, low: f64, high: f64, runs: usize) -> Ratio {
        Ratio { times: Interval { value, low, high }, runs, is_shown: true }
    }

    #[test]
    fn break_even_lies_between_the_bandwidths_around_it() {
        let at = crossing(&[(0.1, 0.5), (0.4, 2.0), (1.6, 2.5)]).unwrap();
        assert!((at - 0.2).abs() < 1e-9, "{at}");
        assert_eq!(crossing(&[(0.1, 1.5), (0.4, 2.0)]), None);
        assert_eq!(crossing(&[(0.1, 0.2), (0.4, 0.9)]), None);
    }

    #[test]
    fn a_break_even_has_the_range_of_its_runs() {
        let point =
            |link, value, off, runs| Point { link, speed: ratio(value, value / off, value * off, runs) };
        let told = of_links("It", &[point(0.1, 0.5, 1.2, 5), point(0.4, 2.0, 1.2, 5)]).unwrap();
        assert!(told.starts_with("It pays from 0.20 GB/s [0.17, 0.24] of link on"), "{told}");
        // One run has no range, and a range that leaves the measured links is none.
        let told = of_links("It", &[point(0.1, 0.5, 1e9, 1), point(0.4, 2.0, 1e9, 1)]).unwrap();
        assert!(told.starts_with("It pays from 0.20 GB/s of link on"), "{told}");
        let told = of_links("It", &[point(0.1, 1.5, 1.2, 5), point(0.4, 2.0, 1.2, 5)]).unwrap();
        assert!(told.contains("no slower") && told.contains("1.50 times [1.25, 1.80] its speed"), "{told}");
    }

    #[test]
    fn what_is_not_known_of_a_device_makes_a_bound() {
        let mut offload = Offload::default();
        offload.set_provider("model:qat-8950").unwrap();
        let told = of_known(&offload, &ratio(2.0, 1.8, 2.2, 5), "write", "");
        assert_eq!(
            told,
            "model:qat-8950 in write is at most 2.00 times [1.80, 2.20] as fast as OpenZFS alone: a bound, for no figure \
             was set for its latency."
        );
        offload.us = 50.0;
        let told = of_known(&offload, &ratio(0.9, 0.5, 1.2, 1), "write", "");
        assert_eq!(
            told,
            "model:qat-8950 in write is 0.90 times (one run) as fast as OpenZFS alone, by the figures that were set."
        );
    }
}
