//! Timing the work: rounds of CPU time, the middle one and the spread.

use crate::data::records;
use crate::machine::Machine;
use crate::work::{RECORD, Work, works};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the layout of [`Limits`].
pub const SCHEMA: u32 = 1;
/// Records worked on in turn: 1 MiB, more than the inner caches, less than the outer one.
const RECORDS: usize = 8;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub rounds: usize,
    /// CPU time of a round at least; one unit of work is done in any case.
    pub round: Duration,
}

impl Default for Pace {
    /// About four seconds for everything; less where the build makes the figures worthless anyway.
    fn default() -> Pace {
        if cfg!(debug_assertions) {
            return Pace { rounds: 2, round: Duration::from_millis(1) };
        }
        Pace { rounds: 5, round: Duration::from_millis(40) }
    }
}

/// What one CPU does of one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub work: String,
    /// MB (10^6 bytes) a second of CPU time: the middle round, the slowest and the fastest.
    pub mb_s: f64,
    pub low: f64,
    pub high: f64,
    /// Whose code did it.
    pub with: String,
}

/// All figures of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub schema: u32,
    pub machine: Machine,
    /// A build without optimisation shows what the build costs, not the machine.
    pub optimized: bool,
    pub record_bytes: usize,
    pub rounds: usize,
    pub rows: Vec<Limit>,
}

/// Works for some seconds on the calling thread. `before` hears of each kind of work before it is
/// done, with its number and how many there are.
pub fn measure(pace: Pace, mut before: impl FnMut(usize, usize, &str)) -> Limits {
    let mut data = records(RECORDS, RECORD);
    let works = works();
    let mut rows = Vec::new();
    for (i, work) in works.iter().enumerate() {
        before(i, works.len(), work.name);
        rows.extend(limit(work, pace, &mut data));
        // Encryption leaves noise behind, which would not compress.
        if work.name.starts_with("aes") {
            data = records(RECORDS, RECORD);
        }
    }
    Limits {
        schema: SCHEMA,
        machine: Machine::this(),
        optimized: !cfg!(debug_assertions),
        record_bytes: RECORD,
        rounds: pace.rounds,
        rows,
    }
}

/// `None` when the library could not do the work.
fn limit(work: &Work, pace: Pace, data: &mut [Vec<u8>]) -> Option<Limit> {
    let mut run = work.runner(data.first()?)?;
    // The first time touches new memory and picks the code for this CPU.
    run(data.first_mut()?);
    let mut rates: Vec<f64> = Vec::with_capacity(pace.rounds);
    for _ in 0..pace.rounds.max(1) {
        let (start, mut bytes) = (cpu_time(), 0usize);
        let spent = loop {
            for record in data.iter_mut() {
                bytes += run(record);
                if cpu_time().saturating_sub(start) >= pace.round {
                    break;
                }
            }
            let spent = cpu_time().saturating_sub(start);
            if spent >= pace.round && !spent.is_zero() {
                break spent;
            }
        };
        if bytes == 0 {
            return None;
        }
        rates.push(bytes as f64 / 1e6 / spent.as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    let (low, high) = (*rates.first()?, *rates.last()?);
    let mb_s = rates[rates.len() / 2];
    Some(Limit { work: work.name.to_owned(), mb_s, low, high, with: work.with.to_owned() })
}

/// CPU time of this thread: what others do beside it hardly counts.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_a_figure_between_its_bounds() {
        let mut heard = Vec::new();
        let pace = Pace { rounds: 2, round: Duration::ZERO };
        let limits = measure(pace, |i, of, name| heard.push((i, of, name.to_owned())));
        assert_eq!(limits.rows.len(), works().len());
        assert_eq!(heard.len(), works().len());
        for row in &limits.rows {
            assert!(row.low > 0.0 && row.low <= row.mb_s && row.mb_s <= row.high, "{row:?}");
            assert!(row.high.is_finite(), "{row:?}");
        }
    }
}
