//! What the recorder did on the host that it recorded: set apart, so that it is never load of the host.
//!
//! Invariant: a sample is either in the profile or counted here. Only samples of a process that is known to be
//! the recorder are: zwhy writes its own number into its captures, the reader of perf.data finds that of perf.

use crate::{Evidence, ThreadCpu};
use serde::{Deserialize, Serialize};
use zwhy_profile::{Event, Unit};

/// The recorder's own work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Itself {
    /// `zwhy`, `perf`.
    pub program: String,
    /// CPU time of its threads and of the commands that it ran; `None` where nothing tells.
    pub cpu_s: Option<f64>,
    /// The same as a part of one CPU.
    pub of_one_cpu: Option<f64>,
    /// CPU samples that were set aside.
    pub samples: u64,
}

impl Evidence {
    /// Takes the recorder's own samples and threads out of what is to be explained; a second time does nothing.
    /// What is written as a capture or for another tool keeps them.
    pub fn set_recorder_aside(&mut self) {
        let recorder = &self.facts.recorder;
        let Some(pid) = recorder.pid.filter(|pid| *pid > 0 && self.itself.is_none()) else { return };
        let seconds = recorder.duration_s.filter(|s| *s > 0.0);
        let hz = recorder.hz.filter(|hz| *hz > 0.0);
        let told = recorder.cpu_s;
        // Commands that it ran are not in the profile at all.
        let helpers = recorder.own_samples_excluded.unwrap_or(0);
        let program = recorder.program.as_deref().unwrap_or("zwhy").to_owned();
        let (samples, sampled_s) = self.take_samples(pid, hz);
        let listed_s = self.take_threads(pid, seconds);
        let helpers_s = hz.map_or(0.0, |hz| helpers as f64 / hz);
        let cpu_s = told.or(listed_s).or(sampled_s).map(|s| s + helpers_s).filter(|s| s.is_finite());
        let of_one_cpu = cpu_s.zip(seconds).map(|(cpu, seconds)| cpu / seconds);
        self.itself = Some(Itself { program, cpu_s, of_one_cpu, samples });
    }

    /// How many CPU samples the process has, and the CPU time that they stand for.
    fn take_samples(&mut self, pid: i32, hz: Option<f64>) -> (u64, Option<f64>) {
        let profile = &mut self.profile;
        let of: Vec<bool> = profile.threads.iter().map(|(_, thread)| thread.pid == pid).collect();
        if !of.contains(&true) {
            return (0, None);
        }
        let times = profile.measure(Event::Cpu).unit == Unit::Nanos
            || profile.measure(Event::Cpu).unit == Unit::Samples;
        let (mut samples, mut nanos) = (0u64, 0i64);
        profile.samples.retain(|sample| {
            let own = of.get(sample.thread.index()) == Some(&true);
            if own && sample.event == Event::Cpu {
                samples += u64::from(sample.count);
                nanos = nanos.saturating_add(sample.weight.0);
            }
            !own
        });
        let weighed = (times && nanos > 0).then(|| nanos as f64 / 1e9);
        (samples, weighed.or(hz.map(|hz| samples as f64 / hz)))
    }

    /// CPU time of the process's threads that were listed.
    fn take_threads(&mut self, pid: i32, seconds: Option<f64>) -> Option<f64> {
        let is_own = |thread: &ThreadCpu| thread.pid == Some(pid);
        let own = self.threads.iter().filter(|t| is_own(t));
        let spent = own.filter_map(|t| t.cpu_pct).reduce(|a, b| a + b).zip(seconds);
        self.threads.retain(|thread| !is_own(thread));
        spent.map(|(pct, seconds)| pct / 100.0 * seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaptureFacts;
    use serde_json::{Value, json};
    use zwhy_profile::StackId;

    fn evidence(recorder: Value) -> Evidence {
        let facts = CaptureFacts::from_value(json!({ "recorder": recorder })).0;
        let mut evidence = Evidence { facts, ..Evidence::default() };
        for (pid, comm, count) in [(7, "zwhy", 20), (8, "zwhy", 5), (0, "swapper", 100)] {
            let thread = evidence.profile.thread(pid, pid, comm);
            for event in [Event::Cpu, Event::Wait] {
                evidence.profile.samples.push_counted(thread, StackId::ROOT, event, count);
            }
            let (comm, pid) = (comm.to_owned(), Some(pid));
            evidence.threads.push(ThreadCpu { comm, pid, cpu_pct: Some(3.0), ..ThreadCpu::default() });
        }
        evidence
    }

    #[test]
    fn only_the_process_that_recorded_is_set_aside() {
        let mut e = evidence(json!({ "pid": 7, "hz": 100, "duration_s": 10.0, "own_samples_left_out": 10 }));
        e.set_recorder_aside();
        assert_eq!(e.profile.total(Event::Cpu), 105, "another zwhy is load like any other");
        assert_eq!(e.profile.total(Event::Wait), 105);
        assert_eq!(e.threads.len(), 2);
        let itself = e.itself.clone().unwrap();
        assert_eq!((itself.program.as_str(), itself.samples), ("zwhy", 20));
        // 3 % of 10 s by its clock, and ten samples of the commands that it ran.
        assert!((itself.cpu_s.unwrap() - 0.4).abs() < 1e-9, "{itself:?}");
        assert!((itself.of_one_cpu.unwrap() - 0.04).abs() < 1e-9);
        e.set_recorder_aside();
        assert_eq!(e.itself, Some(itself), "once is enough");
    }

    #[test]
    fn what_nobody_is_known_to_have_recorded_stays() {
        for recorder in
            [json!({}), json!({ "hz": 100 }), json!({ "pid": 0 }), json!({ "pid": -7 }), json!(null)]
        {
            let mut e = evidence(recorder);
            e.set_recorder_aside();
            assert_eq!((e.profile.total(Event::Cpu), e.itself), (125, None));
        }
        let mut two = evidence(json!({ "pid": 7 }));
        two.merge(evidence(json!({ "pid": 8 })));
        two.set_recorder_aside();
        assert_eq!(
            (two.profile.total(Event::Cpu), two.itself),
            (250, None),
            "two hosts may both have a process 7"
        );
        let mut other = evidence(json!({ "pid": 99, "cpu_s": 0.5 }));
        other.set_recorder_aside();
        assert_eq!(other.profile.total(Event::Cpu), 125, "of a process it records others only");
        assert_eq!(other.itself.and_then(|i| i.cpu_s), Some(0.5));
    }
}
