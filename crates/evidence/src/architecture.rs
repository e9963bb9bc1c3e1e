//! The instruction set of a host: its names in packages, kernels and templates, and what else tells it.

use crate::Host;

/// The name of an instruction set as Rust and the kernel have it (`x86_64`, `aarch64`), from what packages and
/// people write (`amd64`, `arm64`); `None` for other words.
fn named(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "x86_64" | "x86-64" | "amd64" | "x64" | "em64t" | "i86pc" | "intel64" => "x86_64",
        "aarch64" | "arm64" | "aarch64_be" => "aarch64",
        "i386" | "i486" | "i586" | "i686" | "x86" | "ia32" => "x86",
        "arm" | "armhf" | "armel" => "arm",
        "ppc64" | "ppc64le" | "ppc64el" | "powerpc64" | "powerpc64le" => "powerpc64",
        "s390x" => "s390x",
        "riscv64" | "riscv64gc" => "riscv64",
        "sparc64" | "sparcv9" | "sun4u" | "sun4v" => "sparc64",
        "loongarch64" => "loongarch64",
        // `armv8l` and later are the 32-bit view of a 64-bit CPU or a 64-bit one by its family's name.
        _ if word.starts_with("armv8") || word.starts_with("armv9") => "aarch64",
        _ if word.starts_with("armv") => "arm",
        _ => return None,
    })
}

/// The first word of a text that names one: `aarch64 (S905X3/Cortex-A55)`, `3.10.0-1160.el7.x86_64`, `5.10.0-8-amd64`.
fn in_text(text: &str) -> Option<&'static str> {
    let words = |text: &str| text.split([' ', '\t', ',', '/', '(', ')', '.', ';', '+', '~']).find_map(named);
    words(text).or_else(|| text.rsplit(['-', ' ', '.']).find_map(named))
}

/// What makers call their CPUs. Apple's are both, by generation.
fn of_cpu(model: &str) -> Option<&'static str> {
    const X86: [&str; 12] = [
        "xeon",
        "epyc",
        "ryzen",
        "opteron",
        "threadripper",
        "core(tm)",
        "pentium",
        "celeron",
        "athlon",
        "phenom",
        "atom(tm)",
        "genuineintel",
    ];
    const ARM: [&str; 8] =
        ["cortex-", "neoverse", "ampere", "graviton", "thunderx", "kunpeng", "apple m", "raspberry"];
    let model = model.to_ascii_lowercase();
    let has = |list: &[&str]| list.iter().any(|name| model.contains(name));
    match (has(&X86), has(&ARM)) {
        (true, false) => Some("x86_64"),
        (false, true) => Some("aarch64"),
        _ => None,
    }
}

impl Host {
    /// The instruction set by the name that Rust has for it, `x86_64`, `aarch64`: as the source says, or as flags,
    /// the name of the kernel's package, the system or the CPU tell; `None` where none of them does.
    pub fn architecture(&self) -> Option<&'static str> {
        let flag = |names: &[&str]| self.cpu_flags.iter().any(|f| names.contains(&f.as_str()));
        let told = |text: &Option<String>| text.as_deref().and_then(in_text);
        told(&self.arch)
            .or_else(|| flag(&["lm", "sse2", "avx", "aes_ni", "syscall"]).then_some("x86_64"))
            .or_else(|| flag(&["asimd", "pmull", "fphp"]).then_some("aarch64"))
            .or_else(|| told(&self.kernel))
            .or_else(|| told(&self.os))
            .or_else(|| self.cpu_model.as_deref().and_then(of_cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_is_its_instruction_set() {
        for (text, want) in [
            ("amd64", Some("x86_64")),
            ("x86_64", Some("x86_64")),
            ("`x86_64`", None),
            ("aarch64 (S905X3/Cortex-A55)", Some("aarch64")),
            ("armv7l", Some("arm")),
            ("ppc64el", Some("powerpc64")),
            ("3.10.0-1160.el7.x86_64", Some("x86_64")),
            ("5.10.0-8-amd64", Some("x86_64")),
            ("6.1.21-v8+", None),
            ("5.15.0-41-generic", None),
            ("4.19.0-armmp", None),
            ("i86pc i386 i86pc", Some("x86_64")),
            ("", None),
        ] {
            assert_eq!(in_text(text), want, "{text}");
        }
    }

    #[test]
    fn what_the_source_says_counts_before_what_is_guessed() {
        let host = |arch: Option<&str>, kernel: Option<&str>, cpu: Option<&str>, flags: &[&str]| Host {
            arch: arch.map(str::to_owned),
            kernel: kernel.map(str::to_owned),
            cpu_model: cpu.map(str::to_owned),
            cpu_flags: flags.iter().map(|f| (*f).to_owned()).collect(),
            ..Host::default()
        };
        assert_eq!(host(Some("arm64"), Some("5.10.0-8-amd64"), None, &[]).architecture(), Some("aarch64"));
        assert_eq!(host(None, Some("5.10.0-8-amd64"), None, &[]).architecture(), Some("x86_64"));
        let xeon = "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz";
        assert_eq!(host(None, Some("5.15.0-41-generic"), Some(xeon), &[]).architecture(), Some("x86_64"));
        assert_eq!(host(None, None, Some("Neoverse-N1"), &[]).architecture(), Some("aarch64"));
        assert_eq!(host(None, None, None, &["asimd", "aes"]).architecture(), Some("aarch64"));
        assert_eq!(host(None, Some("5.15.0"), Some("Apple M1"), &[]).architecture(), Some("aarch64"));
        assert_eq!(host(None, None, Some("VirtualApple"), &[]).architecture(), None);
    }
}
