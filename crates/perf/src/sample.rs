//! One sample record: its fixed fields, its call chain as raw bytes, what comes after it.
//!
//! Invariant: a record whose inner lengths do not add up to its size is no sample (`None`), which
//! is also how damage is noticed.

use crate::attr::{Attr, Schema, has, read};
use crate::bytes::View;
use crate::record;

#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Index of its event in the schema.
    pub event: u32,
    /// `misc & 7` of the record: kernel, user, guest …
    pub mode: u16,
    pub ip: u64,
    pub pid: i32,
    pub tid: i32,
    pub time: u64,
    /// Identifier of its event; 0 where there is only one.
    pub id: u64,
    pub cpu: i32,
    pub period: u64,
    /// Addresses and context marks, leaf first, 8 bytes each in file order.
    pub chain: View<'a>,
    /// Where user code was, from the saved registers; only with a copy of the user stack.
    pub user_ip: Option<u64>,
    /// The fields after the chain.
    rest: View<'a>,
}

/// Register number of the instruction pointer in `sample_regs_user`, by architecture
/// (arch/*/include/uapi/asm/perf_regs.h).
pub fn ip_register(arch: &str) -> u32 {
    match arch {
        "aarch64" | "arm64" => 32,
        "ppc64" | "ppc64le" => 32,
        "s390x" => 33,
        "riscv64" => 0,
        a if a.starts_with("arm") => 15,
        _ => 8,
    }
}

impl<'a> Sample<'a> {
    /// Reads the sample in `view` (the whole record); `None` when it contradicts its event.
    #[inline]
    pub fn parse(schema: &Schema, view: View<'a>, misc: u16, ip_register: u32) -> Option<Sample<'a>> {
        let (event, attr) = schema.of_sample(&view)?;
        let f = &attr.fields;
        if view.len() < f.end {
            return None;
        }
        let u64_at = |at: usize| if at == 0 { Some(0) } else { view.u64(at) };
        let mut sample = Sample {
            event,
            mode: misc & record::MISC_CPUMODE,
            ip: u64_at(f.ip)?,
            pid: if f.tid == 0 { -1 } else { view.i32(f.tid)? },
            tid: if f.tid == 0 { -1 } else { view.i32(f.tid + 4)? },
            time: u64_at(f.time)?,
            cpu: if f.cpu == 0 { -1 } else { view.i32(f.cpu)? },
            period: u64_at(f.period)?,
            chain: view.part(f.end, 0)?,
            user_ip: None,
            id: u64_at(f.id)?,
            rest: view.part(f.end, 0)?,
        };
        let mut at = f.end;
        if attr.sample_type & has::READ != 0 {
            at = after_read(&view, at, attr.read_format)?;
        }
        if attr.sample_type & has::CALLCHAIN != 0 {
            let bytes = usize::try_from(view.u64(at)?).ok()?.checked_mul(8)?;
            sample.chain = view.part(at + 8, bytes)?;
            at += 8 + bytes;
        }
        // What is after the chain, but for the fields of no interest that end the record.
        const LATER: u64 = !((1 << 10) - 1) & !has::IDENTIFIER;
        if attr.sample_type & LATER == 0 {
            return (at == view.len()).then_some(sample);
        }
        sample.rest = view.from(at);
        if attr.sample_type & has::REGS_USER != 0 {
            sample.user_ip = user_ip(attr, &sample.rest, ip_register)?;
        }
        Some(sample)
    }

    /// The words of its chain, leaf first, with the kernel's context marks.
    pub fn words(&self) -> impl Iterator<Item = u64> + use<'a> {
        let chain = self.chain;
        (0..chain.len() / 8).filter_map(move |i| chain.u64(i * 8))
    }

    /// What a tracepoint wrote.
    pub fn raw(&self, attr: &Attr) -> Option<View<'a>> {
        if attr.sample_type & has::RAW == 0 {
            return None;
        }
        self.rest.part(4, self.rest.u32(0)? as usize)
    }

    /// The copy of the user stack, as far as it is real; `None` where there is none.
    pub fn user_stack(&self, attr: &Attr) -> Option<View<'a>> {
        if attr.sample_type & has::STACK_USER == 0 {
            return None;
        }
        let mut at = before_registers(attr, &self.rest)?;
        if attr.sample_type & has::REGS_USER != 0 {
            let registers = if self.rest.u64(at)? == 0 { 0 } else { attr.regs_user.count_ones() as usize };
            at = at.checked_add(8 + 8 * registers)?;
        }
        let size = usize::try_from(self.rest.u64(at)?).ok().filter(|size| *size > 0)?;
        let real = self.rest.u64(at.checked_add(8)?.checked_add(size)?)?;
        self.rest.part(at + 8, usize::try_from(real).ok()?.min(size))
    }
}

