//! Threads that play the application, and what they used, which nobody can ask for once they have ended.

use crate::failure::Failure;
use crate::latency::Latencies;
use crate::result::ThreadGroup;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use zwhy_host::thread_cpu;

/// Called with the bytes done and their total, a few times a second.
pub type Report<'a> = &'a mut dyn FnMut(u64, u64);

const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Runs `work` in `count` threads called `name`, each with its number, and reports what they add up in bytes, of `total`.
///
/// # Errors
/// The first that a thread ends with.
pub fn run(
    name: &str,
    count: usize,
    total: u64,
    report: Report<'_>,
    work: impl Fn(usize, &AtomicU64, &mut Latencies) -> Result<(), Failure> + Sync,
) -> Result<(ThreadGroup, Latencies), Failure> {
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let (finished, wait) = channel();
        for number in 0..count {
            let (finished, done, work) = (finished.clone(), &done, &work);
            std::thread::Builder::new()
                .name(name.into())
                .spawn_scoped(scope, move || {
                    let mut calls = Latencies::default();
                    let worked = work(number, done, &mut calls);
                    // Nobody listens any more after another thread failed.
                    let _ = finished.send(worked.map(|()| (thread_cpu(), calls)));
                })
                .map_err(|e| Failure::other("start a thread", e))?;
        }
        drop(finished);
        let mut left = count;
        let mut group = ThreadGroup { comm: name.into(), threads: count as u32, cpu_s: 0.0 };
        let mut told = 0;
        let mut latencies = Latencies::default();
        while left > 0 {
            match wait.recv_timeout(REPORT_EVERY) {
                Ok(result) => {
                    let (cpu, calls) = result?;
                    group.cpu_s += cpu.as_secs_f64();
                    latencies.add(&calls);
                    left -= 1;
                }
                // Nothing is said where nothing moves: a hang has to be seen as one.
                Err(RecvTimeoutError::Timeout) => {
                    let now = done.load(Ordering::Relaxed);
                    if now != told {
                        report(now, total);
                        told = now;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::other("finish the I/O", "a thread ended without a result"));
                }
            }
        }
        Ok((group, latencies))
    })
}
