//! The machine and its operating system: `facts.host` and `facts.sysctl`.

use super::kernel_config;
use super::root::Root;
use std::collections::BTreeMap;
use zwhy_evidence::HostFacts;

/// Settings of the kernel that decide how it and ZFS share memory.
const SYSCTLS: &str = "vm.swappiness vm.min_free_kbytes vm.watermark_scale_factor vm.vfs_cache_pressure \
    vm.zone_reclaim_mode vm.overcommit_memory vm.dirty_ratio kernel.numa_balancing \
    kernel.perf_event_paranoid";

/// Facts of the machine; what cannot be read is absent.
pub(crate) fn host(root: &Root) -> HostFacts {
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let text = |path: &str| root.text(path);
    let flags = cpu_field(&cpuinfo, &["flags", "Features"]).unwrap_or_default();
    let clock = "/sys/devices/system/clocksource/clocksource0";
    let mut host = HostFacts {
        name: text("/proc/sys/kernel/hostname"),
        kernel: text("/proc/sys/kernel/osrelease"),
        kernel_build: text("/proc/sys/kernel/version"),
        arch: Some(std::env::consts::ARCH.to_owned()),
        os: os_field(root, "PRETTY_NAME"),
        os_id: os_field(root, "ID"),
        cpu_model: cpu_field(&cpuinfo, &["model name", "Processor", "cpu"]),
        cpus: Some(crate::online_cpus().len() as u64),
        cpu_flags: Some(flags.split_whitespace().map(str::to_owned).collect()),
        cpu_governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        smt_active: root.number("/sys/devices/system/cpu/smt/active").map(|n| n != 0),
        virtualization: Some(virtualization(root, &flags)),
        clocksource: text(&format!("{clock}/current_clocksource")),
        clocksources: text(&format!("{clock}/available_clocksource")),
        mitigations: mitigations(root),
        mitigations_off: Some(boot_option(root, "mitigations").is_some_and(|v| v == "off")),
        init_on_alloc: switch(root, "init_on_alloc", "INIT_ON_ALLOC_DEFAULT_ON"),
        init_on_free: switch(root, "init_on_free", "INIT_ON_FREE_DEFAULT_ON"),
        ..HostFacts::default()
    };
    memory(root, &mut host);
    host
}

fn memory(root: &Root, host: &mut HostFacts) {
    let meminfo = root.text("/proc/meminfo").unwrap_or_default();
    let bytes = |name: &str| {
        let mut rows = crate::named_numbers(&meminfo);
        rows.find(|(row, _)| *row == name).and_then(|(_, bytes)| u64::try_from(bytes).ok())
    };
    host.memory_bytes = bytes("MemTotal");
    host.swap_bytes = bytes("SwapTotal");
    host.cgroup_memory_limit_bytes = cgroup_limit(root);
    host.lru_gen = root.text("/sys/kernel/mm/lru_gen/enabled");
    let chosen = |file: &str| {
        let text = root.text(&format!("/sys/kernel/mm/transparent_hugepage/{file}"))?;
        zwhy_zfs::parse_implementation(&text)?.selected
    };
    host.transparent_hugepages = chosen("enabled");
    host.transparent_hugepages_defrag = chosen("defrag");
    let is_node = |name: &&String| {
        name.strip_prefix("node").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let nodes = root.names("/sys/devices/system/node").iter().filter(is_node).count();
    host.numa_nodes = (nodes > 0).then_some(nodes as u64);
}

/// `facts.sysctl`: by name with dots, as sysctl(8) prints it.
pub(crate) fn sysctl(root: &Root) -> BTreeMap<String, String> {
    let read = |name: &str| {
        let value = root.text(&format!("/proc/sys/{}", name.replace('.', "/")))?;
        Some((name.to_owned(), value))
    };
    SYSCTLS.split(' ').filter_map(read).collect()
}

/// A field of os-release, `ID` or `PRETTY_NAME`.
pub(crate) fn os_field(root: &Root, name: &str) -> Option<String> {
    let release = root.text("/etc/os-release").or_else(|| root.text("/usr/lib/os-release"))?;
    let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// First value of a field of /proc/cpuinfo; names differ by architecture.
fn cpu_field(cpuinfo: &str, names: &[&str]) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name.trim()).then(|| value.trim().to_owned())
    })
}

/// The last value of an option of the kernel command line; the line itself is not kept, as it may
/// hold secrets.
fn boot_option(root: &Root, name: &str) -> Option<String> {
    let line = root.text("/proc/cmdline")?;
    let value = |word: &str| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
    line.split_whitespace().filter_map(value).next_back()
}

