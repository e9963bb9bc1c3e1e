//! Places where a kill may strike: between two changes of the host. Tests strike at each of them.

use crate::failure::Failure;

/// Comes before and after every change.
#[cfg(not(test))]
#[allow(clippy::unnecessary_wraps, reason = "in tests it fails")]
pub fn point() -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
thread_local! {
    /// Points left until the kill; `None` for no kill.
    static LEFT: std::cell::Cell<Option<u32>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
pub fn point() -> Result<(), Failure> {
    match LEFT.get() {
        None => Ok(()),
        Some(0) => Err(Failure::other("go on", "killed")),
        Some(left) => {
            LEFT.set(Some(left - 1));
            Ok(())
        }
    }
}

/// Strikes after so many points, in this thread.
#[cfg(test)]
pub fn strike_after(points: Option<u32>) {
    LEFT.set(points);
}
