//! How much one client may ask: so many requests at once, and so many a second after that.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Clients that are remembered; those beyond share what one client has.
const MOST_CLIENTS: usize = 4096;
const OTHERS: &str = "others";

/// Requests that are left to each client.
#[derive(Debug)]
pub struct Limits {
    burst: f64,
    a_second: f64,
    left: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Limits {
    pub fn new(burst: u32, a_second: u32) -> Limits {
        Limits { burst: f64::from(burst), a_second: f64::from(a_second), left: Mutex::default() }
    }

    /// `true` where this client may ask once more, now.
    pub fn take(&self, client: &str, now: Instant) -> bool {
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = |(left, since): &(f64, Instant)| {
            (left + now.saturating_duration_since(*since).as_secs_f64() * self.a_second).min(self.burst)
        };
        let mut client = client;
        if all.len() >= MOST_CLIENTS && !all.contains_key(client) {
            all.retain(|_, of| refilled(of) < self.burst);
            if all.len() >= MOST_CLIENTS {
                client = OTHERS;
            }
        }
        let of = all.entry(client.to_owned()).or_insert((self.burst, now));
        let left = refilled(of);
        let may = left >= 1.0;
        *of = (if may { left - 1.0 } else { left }, now);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_and_then_so_many_a_second_for_each_client() {
        let (limits, start) = (Limits::new(3, 2), Instant::now());
        let taken = |client: &str, ms: u64, times: usize| {
            let at = start + Duration::from_millis(ms);
            (0..times).filter(|_| limits.take(client, at)).count()
        };
        assert_eq!(taken("a", 0, 10), 3);
        assert_eq!(taken("b", 0, 10), 3);
        assert_eq!(taken("a", 400, 10), 0);
        assert_eq!(taken("a", 500, 10), 1);
        assert_eq!(taken("a", 60_000, 10), 3);
        let many: usize = (0..2 * MOST_CLIENTS).map(|n| taken(&format!("client {n}"), 60_000, 1)).sum();
        assert!(limits.left.lock().unwrap().len() <= MOST_CLIENTS + 1);
        assert!(many < MOST_CLIENTS + 3, "{many} were let through");
        assert_eq!(taken("b", 60_000, 1), 0, "forgotten, and one of the others");
        assert_eq!(taken("new", 120_000, 10), 3, "those that are quiet give way");
    }
}
