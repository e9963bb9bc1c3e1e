//! Samples added up by host, time, thread name and stack: what every picture and table is made of.

use crate::columns::{numbers, texts};
use crate::error::FleetError;
use crate::manifest::SUM_MS;
use crate::names::{Names, Placer};
use crate::scope::Scope;
use crate::snapshot::Snapshot;
use datafusion::arrow::datatypes::{Int64Type, UInt64Type};
use datafusion::functions_aggregate::expr_fn::sum;
use datafusion::prelude::{col, lit};
use std::collections::BTreeMap;
use zwhy_profile::{Event, Measure, Nanos, Profile, Sample, StackId, ThreadId, Unit};

/// What samples are kept apart by, besides the names of threads and stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    Nothing,
    Hosts,
    /// Hosts, and steps of `step_ms` from `from_ms` on.
    Steps {
        from_ms: i64,
        step_ms: i64,
    },
}

impl Apart {
    /// The table that answers fastest: sums, unless a step begins or ends within one of theirs; of all hosts together
    /// where none is asked for.
    fn table(self, scope: &Scope) -> &'static str {
        match self {
            Apart::Steps { from_ms, step_ms } if from_ms % SUM_MS != 0 || step_ms % SUM_MS != 0 => "samples",
            Apart::Nothing if scope.hosts.is_empty() => "totals",
            _ => "sums",
        }
    }
}

/// Samples of one stack, of threads of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Empty where hosts are one.
    pub host: String,
    /// Number of the step of time, from the begin of the range; 0 where time is one.
    pub step: i64,
    pub comm: String,
    pub stack: u64,
    pub event: Event,
    pub count: u64,
    pub weight: i64,
}

/// Adds up all samples of a snapshot but those of the recorders.
///
/// # Errors
/// When the query fails.
pub async fn groups(snapshot: &Snapshot, apart: Apart) -> Result<Vec<Group>, FleetError> {
    let mut by: Vec<_> = ["comm", "stack_id", "event"].map(col).to_vec();
    if apart != Apart::Nothing {
        by.push(col("host"));
    }
    if let Apart::Steps { from_ms, step_ms } = apart {
        by.push(((col("t_ms") - lit(from_ms)) / lit(step_ms.max(1))).alias("step"));
    }
    let sums = vec![sum(col("count")).alias("n"), sum(col("weight_ns")).alias("w")];
    let rows = snapshot.rows(apart.table(&snapshot.scope)).await?.filter(!col("own"))?.aggregate(by, sums)?;
    let mut out = Vec::new();
    for batch in snapshot.collect(rows).await? {
        let text = |name| texts(&batch, name);
        let (comms, events) = (text("comm")?, text("event")?);
        let hosts = (apart != Apart::Nothing).then(|| text("host")).transpose()?;
        let stacks = numbers::<UInt64Type>(&batch, "stack_id")?;
        let counts = numbers::<UInt64Type>(&batch, "n")?;
        let weights = numbers::<Int64Type>(&batch, "w")?;
        let steps = matches!(apart, Apart::Steps { .. }).then(|| numbers::<Int64Type>(&batch, "step"));
        let steps = steps.transpose()?;
        for row in 0..batch.num_rows() {
            // An event that this version does not know is no CPU time.
            let Some(event) = Event::from_name(events.value(row)) else { continue };
            out.push(Group {
                host: hosts.as_ref().map_or_else(String::new, |hosts| hosts.value(row).to_owned()),
                step: steps.as_ref().map_or(0, |steps| steps.value(row)),
                comm: comms.value(row).to_owned(),
                stack: stacks.value(row),
                event,
                count: counts.value(row),
                weight: weights.value(row),
            });
        }
    }
    // Engines return groups in any order, and answers are the same each time.
    out.sort_by(|a, b| {
        let key = |g: &Group| (g.step, g.event, g.stack);
        a.host.cmp(&b.host).then_with(|| a.comm.cmp(&b.comm)).then_with(|| key(a).cmp(&key(b)))
    });
    Ok(out)
}

/// Groups as a profile, and where each of them is in it.
pub struct Placed {
    pub profile: Profile,
    /// Thread and stack of each group.
    pub at: Vec<(ThreadId, StackId)>,
}

impl Placed {
    /// What a group amounts to, in the unit of its event.
    pub fn amount(&self, group: &Group) -> u64 {
        match self.profile.measure(group.event).unit {
            Unit::Samples => group.count,
            _ => u64::try_from(group.weight).unwrap_or(0),
        }
    }
}

/// The groups as a profile: threads by their names, stacks by theirs, and no times.
pub fn place(groups: &[Group], names: &Names, snapshot: &Snapshot) -> Placed {
    let mut profile = Profile::new();
    set_measures(snapshot, &mut profile);
    let mut placer = Placer::new(names);
    let mut at = Vec::with_capacity(groups.len());
    for group in groups {
        let thread = profile.thread(-1, -1, &group.comm);
        let stack = placer.stack(group.stack, &mut profile);
        at.push((thread, stack));
        let mut left = group.count;
        let mut weight = Nanos(group.weight);
        // A row counts to four billion; a fleet to more.
        loop {
            let count = u32::try_from(left).unwrap_or(u32::MAX);
            let sample = Sample::counted(thread, stack, group.event, count);
            profile.samples.push(Sample { weight, ..sample });
            left -= u64::from(count);
            weight = Nanos(0);
            if left == 0 {
                break;
            }
        }
    }
    Placed { profile, at }
}

/// The unit of samples where all units of the store agree; else they count as samples.
fn set_measures(snapshot: &Snapshot, profile: &mut Profile) {
    for event in Event::ALL {
        let told = |unit: &crate::unit::Unit| {
            let fact = unit.measures.get(event.name());
            let name = fact.and_then(|fact| fact.unit.clone()).unwrap_or_default();
            (Unit::from_name(&name).name().to_owned(), fact.and_then(|fact| fact.counted).unwrap_or(true))
        };
        let units: BTreeMap<String, bool> =
            snapshot.units.iter().map(told).fold(BTreeMap::new(), |mut all, (unit, counted)| {
                *all.entry(unit).or_insert(true) &= counted;
                all
            });
        let counted = units.values().all(|counted| *counted);
        let unit = match units.len() {
            1 => units.keys().next().map_or(Unit::Samples, |name| Unit::from_name(name)),
            _ => Unit::Samples,
        };
        profile.set_measure(event, Measure { unit, counted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_answer_where_their_steps_are_whole_ones() {
        let all = Scope::default();
        let steps = |from_ms, step_ms| Apart::Steps { from_ms, step_ms }.table(&all);
        assert_eq!((Apart::Nothing.table(&all), Apart::Hosts.table(&all)), ("totals", "sums"));
        let one = Scope { hosts: vec!["db7".to_owned()], ..Scope::default() };
        assert_eq!(Apart::Nothing.table(&one), "sums");
        assert_eq!((steps(0, SUM_MS), steps(-SUM_MS, 12 * SUM_MS)), ("sums", "sums"));
        assert_eq!(
            (steps(1, SUM_MS), steps(0, SUM_MS + 1), steps(0, 60_000)),
            ("samples", "samples", "samples")
        );
    }
}
