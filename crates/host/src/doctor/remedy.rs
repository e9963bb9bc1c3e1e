//! What helps, by trouble and distribution: a sentence and commands that can be copied.
//!
//! Sources: perf_event_open(2), proc(5), Documentation/admin-guide/perf-security.rst of Linux;
//! DKMS switches: `scripts/dkms.mkconf` of OpenZFS (`ZFS_DKMS_ENABLE_DEBUGINFO` since 2.0) and the
//! configuration file that each packaging passes to it (`/etc/default/zfs` on Debian and Arch,
//! `/etc/sysconfig/zfs` with RPM).

use super::Distro;
use std::borrow::Cow;

/// What can be in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    Privilege,
    HiddenNames,
    NoKallsyms,
    Lockdown,
    Container,
    Tracefs,
    NoProbes,
    NoStacks,
    NoPressure,
    NoModule,
    NoTools,
    SuspendedPool,
    NoLines,
    NoKernelLines,
    OtherBuild,
}

impl Trouble {
    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Trouble::Privilege => "privilege",
            Trouble::HiddenNames => "hidden-names",
            Trouble::NoKallsyms => "no-kallsyms",
            Trouble::Lockdown => "lockdown",
            Trouble::Container => "container",
            Trouble::Tracefs => "no-tracefs",
            Trouble::NoProbes => "no-probes",
            Trouble::NoStacks => "no-stacks",
            Trouble::NoPressure => "no-pressure",
            Trouble::NoModule => "no-module",
            Trouble::NoTools => "no-tools",
            Trouble::SuspendedPool => "suspended-pool",
            Trouble::NoLines => "no-lines",
            Trouble::NoKernelLines => "no-kernel-lines",
            Trouble::OtherBuild => "other-build",
        }
    }
}

/// Help for one trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub trouble: Trouble,
    /// What the commands do and what to mind, in sentences.
    pub text: &'static str,
    /// To be copied in order; none where there is nothing to run.
    pub commands: Vec<Cow<'static, str>>,
}

pub(super) fn remedy(trouble: Trouble, distro: Distro) -> Remedy {
    let (text, commands): (&'static str, Vec<&'static str>) = match trouble {
        Trouble::Privilege => (
            "Run as root. Or give the program the two capabilities; only root may read /proc/PID/stack and \
             tracefs.",
            vec!["sudo setcap cap_perfmon,cap_syslog+ep \"$(command -v zwhy)\""],
        ),
        Trouble::HiddenNames => (
            "Run as root, or let privileged readers see kernel addresses until the next boot.",
            vec!["sudo sysctl kernel.kptr_restrict=1"],
        ),
        Trouble::NoKallsyms => {
            ("The kernel was built without CONFIG_KALLSYMS; only another kernel has names.", Vec::new())
        }
        Trouble::Lockdown => (
            "Lockdown for confidentiality forbids counting calls of kernel functions (zwhy count); recordings \
             are not affected. It ends with a boot without it: take lockdown=confidentiality from the kernel \
             command line.",
            Vec::new(),
        ),
        Trouble::Container => (
            "Record on the host: a container sees neither its kernel threads nor their stacks. Where that \
             cannot be, start the container with the privileges of the host: with docker run, by --privileged \
             --pid=host --security-opt seccomp=unconfined.",
            Vec::new(),
        ),
        Trouble::Tracefs => {
            ("Mount tracefs until the next boot.", vec!["sudo mount -t tracefs nodev /sys/kernel/tracing"])
        }
        Trouble::NoProbes => (
            "Counting calls needs CONFIG_KPROBE_EVENTS and CONFIG_UPROBE_EVENTS, which kernels of \
             distributions have. Samples do without.",
            Vec::new(),
        ),
        Trouble::NoStacks => (
            "Wait stacks need CONFIG_STACKTRACE, which distribution kernels have. CPU samples do not need it.",
            Vec::new(),
        ),
        Trouble::NoPressure => (
            "Stall times need psi=1 on the kernel command line, which the set-up of the boot loader holds, and \
             a boot with it.",
            Vec::new(),
        ),
        Trouble::NoModule => {
            ("Load the module; install it first where it is missing.", install(distro, true))
        }
        Trouble::NoTools => (
            "Install the tools of OpenZFS; without them pools and datasets are not recorded.",
            install(distro, false),
        ),
        Trouble::SuspendedPool => (
            "Bring the disks back, then clear the pool: zpool clear and its name. Recording works meanwhile and \
             ends by itself.",
            Vec::new(),
        ),
        Trouble::OtherBuild => (
            "The module was rebuilt after it was loaded; reboot, or export all pools and load it again.",
            vec!["sudo reboot"],
        ),
        Trouble::NoLines => return lines(distro),
        Trouble::NoKernelLines => kernel_lines(distro),
    };
    Remedy { trouble, text, commands: commands.into_iter().map(Cow::from).collect() }
}

