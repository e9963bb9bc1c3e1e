//! facts.json: what is true of the host, and the recorder's own figures.

use super::Recording;
use crate::error::RecordError;
use crate::proc_stat;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use zwhy_host::peak_rss;

impl Recording {
    /// Writes facts.json; with the end's figures when they are known.
    pub(super) fn write_facts(
        &mut self,
        end: Option<(Duration, &BTreeMap<u32, u64>)>,
    ) -> Result<(), RecordError> {
        let mut facts = Map::new();
        facts.insert("version".into(), json!(zwhy_capture::FORMAT_VERSION));
        facts.insert("zwhy".into(), env!("CARGO_PKG_VERSION").into());
        facts.insert("kind".into(), "record".into());
        let before = self.window.as_ref();
        let start = self.start_unix_s + before.map_or(0.0, |(from, _)| from.as_secs_f64());
        facts.insert("start_unix_s".into(), json!(start));
        facts.extend(self.facts.values.clone());
        if let Some((first, last)) = &self.host_cpu {
            let first = before.and_then(|(_, counted)| counted.host_cpu.as_ref()).unwrap_or(first);
            facts.insert("cpu_time".into(), proc_stat::shares(first, last));
        }
        facts.insert("recorder".into(), self.recorder_facts(end));
        for (name, value) in &self.options.facts {
            match (facts.get_mut(name), value) {
                (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs.clone()),
                _ => drop(facts.insert(name.clone(), value.clone())),
            }
        }
        Ok(self.writer.set_facts(&Value::Object(facts))?)
    }

    fn recorder_facts(&self, end: Option<(Duration, &BTreeMap<u32, u64>)>) -> Value {
        let limits: Vec<&String> = self.limits.iter().chain(&self.facts.limits).collect();
        let mut facts = json!({
            "hz": self.session.sampling.hz,
            "event": self.session.sampling.clock.name(),
            "target": self.options.target.describe(),
            "user_only": self.session.sampling.user_only,
            "ring_bytes": self.session.ring_bytes() * self.session.rings(),
            "events": self.session.events(),
            "limits": limits,
            "interval_s": self.options.interval.as_secs_f64(),
        });
        if let (Some((duration, lost)), Some(facts)) = (end, facts.as_object_mut()) {
            let before = self.window.as_ref().map(|(_, before)| before.clone()).unwrap_or_default();
            let cpu_s = self.cpu.saturating_sub(before.cpu).as_secs_f64();
            let seconds = duration.as_secs_f64();
            facts.insert("duration_s".into(), json!(seconds));
            facts.insert("cpu_s".into(), json!(cpu_s));
            facts.insert("cpu_share".into(), json!(cpu_s / seconds.max(1e-9)));
            facts.insert("nice".into(), json!(self.priority.map(|priority| priority.nice)));
            facts.insert("peak_rss_bytes".into(), json!(peak_rss()));
            facts.extend(self.wait_facts().map(|waits| ("wait".to_owned(), waits)));
            facts.insert("samples".into(), json!(self.collector.samples.saturating_sub(before.samples)));
            facts.insert("lost".into(), json!(lost.values().sum::<u64>()));
            facts.insert("lost_by_cpu".into(), json!(lost));
            facts.insert("dropped".into(), json!(self.collector.dropped));
            facts.insert("unresolved".into(), json!(self.collector.unresolved()));
            if let Some(lines) = self.collector.lines() {
                facts.insert("lines".into(), lines.facts());
            }
            facts.insert("threads".into(), self.collector.clocks.facts());
            facts.insert("names_begun_anew".into(), json!(self.renewals.count));
            facts.insert("throttled".into(), json!(self.collector.throttled));
            facts.insert("own_samples_left_out".into(), json!(self.collector.own_samples));
            facts.insert("series".into(), Value::Object(self.pollers.facts()));
        }
        facts
    }
}
