//! Writes small perf.data files for tests: both byte orders, file and pipe, whole or not.
#![allow(dead_code)]

pub const SAMPLE: u32 = 9;
pub const IP: u64 = 1;
pub const TID: u64 = 1 << 1;
pub const TIME: u64 = 1 << 2;
pub const CALLCHAIN: u64 = 1 << 5;
pub const ID: u64 = 1 << 6;
pub const CPU: u64 = 1 << 7;
pub const PERIOD: u64 = 1 << 8;
pub const REGS_USER: u64 = 1 << 12;
pub const STACK_USER: u64 = 1 << 13;
pub const USUAL: u64 = IP | TID | TIME | CALLCHAIN | ID | CPU | PERIOD;

pub const KERNEL_MARK: u64 = -128i64 as u64;
pub const USER_MARK: u64 = -512i64 as u64;
/// Where the writer's kernel is mapped.
pub const TEXT: u64 = 0xffff_ffff_8100_0000;

#[derive(Clone, Copy)]
pub struct Attr {
    pub kind: u32,
    pub config: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub regs_user: u64,
    pub id: u64,
}

impl Attr {
    pub fn cycles(id: u64) -> Attr {
        Attr { kind: 0, config: 0, id, ..Attr::cpu_clock() }
    }

    pub fn cpu_clock() -> Attr {
        Attr { kind: 1, config: 0, sample_type: USUAL, read_format: 0, regs_user: 0, id: 100 }
    }
}

/// A file in the making; `records` are whole records in file order.
#[derive(Clone)]
pub struct Writer {
    pub big: bool,
    pub attrs: Vec<Attr>,
    pub records: Vec<Vec<u8>>,
    pub samples: usize,
    /// Of the samples to come.
    pub period: u64,
    pub features: Vec<(u32, Vec<u8>)>,
}

/// A file and where its records end.
pub struct Written {
    pub bytes: Vec<u8>,
    /// Start of the data, then the end of each record.
    pub boundaries: Vec<usize>,
    /// `true` for each record that is a sample.
    pub is_sample: Vec<bool>,
}

impl Writer {
    pub fn new(big: bool) -> Writer {
        Writer {
            big,
            attrs: vec![Attr::cpu_clock()],
            records: Vec::new(),
            samples: 0,
            period: 1_000_000,
            features: Vec::new(),
        }
    }

    pub fn u16(&self, v: u16) -> [u8; 2] {
        if self.big { v.to_be_bytes() } else { v.to_le_bytes() }
    }

    pub fn u32(&self, v: u32) -> [u8; 4] {
        if self.big { v.to_be_bytes() } else { v.to_le_bytes() }
    }

    pub fn u64(&self, v: u64) -> [u8; 8] {
        if self.big { v.to_be_bytes() } else { v.to_le_bytes() }
    }

