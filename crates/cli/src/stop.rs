//! A flag that Ctrl-C and SIGTERM set, so that a recording ends cleanly and keeps all.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that SIGUSR1 sets: write what is kept now.
pub fn write_now() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, Arc::clone(&asked)).context("cannot watch for SIGUSR1")?;
    Ok(asked)
}

/// The flag. A second signal of the same kind ends the program at once.
pub fn flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let armed = Arc::clone(&stop);
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&armed))
            .and_then(|_| signal_hook::flag::register(signal, armed))
            .context("cannot watch for Ctrl-C")?;
    }
    Ok(stop)
}
