//! The machine and its operating system.

use serde_json::{Map, Value, json};
use std::fs;

/// `facts.host`.
pub(crate) fn host() -> Value {
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let mut host = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            host.insert(name.to_owned(), value);
        }
    };
    put("name", read("/proc/sys/kernel/hostname").map(Value::from));
    put("kernel", read("/proc/sys/kernel/osrelease").map(Value::from));
    put("arch", Some(Value::from(std::env::consts::ARCH)));
    put("os", os_name().map(Value::from));
    put("cpu_model", cpu_field(&cpuinfo, &["model name", "Processor", "cpu"]).map(Value::from));
    put("cpus", Some(json!(crate::host::online_cpus().len())));
    let flags = cpu_field(&cpuinfo, &["flags", "Features"]).unwrap_or_default();
    put("cpu_flags", Some(json!(flags.split_whitespace().collect::<Vec<_>>())));
    put("memory_bytes", memory_bytes().map(Value::from));
    put("virtualization", Some(Value::from(virtualization(&flags))));
    put(
        "clocksource",
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource").map(Value::from),
    );
    Value::Object(host)
}

fn read(path: &str) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn os_name() -> Option<String> {
    let release = read("/etc/os-release").or_else(|| read("/usr/lib/os-release"))?;
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

/// First value of a field of /proc/cpuinfo; names differ by architecture.
fn cpu_field(cpuinfo: &str, names: &[&str]) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name.trim()).then(|| value.trim().to_owned())
    })
}

fn memory_bytes() -> Option<u64> {
    let meminfo = read("/proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// `none`, or the hypervisor's or container's name as far as the host shows it.
fn virtualization(flags: &str) -> String {
    if let Some(kind) = read("/run/systemd/container") {
        return format!("container {kind}");
    }
    if !flags.split_whitespace().any(|f| f == "hypervisor") {
        return "none".to_owned();
    }
    let vendor = read("/sys/class/dmi/id/sys_vendor").or_else(|| read("/sys/hypervisor/type"));
    let product = read("/sys/class/dmi/id/product_name");
    match (vendor, product) {
        (Some(vendor), Some(product)) => format!("virtual machine ({vendor}, {product})"),
        (Some(name), None) | (None, Some(name)) => format!("virtual machine ({name})"),
        (None, None) => "virtual machine".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_name_a_kernel_and_memory() {
        let host = host();
        assert!(host["name"].is_string() && host["kernel"].is_string(), "{host}");
        assert!(host["memory_bytes"].as_u64().unwrap() > 1 << 20);
        assert!(host["cpus"].as_u64().unwrap() >= 1);
    }

    #[test]
    fn cpu_fields_of_other_architectures_are_found() {
        assert_eq!(
            cpu_field("Features\t: fp asimd aes\n", &["flags", "Features"]).as_deref(),
            Some("fp asimd aes")
        );
        assert_eq!(cpu_field("", &["flags"]), None);
    }
}
