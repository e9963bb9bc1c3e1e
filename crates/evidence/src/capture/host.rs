//! Facts of the machine, its kernel, and OpenZFS as it is loaded.

use super::facts;
use super::forms::some_texts;
use std::collections::BTreeMap;

facts! {
    /// The machine and its operating system.
    HostFacts {
        name: String,
        /// `uname -r`.
        kernel: String,
        /// `uname -v`.
        kernel_build: String,
        arch: String,
        /// `PRETTY_NAME` of os-release.
        os: String,
        os_id: String,
        cpu_model: String,
        /// CPUs that are online.
        cpus: u64,
        /// In the spelling of /proc/cpuinfo.
        cpu_flags: Vec<String>,
        cpu_governor: String,
        smt_active: bool,
        /// `none`, or what is known of the hypervisor or container.
        virtualization: String,
        /// The clock that the kernel reads the time from.
        clocksource: String,
        /// Those that it could use.
        clocksources: String,
        /// What the kernel does against each flaw of the CPU.
        #[serde(deserialize_with = "some_texts")]
        mitigations: BTreeMap<String, String>,
        mitigations_off: bool,
        /// Memory is cleared when it is given out.
        init_on_alloc: bool,
        /// Memory is cleared when it is given back.
        init_on_free: bool,
        memory_bytes: u64,
        swap_bytes: u64,
        /// What the recorder's control group may use.
        cgroup_memory_limit_bytes: u64,
        /// `/sys/kernel/mm/lru_gen/enabled`.
        lru_gen: String,
        transparent_hugepages: String,
        transparent_hugepages_defrag: String,
        numa_nodes: u64,
    }

    /// OpenZFS as it is loaded.
    ZfsFacts {
        module_loaded: bool,
        version: String,
        spl_version: String,
        /// How the module was installed.
        origin: String,
        taint: String,
        /// There is a pool or a mount, or something was read.
        in_use: bool,
        /// State of each pool.
        #[serde(deserialize_with = "some_texts")]
        pool_states: BTreeMap<String, String>,
        /// Version of the tools.
        userland: String,
        /// Tools and module are of different releases.
        versions_differ: bool,
        /// The library of an experiment.
        library: String,
        in_user_space: bool,
    }

    /// Figures of `zwhy limits`.
    MeasuredLimits {
        /// A build without optimisation shows what the build costs, not the machine.
        optimized: bool,
        rows: Vec<MeasuredLimit>,
    }

    /// What one CPU does of one kind of work.
    MeasuredLimit {
        work: String,
        /// MB (10^6 bytes) a second of CPU time.
        mb_s: f64,
        /// Whose code did it.
        with: String,
    }
}
