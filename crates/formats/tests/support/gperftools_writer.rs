//! Writes CPU profiles as gperftools does, in words of either width and byte order.
#![allow(dead_code)] // each test binary uses its part

/// How words are written.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub wide: bool,
    pub big: bool,
}

pub const MACHINES: [Machine; 4] = [
    Machine { wide: true, big: false },
    Machine { wide: true, big: true },
    Machine { wide: false, big: false },
    Machine { wide: false, big: true },
];

impl Machine {
    pub fn words(self, words: &[u64]) -> Vec<u8> {
        let bytes = words.iter().flat_map(|word| match (self.wide, self.big) {
            (true, false) => word.to_le_bytes().to_vec(),
            (true, true) => word.to_be_bytes().to_vec(),
            (false, false) => (*word as u32).to_le_bytes().to_vec(),
            (false, true) => (*word as u32).to_be_bytes().to_vec(),
        });
        bytes.collect()
    }

    /// Header with 10 ms between samples, records of count and addresses leaf first, trailer, text.
    pub fn profile(self, version: u64, records: &[(u64, &[u64])], text: &str) -> Vec<u8> {
        let mut words = vec![0, 3, version, 10_000, 0];
        for (count, addresses) in records {
            words.extend([*count, addresses.len() as u64]);
            words.extend_from_slice(addresses);
        }
        words.extend([0, 1, 0]);
        [self.words(&words), text.as_bytes().to_vec()].concat()
    }
}

/// A program, two libraries, the ground of the stack.
pub const MAPS: &str = "\
00400000-00500000 r-xp 00000000 08:01 42         /srv/bin/loader
00500000-00510000 rw-p 00100000 08:01 42         /srv/bin/loader
40000000-40080000 r-xp 00002000 08:01 77         /lib/libc.so.6
40080000-40090000 r-xp 00000000 08:01 78         /lib/libcrypt's one.so
50000000-50001000 rw-p 00000000 00:00 0
";

/// Stacks of that program; the last address is in no object.
pub const RECORDS: [(u64, &[u64]); 4] = [
    (5, &[0x4000_1234, 0x40_2001, 0x40_1001]),
    (2, &[0x40_3000, 0x40_3000, 0x40_1001]),
    (1, &[0x4008_0010, 0x40_2001, 0x40_1001]),
    (7, &[0x6000_0000]),
];

pub fn usual(machine: Machine) -> Vec<u8> {
    machine.profile(0, &RECORDS, MAPS)
}

pub fn java(machine: Machine) -> Vec<u8> {
    let text = " 0x0000001 org.nas.Main.run (Main.java:12)\n 0x0000002 memcpy (libc.so.6)\n 0x3 GC\n";
    machine.profile(1, &[(3, &[2, 1]), (1, &[3]), (4, &[9, 1])], text)
}
