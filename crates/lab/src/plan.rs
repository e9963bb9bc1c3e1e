//! The order of the runs: all variants once per repetition, shuffled within it by a seed.
//!
//! Shuffling keeps a drift of the host (heat, neighbours, a filling disk) from looking like an
//! effect of the axis; the seed in the result lets anyone repeat the same order.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index into the variants.
    pub variant: usize,
    /// Counted from 1.
    pub repetition: u32,
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): enough for shuffling and for data that does not compress.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Fisher–Yates; the bias of the remainder is below 2^-50 for as many as are shuffled here.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, (self.next() % (i as u64 + 1)) as usize);
        }
    }
}

pub fn order(variants: usize, repetitions: u32, seed: u64) -> Vec<PlannedRun> {
    let mut random = SplitMix(seed);
    let mut runs = Vec::with_capacity(variants * repetitions as usize);
    for repetition in 1..=repetitions {
        let mut indices: Vec<usize> = (0..variants).collect();
        random.shuffle(&mut indices);
        runs.extend(indices.into_iter().map(|variant| PlannedRun { variant, repetition }));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_runs_once_in_each_repetition() {
        let runs = order(5, 4, 7);
        for chunk in runs.chunks(5) {
            let mut seen: Vec<usize> = chunk.iter().map(|r| r.variant).collect();
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3, 4]);
            assert!(chunk.iter().all(|r| r.repetition == chunk[0].repetition));
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(order(8, 2, 1), order(8, 2, 1));
        assert_ne!(order(8, 2, 1), order(8, 2, 2));
    }
}
