//! Records to work on: the same bytes on every machine, about half of them redundant.

/// `count` records of `length` bytes each. Numbers and repeated words alternate, so that fast
/// compressors halve them; without that a compressor would be measured giving up, or doing nothing.
pub(crate) fn records(count: usize, length: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        // Xorshift64: any well-mixed numbers do, but the same ones everywhere.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: Vec<[u8; 16]> = (0..256)
        .map(|_| {
            let mut word = [0u8; 16];
            word[..8].copy_from_slice(&random().to_le_bytes());
            word[8..].copy_from_slice(&random().to_le_bytes());
            word
        })
        .collect();
    (0..count)
        .map(|_| {
            let mut record = Vec::with_capacity(length + 32);
            while record.len() < length {
                let number = random();
                record.extend_from_slice(&number.to_le_bytes());
                for half in [number as usize, (number >> 8) as usize] {
                    record.extend_from_slice(&words[half % words.len()]);
                }
            }
            record.truncate(length);
            record
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn records_are_the_same_every_time_and_compress_by_half() {
        let (a, b) = (super::records(2, 131_072), super::records(2, 131_072));
        assert!(a == b && a[0] != a[1]);
        let packed = lz4_flex::compress(&a[0]).len() as f64 / a[0].len() as f64;
        assert!((0.3..0.7).contains(&packed), "{packed}");
    }
}
