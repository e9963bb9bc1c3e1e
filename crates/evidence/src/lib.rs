//! What was seen of a host, from any source, each item with where it came from.
//!
//! A capture, a profile file, evidence JSON and pasted text all become one [`Evidence`]; the
//! answers are computed from it alone. Figures stay as the source gave them: percentages that may
//! be inclusive or relative are marked as such, not corrected here. No I/O.

mod architecture;
mod capture;
mod facts;
mod itself;
mod rows;
mod stats;
mod timeline;
mod vdevs;

pub use capture::{
    Amount, Bench, CaptureFacts, ChangedParameters, DatasetCounts, DatasetFacts, EncryptionRoot, Events,
    ExperimentFacts, HostFacts, Kind, LineFacts, MeasureFacts, MeasuredLimit, MeasuredLimits,
    ParameterChange, PoolFacts, RecordedEvent, RecorderFacts, SeriesFacts, ShortWaits, ThreadClockFacts,
    ThreadWaits, WaitFacts, ZfsFacts,
};
pub use facts::{Host, Param, Property, Table};
pub use itself::Itself;
pub use rows::{FlatRow, PctKind, PctStack, ThreadCpu};
pub use stats::{ImportStats, Imported};
pub use timeline::{Line, Moment, Timeline};
pub use vdevs::VdevLoad;

use serde::{Deserialize, Serialize};
use zwhy_profile::Profile;

/// Index into [`Evidence::origins`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OriginId(pub u32);

/// A kernel statistic at one time or as a change over a span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kstat {
    /// Kstat path below the zfs directory: `arcstats`, `tank/iostats`, `dbufstats`.
    pub source: String,
    pub name: String,
    /// Last value seen.
    pub value: f64,
    /// Change a second over the span it was watched; `None` when seen once.
    pub rate: Option<f64>,
    pub origin: OriginId,
}

/// All that is known. Every part may be empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub host: Host,
    /// Real samples with counts; stored as tables, not with the rest.
    #[serde(skip)]
    pub profile: Profile,
    /// Rows of `perf top`, `perf report` and the like: percentages without counts.
    pub flat: Vec<FlatRow>,
    /// Stacks that came with a percentage (or nothing) instead of a count.
    pub trees: Vec<PctStack>,
    pub threads: Vec<ThreadCpu>,
    pub kstats: Vec<Kstat>,
    pub params: Vec<Param>,
    pub properties: Vec<Property>,
    pub tables: Vec<Table>,
    /// What the recorder did, once it was set aside.
    #[serde(skip)]
    pub itself: Option<Itself>,
    /// Names of the sources that [`OriginId`] points to: a file, a block of pasted text.
    pub origins: Vec<String>,
    /// facts.json of a capture; empty for other sources.
    #[serde(skip)]
    pub facts: CaptureFacts,
    /// Counters over time, where the source has them.
    #[serde(skip)]
    pub timeline: Timeline,
    /// A pasted report as it was written, its lines cleaned, at most [`Evidence::MOST_TEXT`] bytes; empty
    /// for other sources.
    #[serde(skip)]
    pub text: String,
    /// The lines of [`Evidence::text`] that no tool printed, as far as that can be told: sentences and commands.
    #[serde(skip)]
    pub said: String,
}

impl Evidence {
    /// Bytes of a report's text that are kept: what a person writes, without the recordings below it.
    pub const MOST_TEXT: usize = 64 << 10;

    /// Registers a source by name.
    pub fn origin(&mut self, name: impl Into<String>) -> OriginId {
        let name = name.into();
        let at = self.origins.iter().position(|o| *o == name).unwrap_or_else(|| {
            self.origins.push(name);
            self.origins.len() - 1
        });
        OriginId(at as u32)
    }

    /// The name of a source; empty for an id of other evidence.
    pub fn origin_name(&self, id: OriginId) -> &str {
        self.origins.get(id.0 as usize).map_or("", String::as_str)
    }

    /// The last value of a kstat.
    pub fn kstat(&self, source: &str, name: &str) -> Option<&Kstat> {
        self.kstats.iter().rev().find(|k| k.source == source && k.name == name)
    }

    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|p| p.name == name).map(|p| p.value.as_str())
    }

    /// `true` when there is something besides samples.
    pub fn has_items(&self) -> bool {
        let empty = self.flat.is_empty()
            && self.trees.is_empty()
            && self.threads.is_empty()
            && self.kstats.is_empty()
            && self.params.is_empty()
            && self.properties.is_empty()
            && self.tables.is_empty();
        !empty
    }

    /// Adds all of `other`: samples are merged, lists appended, host facts filled where unknown. `false`
    /// when samples were measured in different units: then they count by their numbers.
    pub fn merge(&mut self, other: Evidence) -> bool {
        let map: Vec<OriginId> = other.origins.iter().map(|name| self.origin(name.clone())).collect();
        let at = |id: OriginId| map.get(id.0 as usize).copied().unwrap_or_default();
        self.host.fill(&other.host);
        let both = !self.profile.samples.is_empty() && !other.profile.samples.is_empty();
        // Times of two recordings have nothing to do with each other.
        if both {
            self.timeline = Timeline::default();
        } else if self.timeline.lines.is_empty() {
            self.timeline = other.timeline;
        }
        let same_units = self.profile.merge(&other.profile).same_units;
        self.flat.extend(other.flat.into_iter().map(|r| FlatRow { origin: at(r.origin), ..r }));
        self.trees.extend(other.trees.into_iter().map(|r| PctStack { origin: at(r.origin), ..r }));
        self.threads.extend(other.threads.into_iter().map(|r| ThreadCpu { origin: at(r.origin), ..r }));
        self.kstats.extend(other.kstats.into_iter().map(|r| Kstat { origin: at(r.origin), ..r }));
        self.params.extend(other.params.into_iter().map(|r| Param { origin: at(r.origin), ..r }));
        self.properties.extend(other.properties.into_iter().map(|r| Property { origin: at(r.origin), ..r }));
        self.tables.extend(other.tables.into_iter().map(|r| Table { origin: at(r.origin), ..r }));
        for (own, more) in [(&mut self.text, &other.text), (&mut self.said, &other.said)] {
            if own.len() + more.len() < Evidence::MOST_TEXT {
                own.push_str(more);
            }
        }
        self.itself = self.itself.take().or(other.itself);
        if self.facts.is_empty() {
            self.facts = other.facts;
        }
        // Numbers of processes of two recordings say nothing of each other.
        if both {
            self.facts.recorder.pid = None;
        }
        same_units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_the_source_of_each_item() {
        let mut a = Evidence::default();
        a.origin("first");
        let mut b = Evidence::default();
        let origin = b.origin("second");
        b.params.push(Param { name: "zfs_arc_max".into(), value: "0".into(), origin });
        b.host.kernel = Some("6.1".into());
        (a.text, b.text) = ("one\n".into(), "two\n".into());
        a.merge(b);
        assert_eq!(a.text, "one\ntwo\n");
        assert_eq!(a.origin_name(a.params[0].origin), "second");
        assert_eq!((a.param("zfs_arc_max"), a.host.kernel.as_deref()), (Some("0"), Some("6.1")));
    }
}