/// A switch of the command line, else of the kernel's configuration; `None` when neither can be read.
fn switch(root: &Root, option: &str, config: &str) -> Option<bool> {
    let set = boot_option(root, option);
    if let Some(value) = set.as_deref() {
        return Some(matches!(value, "1" | "on" | "y" | "Y" | "true"));
    }
    kernel_config::is_set(root, config)
}

/// What the kernel does against each flaw of the CPU; `None` where it does not tell.
fn mitigations(root: &Root) -> Option<BTreeMap<String, String>> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let read = |name: String| root.text(&format!("{folder}/{name}")).map(|text| (name, text));
    let all: BTreeMap<String, String> = root.names(folder).into_iter().filter_map(read).collect();
    (!all.is_empty()).then_some(all)
}

/// Bytes that this process's control group may use; `None` without a limit. Versions 2 and 1.
fn cgroup_limit(root: &Root) -> Option<u64> {
    let groups = root.text("/proc/self/cgroup")?;
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let (folder, file) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max")
        } else if controllers.split(',').any(|c| c == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            return Vec::new();
        };
        // The limit of any group above holds as well.
        let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        (0..=parts.len()).map(|n| format!("{folder}/{}/{file}", parts[..n].join("/"))).collect()
    });
    // Version 1 writes the largest page count when there is none.
    limits.filter_map(|path| root.number(&path)).filter(|bytes| *bytes < 1 << 60).min()
}

/// `none`, or the hypervisor's or container's name as far as the host shows it.
pub(crate) fn virtualization(root: &Root, flags: &str) -> String {
    if let Some(kind) = root.text("/run/systemd/container") {
        return format!("container {kind}");
    }
    if !flags.split_whitespace().any(|f| f == "hypervisor") {
        return "none".to_owned();
    }
    let vendor = root.text("/sys/class/dmi/id/sys_vendor").or_else(|| root.text("/sys/hypervisor/type"));
    let product = root.text("/sys/class/dmi/id/product_name");
    match (vendor, product) {
        (Some(vendor), Some(product)) => format!("virtual machine ({vendor}, {product})"),
        (Some(name), None) | (None, Some(name)) => format!("virtual machine ({name})"),
        (None, None) => "virtual machine".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn write(folder: &std::path::Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn this_host_has_a_name_a_kernel_and_memory() {
        let host = host(&Root::host());
        assert!(host.name.is_some() && host.kernel.is_some(), "{host:?}");
        assert!(host.memory_bytes.unwrap() > 1 << 20);
        assert!(host.cpus.unwrap() >= 1);
    }

    #[test]
    fn what_decides_the_speed_of_memory_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| write(dir.path(), path, text);
        put("proc/cmdline", "root=ZFS=rpool mitigations=auto init_on_alloc=0 password=x init_on_alloc=1\n");
        put("proc/sys/kernel/osrelease", "6.8.0-1-generic\n");
        put("boot/config-6.8.0-1-generic", "CONFIG_INIT_ON_FREE_DEFAULT_ON=y\n");
        put("proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 0 kB\n");
        put("proc/self/cgroup", "4:memory:/a/b\n0::/c\n");
        put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n");
        put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
        put("sys/fs/cgroup/c/memory.max", "max\n");
        put("sys/kernel/mm/lru_gen/enabled", "0x0007\n");
        put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        put("sys/devices/system/node/node0/cpulist", "0\n");
        put("sys/devices/system/node/node1/cpulist", "1\n");
        put("sys/devices/system/cpu/vulnerabilities/retbleed", "Mitigation: IBPB\n");
        put("proc/sys/vm/swappiness", "60\n");
        put("etc/os-release", "NAME=x\nID=ubuntu\nPRETTY_NAME=\"Ubuntu 24.04\"\n");
        let root = Root::at(dir.path());
        let host = serde_json::to_value(host(&root)).unwrap();
        for (name, want) in [
            ("init_on_alloc", json!(true)),
            ("init_on_free", json!(true)),
            ("memory_bytes", json!(1_048_576)),
            ("cgroup_memory_limit_bytes", json!(1_048_576)),
            ("lru_gen", json!("0x0007")),
            ("transparent_hugepages", json!("madvise")),
            ("numa_nodes", json!(2)),
            ("os_id", json!("ubuntu")),
            ("mitigations_off", json!(false)),
            ("mitigations", json!({ "retbleed": "Mitigation: IBPB" })),
        ] {
            assert_eq!(host[name], want, "{name} in {host}");
        }
        assert!(!host.to_string().contains("password"));
        assert_eq!(sysctl(&root), BTreeMap::from([("vm.swappiness".into(), "60".into())]));
    }

    #[test]
    fn an_empty_host_is_survived() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(&Root::at(dir.path()));
        assert!(host.init_on_alloc.is_none() && host.numa_nodes.is_none(), "{host:?}");
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
