//! What a load does, from `key=value` words; an unknown key is an error, not a default.

use crate::data::Kind;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Settings {
    /// Bytes of one read or write.
    pub block: usize,
    /// Bytes of the file, or of each file.
    pub size: u64,
    /// Repeat for so long; zero is one pass.
    pub seconds: u64,
    pub data: Kind,
    /// Blocks in random order.
    pub random: bool,
    /// With O_DIRECT.
    pub direct: bool,
    /// Begin each access so many bytes after a multiple of the stride.
    pub shift: u64,
    /// Bytes from one access to the next, the block when zero: a larger one leaves out what is between.
    stride: u64,
    /// So many blocks one after the other at each access.
    pub burst: u64,
    /// fdatasync after each write.
    pub sync: bool,
    /// A search for the first hole after each write.
    pub holes: bool,
    /// Rest after each access: a load that leaves nothing to others makes a slow machine unusable.
    pub pause: Duration,
    /// How many files.
    pub count: u32,
    /// Of its random order and data: loads with different ones do not follow each other.
    pub seed: u64,
    /// So many operations a second at most; zero is as fast as it goes.
    pub rate: u64,
    /// Nice value that the load gives itself.
    pub nice: i32,
    /// What is done with each file: create, copy, read, xattr, probe.
    pub operation: String,
}

impl Settings {
    pub fn parse(words: &[String]) -> Result<Settings, String> {
        let mut settings = Settings {
            block: 128 << 10,
            size: 32 << 20,
            seconds: 0,
            data: Kind::Random,
            random: false,
            direct: false,
            shift: 0,
            stride: 0,
            burst: 1,
            sync: false,
            holes: false,
            pause: Duration::ZERO,
            count: 100,
            seed: 7,
            rate: 0,
            nice: 0,
            operation: "create".to_owned(),
        };
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("{word} is not KEY=VALUE"))?;
            match key {
                "block" => settings.block = usize::try_from(bytes(value)?).map_err(|e| e.to_string())?,
                "size" => settings.size = bytes(value)?,
                "seconds" => settings.seconds = bytes(value)?,
                "data" => settings.data = Kind::parse(value)?,
                "random" => settings.random = value == "1",
                "direct" => settings.direct = value == "1",
                "shift" => settings.shift = bytes(value)?,
                "stride" => settings.stride = bytes(value)?,
                "burst" => settings.burst = bytes(value)?,
                "sync" => settings.sync = value == "1",
                "holes" => settings.holes = value == "1",
                "pause" => settings.pause = Duration::from_millis(bytes(value)?),
                "count" => settings.count = u32::try_from(bytes(value)?).map_err(|e| e.to_string())?,
                "seed" => settings.seed = bytes(value)?,
                "rate" => settings.rate = bytes(value)?,
                "nice" => settings.nice = value.parse().map_err(|e| format!("nice={value}: {e}"))?,
                "do" => settings.operation = value.to_owned(),
                _ => return Err(format!("no setting {key}")),
            }
        }
        if settings.block == 0 || settings.size < settings.block as u64 {
            return Err(format!("{} bytes do not hold one block of {}", settings.size, settings.block));
        }
        Ok(settings)
    }

    pub fn stride(&self) -> u64 {
        if self.stride == 0 { self.block as u64 } else { self.stride }
    }

    pub fn clock(&self) -> Clock {
        let now = Instant::now();
        Clock {
            end: now + Duration::from_secs(self.seconds),
            passes: 0,
            rate: self.rate,
            began: now,
            done: 0,
        }
    }
}

/// Says when to end, and holds the load back to its rate.
pub struct Clock {
    end: Instant,
    passes: u32,
    rate: u64,
    began: Instant,
    done: u64,
}

impl Clock {
    /// One pass at least.
    pub fn another_pass(&mut self) -> bool {
        self.passes += 1;
        self.passes == 1 || !self.over()
    }

    /// In the middle of a later pass, too.
    pub fn over(&self) -> bool {
        self.passes > 1 && Instant::now() >= self.end
    }

    /// Before each operation: sleeps until it is due. One that is late is not made up for, so that a slow
    /// moment is not followed by a fast one.
    pub fn pace(&mut self) {
        if self.rate == 0 {
            return;
        }
        let due = self.began + Duration::from_secs_f64(self.done as f64 / self.rate as f64);
        let now = Instant::now();
        match due.checked_duration_since(now) {
            Some(early) => std::thread::sleep(early),
            None => {
                self.began = now;
                self.done = 0;
            }
        }
        self.done += 1;
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().map(|n| n << shift).map_err(|_| format!("{text} is not a size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_wrong_words_are_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let settings = Settings::parse(&words("block=4K size=1G do=read")).unwrap();
        assert_eq!((settings.block, settings.size, settings.operation.as_str()), (4096, 1 << 30, "read"));
        assert_eq!(settings.stride(), 4096);
        let mut clock = Settings::parse(&words("rate=20")).unwrap().clock();
        let began = Instant::now();
        for _ in 0..5 {
            clock.pace();
        }
        assert!(began.elapsed() >= Duration::from_millis(200), "four waits of 50 ms");
        assert!(Settings::parse(&words("blok=4K")).is_err());
        assert!(Settings::parse(&words("block=4X")).is_err());
        assert!(Settings::parse(&words("block=1M size=4K")).is_err());
    }
}