fn install(distro: Distro, module: bool) -> Vec<&'static str> {
    let mut commands = match (distro, module) {
        (Distro::Debian, true) => vec![
            "# needs the contrib component in the apt sources",
            "sudo apt install linux-headers-amd64 zfs-dkms zfsutils-linux",
        ],
        (Distro::Debian, false) => vec!["sudo apt install zfsutils-linux  # component contrib"],
        (Distro::Ubuntu | Distro::Proxmox, _) => vec!["sudo apt install zfsutils-linux"],
        (Distro::Arch, true) => {
            vec!["# from the repository archzfs or the AUR", "sudo pacman -S zfs-dkms zfs-utils"]
        }
        (Distro::Arch, false) => vec!["sudo pacman -S zfs-utils  # repository archzfs or the AUR"],
        (Distro::Fedora | Distro::Rhel, _) => vec![
            "# first the repository: openzfs.github.io/openzfs-docs, Getting Started",
            "sudo dnf install kernel-devel zfs",
        ],
        (Distro::NixOs, _) => {
            vec!["# configuration.nix: boot.supportedFilesystems = [ \"zfs\" ];", "sudo nixos-rebuild switch"]
        }
        (Distro::TrueNas | Distro::Other, _) => {
            vec!["# OpenZFS is part of the system, or its manual says how to install it"]
        }
    };
    if module {
        commands.push("sudo modprobe zfs");
    }
    commands
}

/// Rebuilds a DKMS module with debug information that is not stripped, and loads it.
const REBUILD: [&str; 3] = [
    "v=$(cut -d- -f1 /sys/module/zfs/version)",
    "sudo dkms build --force -m zfs -v \"$v\" && sudo dkms install --force -m zfs -v \"$v\"",
    "sudo reboot",
];

fn lines(distro: Distro) -> Remedy {
    const DEB: &str = "printf 'ZFS_DKMS_ENABLE_DEBUGINFO=yes\\nZFS_DKMS_DISABLE_STRIP=yes\\n' | sudo tee -a /etc/default/zfs";
    const RPM: &str = "printf 'ZFS_DKMS_ENABLE_DEBUGINFO=yes\\nZFS_DKMS_DISABLE_STRIP=yes\\n' | sudo tee -a /etc/sysconfig/zfs";
    let dkms = |switches: &'static str| [&[switches][..], &REBUILD].concat();
    let (text, commands): (&'static str, Vec<&'static str>) = match distro {
        Distro::Debian | Distro::Arch => (
            "Functions are named without this; only source lines need it. Rebuild the DKMS module with \
             debug information. Leave ZFS_DKMS_ENABLE_DEBUG off: it turns assertions on and slows ZFS down.",
            dkms(DEB),
        ),
        Distro::Fedora | Distro::Rhel => (
            "Functions are named without this; only source lines need it. With zfs-dkms, rebuild with debug \
             information; a kmod package has to be replaced by zfs-dkms first. Leave ZFS_DKMS_ENABLE_DEBUG \
             off: it turns assertions on and slows ZFS down.",
            dkms(RPM),
        ),
        Distro::Ubuntu => (
            "Functions are named without this; only source lines need it. The module comes with the kernel; \
             its debug symbols are in the ddebs archive, some GiB large.",
            vec![
                "sudo apt install ubuntu-dbgsym-keyring lsb-release",
                "echo \"deb http://ddebs.ubuntu.com $(lsb_release -cs)-updates main restricted universe\" | sudo tee /etc/apt/sources.list.d/ddebs.list",
                "sudo apt update && sudo apt install \"linux-image-unsigned-$(uname -r)-dbgsym\"",
            ],
        ),
        Distro::Proxmox => (
            "Functions are named without this; only source lines need it. The module comes stripped with \
             the kernel package; look whether the repository has its debug symbols.",
            Vec::new(),
        ),
        Distro::TrueNas => (
            "Functions are named without this; only source lines need it. TrueNAS ships no debug symbols, \
             and its debug kernel turns assertions on, which is not wanted. Nothing to do.",
            Vec::new(),
        ),
        Distro::NixOs => (
            "Functions are named without this; only source lines need it. Build the module with debug \
             information and without stripping. Leave --enable-debug off: it turns assertions on.",
            vec![
                "# configuration.nix: boot.zfs.modulePackage = (config.boot.kernelPackages.${config.boot.zfs.package.kernelModuleAttribute}).overrideAttrs (o: { dontStrip = true; configureFlags = o.configureFlags ++ [ \"--enable-debuginfo\" ]; });",
                "sudo nixos-rebuild boot && sudo reboot",
            ],
        ),
        Distro::Other => (
            "Functions are named without this; only source lines need it. Build OpenZFS with \
             --enable-debuginfo and do not strip zfs.ko. Leave --enable-debug off: it turns assertions on.",
            vec!["./configure --enable-debuginfo && make -s -j\"$(nproc)\" && sudo make install"],
        ),
    };
    Remedy { trouble: Trouble::NoLines, text, commands: commands.into_iter().map(Cow::from).collect() }
}

