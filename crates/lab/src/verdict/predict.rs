//! What the laws of growth predict at sizes that the user names.

use super::number;
use super::table::law;
use crate::result::{ExperimentResult, GrowthResult, SurfaceResult};
use std::collections::{BTreeMap, BTreeSet};

/// So many times the largest measured size a law may well be another one.
const FAR: f64 = 30.0;

/// A sentence for each law that has all of its sizes in `at`, factor → size: of both together where two factors grew and
/// both are named, of one factor otherwise.
///
/// # Errors
/// When a factor did not grow in this experiment, in words.
pub fn predict(result: &ExperimentResult, at: &BTreeMap<String, f64>) -> Result<Vec<String>, String> {
    let grown: BTreeSet<&str> = result.growth.iter().map(|growth| growth.factor.as_str()).collect();
    if let Some(name) = at.keys().find(|name| !grown.contains(name.as_str())) {
        return Err(match grown.is_empty() {
            true => format!("no law was fitted here; sizes of {name} to compare need --grow {name}=N1,N2,N3"),
            false => format!(
                "no law was fitted by {name}, but by {}",
                grown.into_iter().collect::<Vec<_>>().join(", ")
            ),
        });
    }
    let both = result.surfaces.iter().filter_map(|surface| of_both(surface, at));
    let both: Vec<String> = both.collect();
    if !both.is_empty() {
        return Ok(both);
    }
    Ok(result.growth.iter().filter_map(|growth| of_one(growth, at)).collect())
}

fn of_both(surface: &SurfaceResult, at: &BTreeMap<String, f64>) -> Option<String> {
    let [n, m] = &surface.factors;
    let (first, second) = (*at.get(n)?, *at.get(m)?);
    let largest =
        surface.points.iter().fold((0.0, 0.0), |(a, b): (f64, f64), (n, m, _)| (a.max(*n), b.max(*m)));
    let law = format!("by {}", surface.fit.law.name(n, m));
    let what = format!("{n} = {first} and {m} = {second}{}", named(&[&surface.of]));
    let cost = format!("{} {}", number(surface.fit.at(first, second)), surface.measure.unit());
    let far = first > FAR * largest.0 || second > FAR * largest.1;
    Some(told(&what, &cost, &law, surface.fit.error, far))
}

fn of_one(growth: &GrowthResult, at: &BTreeMap<String, f64>) -> Option<String> {
    let size = *at.get(&growth.factor)?;
    let largest = growth.points.iter().map(|(n, _)| *n).fold(0.0, f64::max);
    let names = named(&[growth.function.as_deref().unwrap_or_default(), &growth.of]);
    let what = format!("{} = {size}{names}", growth.factor);
    let cost = format!("{} {}", number(growth.fit.at(size)), growth.measure.unit());
    Some(told(&what, &cost, &law(&growth.fit), growth.fit.error, size > FAR * largest))
}

/// `, newest-first`: those that are there.
fn named(names: &[&str]) -> String {
    names.iter().filter(|name| !name.is_empty()).map(|name| format!(", {name}")).collect()
}

/// `At n = 1000, newest-first: 12.3 CPU ms per operation (grows as n (…); …)`
fn told(what: &str, cost: &str, law: &str, error: f64, far: bool) -> String {
    let far = if far { "; far beyond what was measured, where another law may hold" } else { "" };
    format!(
        "At {what}: {cost} ({law}; sizes that were measured are predicted from the others to {:.0} %{far}).",
        (error.exp() - 1.0) * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn result() -> ExperimentResult {
        ExperimentResult::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab")).unwrap()
    }

    fn at(sizes: &[(&str, f64)]) -> BTreeMap<String, f64> {
        sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect()
    }

    #[test]
    fn a_law_tells_the_cost_at_a_size() {
        let result = result();
        let growth = &result.growth[0];
        let told = predict(&result, &at(&[(&growth.factor, 1e4)])).unwrap();
        assert_eq!(told.len(), result.growth.len());
        assert!(told[0].contains(&number(growth.fit.at(1e4))), "{told:?}");
        let far = predict(&result, &at(&[(&growth.factor, 1e9)])).unwrap();
        assert!(far[0].contains("another law may hold"), "{far:?}");
    }

    #[test]
    fn what_did_not_grow_is_refused_with_what_did() {
        let mut result = result();
        let error = predict(&result, &at(&[("threads", 4.0)])).unwrap_err();
        assert!(error.contains("no law was fitted by threads, but by"), "{error}");
        result.growth.clear();
        let error = predict(&result, &at(&[("n", 4.0)])).unwrap_err();
        assert!(error.contains("--grow n=N1,N2,N3"), "{error}");
    }
}
