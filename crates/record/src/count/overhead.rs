//! What one counted call costs here, and when counting must thin out or stop.
//!
//! Invariant: the cost is measured on this machine before counting starts, on a function of this
//! program or on the cheapest system call.

use super::kernel::KernelFunctions;
use super::pattern::Pattern;
use super::probe::{Point, Probe};
use super::session::Session;
use std::hint::black_box;
use std::time::Duration;
use zwhy_host::monotonic_ns;
use zwhy_perf::Until;
use zwhy_symbols::parse_maps;

/// Calls timed at once; their samples fit the smallest ring.
const CALLS: u64 = 200;
/// The fastest of these is taken: the others were interrupted.
const BATCHES: usize = 7;
/// No call number ever reaches this, so nothing is sampled.
const NEVER: u64 = 1 << 40;
/// CPU time that may be spent before the limit holds, as so many seconds of what it allows.
const BURST: Duration = Duration::from_secs(2);

/// Nanoseconds that a call takes longer because it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Counted, not sampled.
    pub count_ns: f64,
    /// Counted and sampled with its stack.
    pub sample_ns: f64,
}

/// Measures both; `None` when the probe of the trial is refused.
pub(super) fn measure(kernel: Option<&KernelFunctions>, cpus: &[u32]) -> Option<Cost> {
    let (probe, call): (Probe, fn()) = match kernel {
        Some(kernel) => (cheapest_system_call(kernel)?, || {
            black_box(rustix::process::getppid());
        }),
        None => (own_function()?, || {
            black_box(trial(black_box(1)));
        }),
    };
    let plain = fastest(call, || {});
    let (mut session, _) = Session::open(&[probe], cpus, false).ok()?;
    session.enable().ok()?;
    let sampled = fastest(call, || session.drain(Until::TheEnd, |_, _, _, _| ()));
    session.set_period(NEVER).ok()?;
    let counted = fastest(call, || {});
    session.disable();
    let per_call = |ns: u64| ns.saturating_sub(plain) as f64 / CALLS as f64;
    let count_ns = per_call(counted);
    Some(Cost { count_ns, sample_ns: per_call(sampled).max(count_ns) })
}

/// Nanoseconds of the fastest batch of calls.
fn fastest(call: fn(), mut between: impl FnMut()) -> u64 {
    let mut best = u64::MAX;
    for _ in 0..BATCHES {
        let start = monotonic_ns();
        (0..CALLS).for_each(|_| call());
        best = best.min(monotonic_ns() - start);
        between();
    }
    best
}

#[inline(never)]
extern "C" fn trial(x: u64) -> u64 {
    black_box(x)
}

fn own_function() -> Option<Probe> {
    let address = trial as *const () as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let map = parse_maps(&maps).find(|m| m.executable && (m.start..m.end).contains(&address))?;
    let point = Point::File("/proc/self/exe".into(), map.offset + (address - map.start));
    Some(Probe { point, function: "trial".to_owned(), module: "zwhy".to_owned() })
}

fn cheapest_system_call(kernel: &KernelFunctions) -> Option<Probe> {
    let names = ["__x64_sys_getppid", "__arm64_sys_getppid", "__se_sys_getppid", "sys_getppid"];
    names.iter().find_map(|name| kernel.find(&Pattern::new(name), Some("kernel")).ok()?.into_iter().next())
}

/// What to do about the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Fine,
    /// Sample one call in so many.
    Thin(u64),
    /// Even counting alone costs too much.
    Stop,
}

/// The limit, and what was spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub cost: Cost,
    /// Share of the CPU time of all CPUs.
    pub most: f64,
    pub cpus: usize,
}

impl Budget {
    /// CPU seconds that calls have cost in the traced programs.
    pub(super) fn spent(&self, calls: u64, samples: u64) -> f64 {
        (calls as f64 * self.cost.count_ns + samples as f64 * (self.cost.sample_ns - self.cost.count_ns))
            / 1e9
    }

    /// CPU seconds as a share of what all CPUs had in that time. The cost of a call is measured on its
    /// own and can be more than calls in a row cost; no counting takes more than there is.
    pub(super) fn share(&self, spent: f64, duration: Duration) -> f64 {
        (spent / (duration.as_secs_f64().max(1e-9) * self.cpus as f64)).min(1.0)
    }

    /// `spent` and `own` (of the recorder) are CPU seconds since the start, `rate` calls a second of late.
    pub(super) fn judge(&self, elapsed: Duration, spent: f64, own: f64, rate: f64, one_in: u64) -> Verdict {
        let a_second = self.most * self.cpus as f64;
        let allowed = a_second * (elapsed + BURST).as_secs_f64();
        // What the recorder needs to start and to name frames does not shrink with fewer samples.
        if spent + own <= allowed || spent <= allowed / 4.0 {
            return Verdict::Fine;
        }
        let counting = rate * self.cost.count_ns / 1e9;
        if counting > a_second * 0.75 || one_in >= 1 << 20 {
            return Verdict::Stop;
        }
        let sampling = rate * (self.cost.sample_ns - self.cost.count_ns) / 1e9 + own / elapsed.as_secs_f64();
        let needed = (sampling / (a_second - counting)).ceil().max(2.0);
        Verdict::Thin((needed as u64).next_power_of_two().max(one_in * 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_thins_out_before_it_stops() {
        let cost = Cost { count_ns: 1000.0, sample_ns: 3000.0 };
        let budget = Budget { cost, most: 0.05, cpus: 2 };
        let second = Duration::from_secs(1);
        // 0.1 CPU seconds a second are allowed, and 0.2 at once.
        assert_eq!(budget.judge(second, budget.spent(50_000, 50_000), 0.0, 50_000.0, 1), Verdict::Fine);
        assert_eq!(budget.judge(second, budget.spent(50, 50), 9.0, 50.0, 1), Verdict::Fine);
        let spent = budget.spent(110_000, 110_000);
        assert!((spent - 0.33).abs() < 1e-9);
        assert_eq!(budget.judge(second, spent, 0.0, 50_000.0, 1), Verdict::Thin(4));
        assert_eq!(budget.judge(second, spent, 0.0, 50_000.0, 4), Verdict::Thin(16));
        assert_eq!(budget.judge(second, spent, 0.0, 90_000.0, 1), Verdict::Stop);
    }

    #[test]
    fn no_more_is_spent_than_all_cpus_have() {
        let budget = Budget { cost: Cost { count_ns: 1000.0, sample_ns: 3000.0 }, most: 1.0, cpus: 2 };
        assert_eq!(budget.share(1.0, Duration::from_secs(1)), 0.5);
        assert_eq!(budget.share(3.7, Duration::from_secs(1)), 1.0);
    }
}