/// The debug package of the kernel that runs.
fn kernel_lines(distro: Distro) -> (&'static str, Vec<&'static str>) {
    const WHAT: &str = "Functions of the kernel are named without this; only their source lines need its debug \
                        package, which is some GiB large.";
    let commands = match distro {
        Distro::Debian => vec!["sudo apt install \"linux-image-$(uname -r)-dbg\""],
        Distro::Ubuntu => vec![
            "# from the ddebs archive, as for the module",
            "sudo apt install \"linux-image-unsigned-$(uname -r)-dbgsym\"",
        ],
        Distro::Fedora | Distro::Rhel => {
            vec!["sudo dnf --enablerepo='*debug*' install \"kernel-debuginfo-$(uname -r)\""]
        }
        Distro::Arch | Distro::Proxmox | Distro::TrueNas | Distro::NixOs | Distro::Other => {
            let text = "Functions of the kernel are named without this; only their source lines need a vmlinux with \
                        debug information in /usr/lib/debug/boot/vmlinux-RELEASE. Look whether the system has one.";
            return (text, Vec::new());
        }
    };
    (WHAT, commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TROUBLES: [Trouble; 15] = [
        Trouble::Privilege,
        Trouble::HiddenNames,
        Trouble::NoKallsyms,
        Trouble::Lockdown,
        Trouble::Container,
        Trouble::Tracefs,
        Trouble::NoProbes,
        Trouble::NoStacks,
        Trouble::NoPressure,
        Trouble::NoModule,
        Trouble::NoTools,
        Trouble::SuspendedPool,
        Trouble::NoLines,
        Trouble::NoKernelLines,
        Trouble::OtherBuild,
    ];

    #[test]
    fn every_trouble_has_a_sentence_on_every_distribution() {
        for distro in Distro::ALL {
            for trouble in TROUBLES {
                let remedy = remedy(trouble, distro);
                assert!(remedy.text.ends_with('.'), "{remedy:?}");
                assert!(remedy.commands.iter().all(|c| !c.contains('\n') && !c.is_empty()), "{remedy:?}");
            }
        }
    }

    #[test]
    fn every_command_changes_something_and_runs_as_printed() {
        const ONLY_SHOW: [&str; 9] =
            ["cat", "grep", "dmesg", "modinfo", "ls", "apt-cache", "zwhy", "journalctl", "docker"];
        for distro in Distro::ALL {
            for command in TROUBLES.into_iter().flat_map(|trouble| remedy(trouble, distro).commands) {
                let mut words = command.split(' ').filter(|word| *word != "sudo");
                let first = words.next().unwrap_or_default();
                assert!(!ONLY_SHOW.contains(&first), "{command}");
                assert!(!words.any(|word| matches!(word, "POOL" | "IMAGE")), "{command}");
            }
        }
    }

    #[test]
    fn debug_information_is_asked_for_and_assertions_are_not() {
        for distro in [Distro::Debian, Distro::Arch, Distro::Fedora, Distro::Rhel] {
            let remedy = remedy(Trouble::NoLines, distro);
            let commands = remedy.commands.join("\n");
            assert!(commands.contains("ZFS_DKMS_ENABLE_DEBUGINFO=yes"), "{commands}");
            assert!(commands.contains("ZFS_DKMS_DISABLE_STRIP=yes"), "{commands}");
            assert!(!commands.contains("ENABLE_DEBUG=") && remedy.text.contains("assertions"), "{remedy:?}");
        }
        assert!(remedy(Trouble::NoLines, Distro::Fedora).commands[0].contains("/etc/sysconfig/zfs"));
    }
}
