//! One sample record: its fixed fields, its call chain as raw bytes, its user address.
//!
//! Invariant: a record whose inner lengths do not add up to its size is no sample (`None`), which
//! is also how damage is noticed.

use super::attr::{Attr, Schema, has, read};
use super::bytes::View;

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
    pub cpu: i32,
    pub period: u64,
    /// Addresses and context marks, leaf first, 8 bytes each in file order.
    pub chain: View<'a>,
    /// Where user code was, from the saved registers; only with a copy of the user stack.
    pub user_ip: Option<u64>,
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
            mode: misc & super::record::MISC_CPUMODE,
            ip: u64_at(f.ip)?,
            pid: if f.tid == 0 { -1 } else { view.i32(f.tid)? },
            tid: if f.tid == 0 { -1 } else { view.i32(f.tid + 4)? },
            time: u64_at(f.time)?,
            cpu: if f.cpu == 0 { -1 } else { view.i32(f.cpu)? },
            period: u64_at(f.period)?,
            chain: view.part(f.end, 0)?,
            user_ip: None,
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
        if attr.sample_type & has::REGS_USER != 0 {
            sample.user_ip = user_ip(attr, &view, at, ip_register)?;
        }
        Some(sample)
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

/// The outer `None` is damage, the inner one a thread without user registers.
fn user_ip(attr: &Attr, view: &View<'_>, mut at: usize, ip_register: u32) -> Option<Option<u64>> {
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