    pub fn words(&self, words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|w| self.u64(*w)).collect()
    }

    pub fn pair(&self, a: i32, b: i32) -> Vec<u8> {
        [self.u32(a.cast_unsigned()), self.u32(b.cast_unsigned())].concat()
    }

    pub fn record(&self, kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(body.len() + 8).expect("a record has at most 64 KiB");
        [&self.u32(kind)[..], &self.u16(misc), &self.u16(size), body].concat()
    }

    pub fn raw(&mut self, kind: u32, misc: u16, body: &[u8]) -> &mut Writer {
        let record = self.record(kind, misc, body);
        self.records.push(record);
        self
    }

    /// A record of the kernel that is no sample, with its trailer.
    pub fn other(&mut self, kind: u32, misc: u16, time: u64, mut body: Vec<u8>) -> &mut Writer {
        body.resize(body.len().next_multiple_of(8), 0);
        body.extend(self.pair(1, 1));
        body.extend(self.u64(time));
        body.extend(self.u64(self.attrs[0].id));
        body.extend(self.pair(0, 0)); // cpu
        self.raw(kind, misc, &body)
    }

    pub fn sample(&mut self, pid: i32, tid: i32, time: u64, cpu: i32, chain: &[u64]) -> &mut Writer {
        self.sample_of(0, pid, tid, time, cpu, chain, &[])
    }

    #[allow(clippy::too_many_arguments)]
    pub fn sample_of(
        &mut self,
        attr: usize,
        pid: i32,
        tid: i32,
        time: u64,
        cpu: i32,
        chain: &[u64],
        tail: &[u8],
    ) -> &mut Writer {
        let id = self.attrs[attr].id;
        let ip = chain.iter().copied().find(|a| *a < -4095i64 as u64).unwrap_or(0x1234);
        let misc = if chain.first() == Some(&KERNEL_MARK) { 1 } else { 2 };
        let mut body = self.u64(ip).to_vec();
        body.extend(self.pair(pid, tid));
        body.extend(self.words(&[time, id]));
        body.extend(self.pair(cpu, 0));
        body.extend(self.words(&[self.period, chain.len() as u64]));
        body.extend(self.words(chain));
        body.extend(tail);
        self.samples += 1;
        self.raw(SAMPLE, misc, &body)
    }

    pub fn comm(&mut self, pid: i32, tid: i32, time: u64, name: &[u8], exec: bool) -> &mut Writer {
        let mut body = self.pair(pid, tid);
        body.extend(name);
        body.push(0);
        self.other(3, if exec { 1 << 13 } else { 0 }, time, body)
    }

    pub fn fork(&mut self, pid: i32, parent: i32, tid: i32, parent_tid: i32, time: u64) -> &mut Writer {
        let mut body = self.pair(pid, parent);
        body.extend(self.pair(tid, parent_tid));
        body.extend(self.u64(time));
        self.other(7, 0, time, body)
    }

    pub fn mmap(&mut self, misc: u16, pid: i32, time: u64, map: (u64, u64, u64), path: &[u8]) -> &mut Writer {
        let mut body = self.pair(pid, pid);
        body.extend(self.words(&[map.0, map.1, map.2]));
        body.extend(path);
        body.push(0);
        self.other(1, misc, time, body)
    }

    pub fn mmap2(
        &mut self,
        pid: i32,
        time: u64,
        map: (u64, u64, u64),
        path: &[u8],
        build_id: Option<&[u8]>,
    ) -> &mut Writer {
        let mut body = self.pair(pid, pid);
        body.extend(self.words(&[map.0, map.1, map.2]));
        match build_id {
            Some(id) => {
                body.extend([id.len() as u8, 0, 0, 0]);
                body.extend(id);
                body.resize(56, 0);
            }
            None => body.extend(self.words(&[0, 77, 0])),
        }
        body.extend(self.pair(5, 2));
        body.extend(path);
        body.push(0);
        self.other(10, if build_id.is_some() { 1 << 14 } else { 0 }, time, body)
    }

    pub fn kernel(&mut self) -> &mut Writer {
        self.mmap(1, -1, 0, (TEXT, 0x10_0000, TEXT), b"[kernel.kallsyms]_text")
    }

    pub fn feature_string(&mut self, feature: u32, text: &str) -> &mut Writer {
        let mut body = self.u32(text.len() as u32 + 1).to_vec();
        body.extend(text.as_bytes());
        body.push(0);
        self.features.push((feature, body));
        self
    }

    fn attr_bytes(&self, attr: &Attr) -> Vec<u8> {
        // freq, mmap, comm, task, sample_id_all: bits of a C bit field.
        let flags: u64 = 1 << 10 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18;
        let flags = flags.to_le_bytes();
        let flags = if self.big { flags.map(u8::reverse_bits) } else { flags };
        let mut out = [self.u32(attr.kind), self.u32(128)].concat();
        out.extend(self.words(&[attr.config, 1000, attr.sample_type, attr.read_format]));
        out.extend(flags);
        out.extend(self.words(&[0, 0, 0, 0, attr.regs_user]));
        out.resize(128, 0);
        out
    }

    fn data(&self, start: usize) -> (Vec<u8>, Vec<usize>) {
        let mut boundaries = vec![start];
        let mut data = Vec::new();
        for record in &self.records {
            data.extend(record);
            boundaries.push(start + data.len());
        }
        (data, boundaries)
    }

    fn is_sample(&self) -> Vec<bool> {
        self.records.iter().map(|r| r[0..4] == self.u32(SAMPLE)).collect()
    }

    pub fn file(&self) -> Written {
        self.file_with(true)
    }

    /// As a recorder leaves it that is killed: no size of the data, no features.
    pub fn killed(&self) -> Written {
        self.file_with(false)
    }

    fn file_with(&self, finished: bool) -> Written {
        let ids_at = 104;
        let attrs_at = ids_at + 8 * self.attrs.len();
        let data_at = attrs_at + 144 * self.attrs.len();
        let (data, boundaries) = self.data(data_at);
        let mut out = if self.big { b"2ELIFREP".to_vec() } else { b"PERFILE2".to_vec() };
        let size = if finished { data.len() as u64 } else { 0 };
        let attrs_size = 144 * self.attrs.len() as u64;
        out.extend(self.words(&[104, 144, attrs_at as u64, attrs_size, data_at as u64, size, 0, 0]));
        let bits: u64 = self.features.iter().map(|(bit, _)| 1u64 << bit).sum();
        out.extend(self.words(&[bits, 0, 0, 0]));
        for attr in &self.attrs {
            out.extend(self.u64(attr.id));
        }
        for (i, attr) in self.attrs.iter().enumerate() {
            out.extend(self.attr_bytes(attr));
            out.extend(self.words(&[(ids_at + 8 * i) as u64, 8]));
        }
        out.extend(data);
        if finished {
            let mut at = out.len() + 16 * self.features.len();
            for (_, body) in &self.features {
                out.extend(self.words(&[at as u64, body.len() as u64]));
                at += body.len();
            }
            self.features.iter().for_each(|(_, body)| out.extend(body));
        }
        Written { bytes: out, boundaries, is_sample: self.is_sample() }
    }

    pub fn pipe(&self) -> Written {
        let mut whole = self.clone();
        let mut head = Vec::new();
        for attr in &self.attrs {
            let mut body = self.attr_bytes(attr);
            body.extend(self.u64(attr.id));
            head.push(self.record(64, 0, &body));
        }
        for (feature, body) in &self.features {
            let body = [&self.u64(u64::from(*feature))[..], body].concat();
            head.push(self.record(80, 0, &body));
        }
        whole.records.splice(0..0, head);
        let mut out = if self.big { b"2ELIFREP".to_vec() } else { b"PERFILE2".to_vec() };
        out.extend(self.u64(16));
        let (data, boundaries) = whole.data(16);
        out.extend(data);
        Written { bytes: out, boundaries, is_sample: whole.is_sample() }
    }

    /// The same records as a zstd stream in records of up to `payload` bytes, flushed now and then
    /// as perf does.
    pub fn compressed(&self, payload: usize, second_form: bool) -> Writer {
        use std::io::Write;
        let mut out = Writer { records: Vec::new(), ..self.clone() };
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("zstd in memory");
        let mut written = 0;
        for records in self.records.chunks(20) {
            encoder.write_all(&records.concat()).and_then(|()| encoder.flush()).expect("zstd in memory");
            for part in encoder.get_ref()[written..].chunks(payload) {
                out.add_compressed(part, second_form);
            }
            written = encoder.get_ref().len();
        }
        out
    }

    pub fn add_compressed(&mut self, part: &[u8], second_form: bool) {
        if !second_form {
            let record = self.record(81, 0, part);
            self.records.push(record);
            return;
        }
        let padded = (16 + part.len()).next_multiple_of(8);
        let size = (padded % 65536) as u16;
        let mut record = [&self.u32(83)[..], &self.u16(0), &self.u16(size)].concat();
        record.extend(self.u64(part.len() as u64));
        record.extend(part);
        // perf forgets the padding when the size runs over.
        if padded < 65536 {
            record.resize(padded, 0);
        }
        self.records.push(record);
    }
}

/// A small recording: three threads, two programs, kernel and user frames, `n` samples.
pub fn usual(big: bool, n: u64) -> Writer {
    let mut w = Writer::new(big);
    w.feature_string(3, "db7").feature_string(4, "6.1.0-test").feature_string(6, "x86_64");
    w.kernel();
    w.comm(10, 10, 0, b"app", false);
    w.mmap2(10, 0, (0x40_0000, 0x1000, 0), b"/nowhere/app", None);
    w.comm(20, 20, 0, b"z_rd_int", false);
    for i in 0..n {
        let t = 1_000_000 + i * 1_000;
        match i % 3 {
            0 => w.sample(10, 10, t, 0, &[KERNEL_MARK, TEXT + 16 * i, TEXT + 32, USER_MARK, 0x40_0010 + i]),
            1 => w.sample(20, 20, t, 1, &[KERNEL_MARK, TEXT + 64, TEXT + 32]),
            _ => w.sample(0, 0, t, 1, &[KERNEL_MARK, TEXT + 128]),
        };
    }
    w
}
