//! CPU time by thread, second by second, without a file: what a live view does.
//!
//! `cargo run --release -p zwhy-record --example intervals -- 5 [PID]` looks at the host, or at a process, for
//! five seconds.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_profile::Event;
use zwhy_record::{Interval, Intervals, RecordOptions, Target};

/// Threads shown of each second.
const SHOWN: usize = 5;

/// CPU time of each thread that was sampled, the busiest first, with its name.
pub fn by_thread(interval: &Interval<'_>) -> Vec<(String, Duration)> {
    let profile = interval.profile;
    let mut spent: BTreeMap<_, Duration> = BTreeMap::new();
    for sample in profile.samples.iter().filter(|sample| sample.event == Event::Cpu) {
        *spent.entry(sample.thread).or_default() += interval.cpu_time(sample.count, sample.weight);
    }
    let name = |thread| profile.strings.get(profile.threads.get(thread).comm).to_owned();
    let mut rows: Vec<_> = spent.into_iter().map(|(thread, time)| (name(thread), time)).collect();
    rows.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    rows
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let seconds: u64 = words.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    let target =
        words.next().map_or(Ok(Target::System), |pid| pid.parse().map(|pid| Target::Pid(vec![pid])))?;
    let mut options = RecordOptions::without_file(target);
    options.duration = Some(Duration::from_secs(seconds));
    let mut out = std::io::stdout();
    let (mut intervals, stop) = (Intervals::start(&options)?, AtomicBool::new(false));
    while let Some(interval) = intervals.next(&stop) {
        let length = (interval.to - interval.from).as_secs_f64();
        writeln!(
            out,
            "{:.1} s: {} samples, {} lost",
            interval.to.as_secs_f64(),
            interval.profile.samples.len(),
            interval.lost
        )?;
        for (name, time) in by_thread(&interval).into_iter().take(SHOWN) {
            // A thread's name is whatever it likes.
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            writeln!(out, "  {name:<16} {:5.1} %", 100.0 * time.as_secs_f64() / length)?;
        }
    }
    Ok(())
}
