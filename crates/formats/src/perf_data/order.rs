//! Brings rows into time order: buffers of several CPUs are written one after the other.

use zwhy_profile::Samples;

/// Sorts all columns by time; rows of one time keep the order of the file.
pub fn by_time(samples: &mut Samples) {
    let t = &samples.t;
    if t.is_sorted() {
        return;
    }
    // The file is runs of ordered rows, which this sort merges; u32 because a table of four
    // billion rows does not fit any memory.
    let mut order: Vec<u32> = (0..t.len() as u32).collect();
    order.sort_by_key(|row| t[*row as usize]);
    permute(&mut samples.t, &order);
    permute(&mut samples.cpu, &order);
    permute(&mut samples.thread, &order);
    permute(&mut samples.stack, &order);
    permute(&mut samples.event, &order);
    permute(&mut samples.count, &order);
    permute(&mut samples.weight, &order);
}

fn permute<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|row| column[*row as usize]).collect();
}
