//! CPU time of the host by kind, from /proc/stat: sources `cpu/all`, `cpu/0`, …, in nanoseconds.

use crate::series_pen::SeriesPen;
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_capture::SeriesKind;
use zwhy_host::read_cut;
use zwhy_profile::Nanos;

/// Columns of a cpu line, proc(5).
pub(crate) const KINDS: [&str; 8] =
    ["usr_ns", "nice_ns", "sys_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"];

/// Host CPU time by kind at one time.
pub(crate) type HostCpu = [i64; KINDS.len()];

/// Reads all CPUs; `None` when the file `stat` below `proc_root` cannot be read.
pub(crate) fn read(proc_root: &Path, t: Nanos, pen: &mut SeriesPen) -> Option<HostCpu> {
    let text = read_cut(&proc_root.join("stat")).ok()?;
    let hz = rustix::param::clock_ticks_per_second().max(1) as i64;
    let mut all = None;
    for (source, ticks) in text.lines().filter_map(cpu_line) {
        let values = ticks.map(|n| n.saturating_mul(1_000_000_000 / hz));
        for (kind, value) in KINDS.iter().zip(values) {
            pen.put(t, &source, kind, SeriesKind::Counter, value);
        }
        if source == "cpu/all" {
            all = Some(values);
        }
    }
    all
}

fn cpu_line(line: &str) -> Option<(String, HostCpu)> {
    let mut fields = line.split_ascii_whitespace();
    let cpu = fields.next()?.strip_prefix("cpu")?;
    let mut ticks = HostCpu::default();
    for (slot, field) in ticks.iter_mut().zip(fields) {
        *slot = field.parse().ok()?;
    }
    let source = if cpu.is_empty() { "cpu/all".to_owned() } else { format!("cpu/{cpu}") };
    Some((source, ticks))
}

/// Shares of each kind between two readings, by name without the unit.
pub(crate) fn shares(from: &HostCpu, to: &HostCpu) -> BTreeMap<String, f64> {
    let spent: Vec<i64> = from.iter().zip(to).map(|(a, b)| b.saturating_sub(*a).max(0)).collect();
    let total = spent.iter().sum::<i64>().max(1) as f64;
    let share = |n: &i64| (*n as f64 / total * 1e4).round() / 1e4;
    KINDS.iter().zip(&spent).map(|(kind, n)| (kind.trim_end_matches("_ns").to_owned(), share(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_old_kernels_have_fewer_columns() {
        assert_eq!(cpu_line("cpu1 1 2 3 4"), Some(("cpu/1".to_owned(), [1, 2, 3, 4, 0, 0, 0, 0])));
        assert_eq!(cpu_line("cpu  1 2 3 4 5 6 7 8 9 10").unwrap().0, "cpu/all");
        assert_eq!(cpu_line("ctxt 12"), None);
        assert_eq!(cpu_line("cpu0 1 x"), None);
    }

    #[test]
    fn shares_sum_to_one() {
        let shares = shares(&[0; 8], &[10, 0, 30, 60, 0, 0, 0, 0]);
        assert_eq!(shares["usr"], 0.1);
        assert_eq!(shares["sys"], 0.3);
        assert_eq!(shares["idle"], 0.6);
    }
}
