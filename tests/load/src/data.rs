//! Bytes to write: incompressible, like text, or zeros; the same for the same seed.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Random,
    /// Words of a small vocabulary: shrinks to about a quarter, and costs a compressor its searches.
    Text,
    Zero,
}

impl Kind {
    pub fn parse(text: &str) -> Result<Kind, String> {
        match text {
            "random" => Ok(Kind::Random),
            "text" => Ok(Kind::Text),
            "zero" => Ok(Kind::Zero),
            _ => Err(format!("no data {text}; there are random, text and zero")),
        }
    }
}

/// xorshift64*, by Vigna.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Fills a buffer.
pub fn fill(buffer: &mut [u8], kind: Kind, noise: &mut Noise) {
    match kind {
        Kind::Zero => buffer.fill(0),
        Kind::Random => {
            for piece in buffer.chunks_mut(8) {
                piece.copy_from_slice(&noise.next().to_le_bytes()[..piece.len()]);
            }
        }
        Kind::Text => {
            let mut at = 0;
            while at < buffer.len() {
                let bits = noise.next();
                // 4096 words of 3 to 10 letters, short ones more often.
                let mut word = Noise::new(bits & (bits >> 12) & 0xfff);
                let letters = 3 + (word.next() % 8) as usize;
                for _ in 0..letters.min(buffer.len() - at) {
                    buffer[at] = b'a' + (word.next() % 26) as u8;
                    at += 1;
                }
                if at < buffer.len() {
                    buffer[at] = b' ';
                    at += 1;
                }
            }
        }
    }
}
