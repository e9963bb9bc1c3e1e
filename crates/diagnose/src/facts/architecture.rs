//! The instruction set where nobody names it: kernels have functions that only one of them has.

use super::FactBase;
use crate::name::bare;

/// Entries from user space and interrupts, and what Linux has for one instruction set alone. The `native_` of a
/// spin lock is x86's way to call it with or without a hypervisor (arch/x86/include/asm/qspinlock.h).
const X86_64: [&str; 9] = [
    "entry_SYSCALL_64",
    "do_syscall_64",
    "do_syscall_x64",
    "__x64_sys_",
    "asm_sysvec_",
    "native_queued_spin_lock_slowpath",
    "apic_timer_interrupt",
    "smp_apic_timer_interrupt",
    "native_safe_halt",
];
const AARCH64: [&str; 6] = ["el0_svc", "el0t_64_", "el1h_64_", "el1_irq", "__arm64_sys_", "gic_handle_irq"];

impl FactBase<'_> {
    /// The instruction set by the name that Rust has for it, as the host says or as functions tell.
    pub fn architecture(&self) -> Option<&'static str> {
        self.evidence.host.architecture().or_else(|| {
            let rows = self.evidence.flat.iter().map(|row| row.symbol.as_str());
            let frames = self.evidence.trees.iter().flat_map(|tree| tree.frames.iter().map(String::as_str));
            rows.chain(frames).find_map(of_function)
        })
    }
}

fn of_function(name: &str) -> Option<&'static str> {
    let name = bare(name).function;
    let begins = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    match (begins(&X86_64), begins(&AARCH64)) {
        (true, _) => Some("x86_64"),
        (_, true) => Some("aarch64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_kernel_tell_the_instruction_set() {
        assert_eq!(of_function("entry_SYSCALL_64_after_hwframe"), Some("x86_64"));
        assert_eq!(of_function("native_queued_spin_lock_slowpath"), Some("x86_64"));
        assert_eq!(of_function("queued_spin_lock_slowpath"), None);
        assert_eq!(of_function("el0_svc_common.constprop.0"), Some("aarch64"));
        assert_eq!(of_function("zio_execute"), None);
    }
}
