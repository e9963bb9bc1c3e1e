//! Which machine the figures are of: what changes them is part of its name.

use serde::{Deserialize, Serialize};
use std::fs;

/// A CPU with its microcode, under one kernel: mitigations of either change what it can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu_model: String,
    pub microcode: String,
    pub kernel: String,
    pub arch: String,
}

impl Machine {
    /// The machine this runs on; what it does not tell is empty.
    pub fn this() -> Machine {
        let text = |path: &str| {
            fs::read(path).map(|b| String::from_utf8_lossy(&b).trim().to_owned()).unwrap_or_default()
        };
        Machine::of(&text("/proc/cpuinfo"), text("/proc/sys/kernel/osrelease"))
    }

    fn of(cpuinfo: &str, kernel: String) -> Machine {
        let field = |names: &[&str]| {
            let found = cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                names.contains(&name.trim()).then(|| value.trim().to_owned())
            });
            found.unwrap_or_default()
        };
        Machine {
            cpu_model: field(&["model name", "Processor", "cpu", "CPU part"]),
            microcode: field(&["microcode"]),
            kernel,
            arch: std::env::consts::ARCH.to_owned(),
        }
    }

    /// A file name that other machines do not share, up to characters that no file name should have.
    pub(crate) fn file_name(&self) -> String {
        let name = [&self.cpu_model, &self.microcode, &self.kernel, &self.arch].map(|part| {
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
            part.chars().take(60).map(plain).collect::<String>()
        });
        format!("limits-{}.json", name.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_its_cpu_microcode_and_kernel() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC 7/4\nmicrocode\t: 0xa1\nprocessor\t: 1\nmodel name\t: other\n";
        let machine = Machine::of(text, "6.1.0".into());
        assert_eq!((machine.cpu_model.as_str(), machine.microcode.as_str()), ("AMD EPYC 7/4", "0xa1"));
        assert!(
            machine.file_name().starts_with("limits-AMD_EPYC_7_4-0xa1-6.1.0-"),
            "{}",
            machine.file_name()
        );
        assert_eq!(Machine::of("", String::new()).cpu_model, "");
    }
}
