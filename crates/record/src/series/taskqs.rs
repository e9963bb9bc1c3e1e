//! Task queues before OpenZFS 2.3, which has kstats of them: gauges of the busy ones from the table
//! /proc/spl/taskq, under the same sources and names.
//!
//! Layout (`taskq_seq_show_impl`, module/os/linux/spl/spl-proc.c, OpenZFS 2.1): a line of numbers for
//! each queue that has work, then indented lists of its tasks, each as `function(argument)`. The
//! kernel prints at most `spl_max_show_tasks` (512) of a list, with the lock of the queue held: so the
//! table is read rarely, and more rarely the longer it takes. Never read is /proc/spl/taskq-all, which
//! does the same for idle queues.

use crate::series_pen::SeriesPen;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::time::Duration;
use zwhy_capture::SeriesKind;
use zwhy_host::read_cut;
use zwhy_host::thread_cpu;
use zwhy_profile::Nanos;

/// Between two readings, and after one so many times what it cost.
const PAUSE: Duration = Duration::from_secs(5);
const REST: u32 = 1000;

#[derive(Debug, Default)]
pub(super) struct Taskqs {
    next: Nanos,
    /// Queues that had work at some time.
    seen: FxHashSet<String>,
}

/// One queue with work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Queue {
    name: String,
    threads_active: i64,
    threads_total: i64,
    /// Of these lists, those that are shown.
    tasks_pending: i64,
    tasks_priority: i64,
    tasks_delayed: i64,
}

impl Taskqs {
    pub(super) fn poll(&mut self, proc_root: &Path, t: Nanos, pen: &mut SeriesPen) {
        if t < self.next || proc_root.join("spl/kstat/taskq").exists() {
            return;
        }
        let before = thread_cpu();
        let Ok(text) = read_cut(&proc_root.join("spl/taskq")) else { return };
        let queues = parse(&text);
        let rest = PAUSE.max(thread_cpu().saturating_sub(before) * REST);
        self.next = Nanos(t.0.saturating_add(i64::try_from(rest.as_nanos()).unwrap_or(i64::MAX)));
        // A queue that is not in the table has no work.
        for name in self.seen.iter().filter(|name| !queues.iter().any(|q| q.name == **name)) {
            put(t, &Queue { name: name.clone(), ..Queue::default() }, false, pen);
        }
        for queue in queues {
            put(t, &queue, true, pen);
            self.seen.insert(queue.name);
        }
    }
}

fn put(t: Nanos, queue: &Queue, threads: bool, pen: &mut SeriesPen) {
    let source = format!("taskq/{}", queue.name);
    let mut gauge = |name, value| pen.put(t, &source, name, SeriesKind::Gauge, value);
    gauge("threads_active", queue.threads_active);
    gauge("tasks_pending", queue.tasks_pending);
    gauge("tasks_priority", queue.tasks_priority);
    gauge("tasks_delayed", queue.tasks_delayed);
    if threads {
        gauge("threads_total", queue.threads_total);
    }
}

/// Lines of another form are passed over.
fn parse(text: &str) -> Vec<Queue> {
    let (mut queues, mut list) = (Vec::<Queue>::new(), "");
    for line in text.lines() {
        let Some(tasks) = line.strip_prefix('\t') else {
            list = "";
            queues.extend(queue(line));
            continue;
        };
        let named = tasks.split_once(':').filter(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase()));
        let tasks = match named {
            Some((name, tasks)) => {
                list = name;
                tasks
            }
            None => tasks,
        };
        // Before the numbers of the first queue there is none to have tasks.
        let Some(queue) = queues.last_mut() else { continue };
        let count = match list {
            "pend" => &mut queue.tasks_pending,
            "prio" => &mut queue.tasks_priority,
            "delay" => &mut queue.tasks_delayed,
            _ => continue,
        };
        let ends =
            tasks.split_ascii_whitespace().filter(|word| word.ends_with(')') && *word != "(truncated)");
        *count += i64::try_from(ends.count()).unwrap_or(i64::MAX);
    }
    queues
}

/// `name/instance act nthr spwn maxt pri mina maxa cura flags`; the flags are hexadecimal.
fn queue(line: &str) -> Option<Queue> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let numbers = words.len().checked_sub(9).filter(|at| *at > 0)?;
    let number = |at: usize| words[numbers + at].parse::<i64>().ok();
    (1..8).try_for_each(|at| number(at).map(drop))?;
    let (name, instance) =
        words[..numbers].join(" ").rsplit_once('/').map(|(n, i)| (n.to_owned(), i.to_owned()))?;
    Some(Queue {
        name: format!("{name}.{instance}"),
        threads_active: number(0)?,
        threads_total: number(1)?,
        ..Queue::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TABLE: &str = "\
taskq                       act  nthr  spwn  maxt   pri  mina         maxa  cura      flags
spl_system_taskq/0            1     2     0    64   100    64   2147483647    65   80000005
\tactive: [312]00000000f9c1d1e3f(0000000012345678)
\tdelay: 000000007c61f5b5f(0000000000000000)
z_wr_iss/0                    2     2     0     2   110    50   2147483647    54   80000001
\tactive: [401]zio_execute [zfs](0xffff8881) [402]zio_execute [zfs](0xffff8882)
\tpend: zio_execute [zfs](0xffff8883) zio_execute [zfs](0xffff8884)
\t      zio_execute [zfs](0xffff8885)
\t(truncated)
\tprio: zio_execute [zfs](0xffff8886)
\twait: 77
";

    #[test]
    fn busy_queues_have_numbers_and_lists() {
        let queues = parse(TABLE);
        let of = |q: &Queue| {
            (q.threads_active, q.threads_total, q.tasks_pending, q.tasks_priority, q.tasks_delayed)
        };
        assert_eq!(
            queues.iter().map(|q| q.name.as_str()).collect::<Vec<_>>(),
            ["spl_system_taskq.0", "z_wr_iss.0"]
        );
        assert_eq!(queues.iter().map(of).collect::<Vec<_>>(), [(1, 2, 0, 0, 1), (2, 2, 3, 1, 0)]);
        assert!(parse("\tpend: a(b)\nodd\n1 2 3 4 5 6 7 8 9 10\n").is_empty());
    }

    #[test]
    fn a_queue_without_work_is_zero_and_kstats_come_first() {
        let root = tempfile::tempdir().unwrap();
        let spl = root.path().join("spl");
        fs::create_dir_all(&spl).unwrap();
        fs::write(spl.join("taskq"), TABLE).unwrap();
        let (mut taskqs, mut pen) = (Taskqs::default(), SeriesPen::default());
        let second = |n: i64| Nanos(n * 1_000_000_000);
        taskqs.poll(root.path(), second(0), &mut pen);
        fs::write(spl.join("taskq"), TABLE.lines().next().unwrap()).unwrap();
        taskqs.poll(root.path(), second(1), &mut pen);
        let pending = |pen: &SeriesPen| pen.reading("taskq/z_wr_iss.0", "tasks_pending");
        assert_eq!(pending(&pen), Some(3), "it is read rarely");
        taskqs.poll(root.path(), second(3600), &mut pen);
        assert_eq!((pending(&pen), pen.reading("taskq/z_wr_iss.0", "threads_total")), (Some(0), Some(2)));
        fs::create_dir_all(spl.join("kstat/taskq")).unwrap();
        fs::write(spl.join("taskq"), TABLE).unwrap();
        taskqs.poll(root.path(), second(7200), &mut pen);
        assert_eq!(pending(&pen), Some(0));
    }
}