fn after_read(view: &View<'_>, at: usize, format: u64) -> Option<usize> {
    let bit = |b: u64| usize::from(format & b != 0);
    let times = bit(read::ENABLED) + bit(read::RUNNING);
    let per_value = 1 + bit(read::ID) + bit(read::LOST);
    let words = if format & read::GROUP != 0 {
        let values = usize::try_from(view.u64(at)?).ok()?;
        values.checked_mul(per_value)?.checked_add(1 + times)?
    } else {
        per_value + times
    };
    let end = at.checked_add(words.checked_mul(8)?)?;
    (end <= view.len()).then_some(end)
}

/// Where the user registers begin among the fields after the chain.
fn before_registers(attr: &Attr, view: &View<'_>) -> Option<usize> {
    let mut at = 0usize;
    if attr.sample_type & has::RAW != 0 {
        at = at.checked_add(4)?.checked_add(view.u32(at)? as usize)?;
    }
    if attr.sample_type & has::BRANCH_STACK != 0 {
        const HW_INDEX: u64 = 1 << 17;
        const COUNTERS: u64 = 1 << 19;
        let entries = usize::try_from(view.u64(at)?).ok()?;
        at += 8 + if attr.branch_type & HW_INDEX != 0 { 8 } else { 0 };
        let entry = if attr.branch_type & COUNTERS != 0 { 32 } else { 24 };
        at = at.checked_add(entries.checked_mul(entry)?)?;
    }
    Some(at)
}

/// The outer `None` is damage, the inner one a thread without user registers.
fn user_ip(attr: &Attr, view: &View<'_>, ip_register: u32) -> Option<Option<u64>> {
    let at = before_registers(attr, view)?;
    let abi = view.u64(at)?;
    if abi == 0 {
        return Some(None);
    }
    let mask = attr.regs_user;
    if mask & (1 << ip_register) == 0 {
        return Some(None);
    }
    let before = (mask & ((1 << ip_register) - 1)).count_ones() as usize;
    view.u64(at.checked_add(8 + 8 * before)?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Order;

    fn record(words: &[u64]) -> Vec<u8> {
        let mut bytes = record::SAMPLE.to_le_bytes().to_vec();
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(((words.len() + 1) as u16 * 8).to_le_bytes());
        words.iter().for_each(|w| bytes.extend(w.to_le_bytes()));
        bytes
    }

    fn parse<'a>(schema: &Schema, bytes: &'a [u8]) -> Option<Sample<'a>> {
        Sample::parse(schema, View::new(bytes, Order::Little), 1, 8)
    }

    #[test]
    fn a_sample_is_read_by_its_event_and_a_cut_one_is_not() {
        let bits = has::IDENTIFIER | has::IP | has::TID | has::TIME | has::CPU | has::PERIOD | has::CALLCHAIN;
        let schema = Schema::of_one(Attr::of_sample_type(bits));
        let bytes = record(&[7, 0x1000, 12 << 32 | 11, 99, 3, 1000, 2, 0x10, 0x20]);
        let sample = parse(&schema, &bytes).unwrap();
        assert_eq!((sample.id, sample.pid, sample.tid, sample.period), (7, 11, 12, 1000));
        assert_eq!((sample.time, sample.cpu, sample.mode), (99, 3, 1));
        assert_eq!(sample.words().collect::<Vec<_>>(), [0x10, 0x20]);
        assert!((0..bytes.len()).all(|cut| parse(&schema, &bytes[..cut]).is_none()));
        for entries in [3, u64::MAX, u64::MAX / 8] {
            let lying = record(&[7, 0x1000, 12 << 32 | 11, 99, 3, 1000, entries, 0x10, 0x20]);
            assert!(parse(&schema, &lying).is_none());
        }
    }

    #[test]
    fn what_follows_the_chain_is_read_as_far_as_it_is_real() {
        let attr = Attr::of_sample_type(has::TID | has::CALLCHAIN | has::STACK_USER);
        let schema = Schema::of_one(attr.clone());
        let stack = |words: &[u64]| {
            let bytes = record(words);
            let sample = parse(&schema, &bytes)?;
            sample.user_stack(&attr)?.u64(0)
        };
        assert_eq!(stack(&[1, 1, 0xaa, 8, 0xcc, 8]), Some(0xcc));
        assert_eq!(stack(&[1, 1, 0xaa, 8, 0, 0]), None, "none of it is real");
        assert_eq!(stack(&[1, 1, 0xaa, 0]), None);
        let attr = Attr::of_sample_type(has::TID | has::CALLCHAIN | has::RAW);
        let schema = Schema::of_one(attr.clone());
        let bytes = record(&[1, 0, 0x55_0000_0004, 0]);
        assert_eq!(parse(&schema, &bytes).unwrap().raw(&attr).unwrap().u32(0), Some(0x55));
        let bytes = record(&[1, 0, 0x55_0000_0040, 0]);
        assert!(parse(&schema, &bytes).unwrap().raw(&attr).is_none());
    }
}
