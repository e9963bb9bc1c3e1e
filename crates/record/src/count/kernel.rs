//! Functions of the running kernel and its modules, by name.

use super::error::CountError;
use super::pattern::{Pattern, did_you_mean};
use super::probe::{Point, Probe};
use std::fs;

pub(super) struct KernelFunctions {
    kallsyms: String,
}

impl KernelFunctions {
    /// Reads the names; where they cannot be read there are none.
    pub(super) fn read() -> KernelFunctions {
        KernelFunctions { kallsyms: fs::read_to_string("/proc/kallsyms").unwrap_or_default() }
    }

    /// `(address, name, module)` of every function.
    fn functions(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        self.kallsyms.lines().filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let address = u64::from_str_radix(fields.next()?, 16).ok()?;
            let kind = fields.next()?;
            let name = fields.next()?;
            let module = fields.next().map_or("kernel", |m| m.trim_matches(['[', ']']));
            matches!(kind, "t" | "T" | "w" | "W").then_some((address, name, module))
        })
    }

    pub(super) fn has_module(&self, module: &str) -> bool {
        self.functions().any(|(_, _, m)| m == module)
    }

    /// Says so when OpenZFS is neither loaded nor built in; its functions have no module then.
    pub(super) fn without_zfs(&self) -> &'static str {
        let there = self.functions().any(|(_, name, module)| module == "zfs" || name == "zio_execute");
        if there { "" } else { "; the zfs module is not loaded here" }
    }

    /// Probes on all functions meant, of one module where it is given.
    ///
    /// # Errors
    /// When the kernel hides the addresses.
    pub(super) fn find(&self, pattern: &Pattern, module: Option<&str>) -> Result<Vec<Probe>, CountError> {
        let mut probes: Vec<Probe> = self
            .functions()
            .filter(|(_, name, m)| module.is_none_or(|wanted| wanted == *m) && pattern.matches(name))
            // Markers of the linker and copies for tracing are no functions of their own.
            .filter(|(_, name, _)| !["__pfx_", "__cfi_", "__SCT__"].iter().any(|p| name.starts_with(p)))
            .map(|(address, name, module)| Probe {
                point: Point::Kernel(address),
                function: name.to_owned(),
                module: module.to_owned(),
            })
            .collect();
        if let Some(hidden) = probes.iter().find(|p| p.point == Point::Kernel(0)) {
            return Err(CountError::Permission {
                what: hidden.describe(),
                found: "the kernel hides its addresses (kernel.kptr_restrict)".to_owned(),
                remedy: "run as root, or sysctl kernel.kptr_restrict=1 and give CAP_SYSLOG and CAP_PERFMON"
                    .to_owned(),
            });
        }
        probes.sort_by(|a, b| (&a.module, &a.function).cmp(&(&b.module, &b.function)));
        probes.dedup_by(|a, b| a.point == b.point);
        Ok(probes)
    }

    pub(super) fn suggest(&self, name: &str) -> String {
        did_you_mean(name, self.functions().map(|(_, name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T zio_read\t[zfs]
ffffffff81000000 t zio_read_alias\t[zfs]
ffffffff81000100 t zio_write.isra.0\t[zfs]
ffffffff81000200 t zio_write.cold\t[zfs]
ffffffff81000300 d zio_data\t[zfs]
ffffffff81000400 T vfs_read
ffffffff81000500 t zio_read\t[other]
";

    fn names(probes: &[Probe]) -> Vec<String> {
        probes.iter().map(Probe::describe).collect()
    }

    #[test]
    fn functions_are_found_by_name_pattern_and_module() {
        let kernel = KernelFunctions { kallsyms: TEXT.to_owned() };
        let find = |p, m| names(&kernel.find(&Pattern::new(p), m).unwrap());
        assert_eq!(find("zio_read", None), ["other:zio_read", "zfs:zio_read"]);
        assert_eq!(find("zio_read", Some("zfs")), ["zfs:zio_read"]);
        assert_eq!(find("zio_*", Some("zfs")), ["zfs:zio_read", "zfs:zio_write.isra.0"]);
        assert_eq!(find("vfs_read", None), ["kernel:vfs_read"]);
        assert!(find("zio_data", None).is_empty());
        assert!(kernel.has_module("zfs") && !kernel.has_module("spl"));
        assert_eq!(kernel.without_zfs(), "");
        let without = KernelFunctions { kallsyms: "ffffffff81000400 T vfs_read\n".to_owned() };
        assert_eq!(without.without_zfs(), "; the zfs module is not loaded here");
        assert_eq!(kernel.suggest("vfs_raed"), "; did you mean vfs_read?");
    }

    #[test]
    fn hidden_addresses_are_an_error_with_a_remedy() {
        let kernel = KernelFunctions { kallsyms: "0000000000000000 T vfs_read\n".to_owned() };
        let error = kernel.find(&Pattern::new("vfs_read"), None).unwrap_err().to_string();
        assert!(error.contains("kptr_restrict") && error.contains("run as root"), "{error}");
    }
}
