//! Loads that touch no file: memory that is held, and a CPU that computes.

use crate::count::Count;
use crate::data::Noise;
use crate::settings::Settings;
use std::hint::black_box;
use std::io;
use std::time::Duration;

const PAGE: usize = 4096;
/// How often memory that is held is touched again.
const EVERY: Duration = Duration::from_millis(200);
/// Additions of one counted operation.
const STEPS: u32 = 1 << 20;

/// Takes `size` bytes and keeps using them, so that the kernel takes memory from others.
pub fn hold(settings: &Settings) -> io::Result<()> {
    let mut memory = vec![0_u8; settings.size as usize];
    let mut clock = settings.clock();
    let count = Count::kept()?;
    while clock.another_pass() {
        for at in (0..memory.len()).step_by(PAGE) {
            memory[at] = memory[at].wrapping_add(1);
        }
        count.add(0);
        std::thread::sleep(EVERY);
    }
    black_box(&memory);
    Ok(())
}

/// Computes, and does nothing else.
pub fn compute(settings: &Settings) -> io::Result<()> {
    let mut noise = Noise::new(13);
    let mut clock = settings.clock();
    let count = Count::kept()?;
    while clock.another_pass() {
        clock.pace();
        let sum = (0..STEPS).fold(0_u64, |sum, _| sum.wrapping_add(noise.next()));
        black_box(sum);
        count.add(0);
    }
    Ok(())
}
