//! What a process runs in: a container, a service or a guest, from /proc/PID/cgroup and the command line of QEMU;
//! and which guest has which volume as a disk.
//!
//! Layouts: cgroups(7), `N:CONTROLLERS:PATH` a line; scopes of Docker, Podman, CRI-O and containerd (`docker-ID.scope`),
//! of LXC (`lxc.payload.NAME`, `lxc/ID`) and of systemd-machined (`machine-qemu\x2d1\x2dNAME.scope`); Proxmox has its
//! guests in `qemu.slice/ID.scope`. QEMU: `-name NAME`, `-name guest=NAME,…`, `/dev/zvol/DATASET` in its drives.

use std::path::Path;
use zwhy_host::read_cut;

/// Characters of a container's id that people use.
const ID: usize = 12;
/// Characters of any name.
const NAME: usize = 64;

/// `container 3f2ab1c9d0e4`, `guest web1`, `service nginx`; `None` of what belongs to a user's session or to nobody.
pub(super) fn owner(proc_root: &Path, pid: i32, comm: &str) -> Option<String> {
    guest(&arguments(proc_root, pid, comm)).map(|name| format!("guest {name}")).or_else(|| {
        let text = read_cut(&proc_root.join(format!("{pid}/cgroup"))).ok()?;
        let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        paths.filter_map(of_path).next()
    })
}

/// Volumes that a guest has as disks, by dataset.
pub(super) fn volumes(proc_root: &Path, pid: i32, comm: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for argument in arguments(proc_root, pid, comm) {
        for rest in argument.split("/dev/zvol/").skip(1) {
            let end = rest.find([',', '"', '\'', ' ', '}']).unwrap_or(rest.len());
            let dataset = rest[..end].to_owned();
            if !dataset.is_empty() && !found.contains(&dataset) {
                found.push(dataset);
            }
        }
    }
    found
}

/// The command line of a process that may be QEMU.
fn arguments(proc_root: &Path, pid: i32, comm: &str) -> Vec<String> {
    if !comm.starts_with("qemu") && !comm.starts_with("kvm") {
        return Vec::new();
    }
    let text = read_cut(&proc_root.join(format!("{pid}/cmdline"))).unwrap_or_default();
    text.split('\0').map(str::to_owned).collect()
}

fn guest(arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == "-name")?;
    let parts = arguments.get(at + 1)?;
    let first = parts.split(',').next()?;
    let named = parts.split(',').find_map(|part| part.strip_prefix("guest="));
    Some(short(named.unwrap_or(first), NAME)).filter(|name| !name.is_empty())
}

/// The innermost part of a group's path that says whose it is.
fn of_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let named = |at: usize| {
        let part = parts[at];
        let before = at.checked_sub(1).map_or("", |before| parts[before]);
        let scope = part.strip_suffix(".scope");
        if let Some(machine) = scope.and_then(|s| s.strip_prefix("machine-")) {
            let name = machine.replace("\\x2d", "-");
            let guest = name.strip_prefix("qemu-").and_then(|n| n.split_once('-')).map(|(_, name)| name);
            return Some(guest.map_or(format!("container {name}"), |name| format!("guest {name}")));
        }
        if let Some(id) = scope.filter(|_| before == "qemu.slice") {
            return Some(format!("guest {}", short(id, NAME)));
        }
        if let Some(name) = part.strip_prefix("lxc.payload.").or(Some(part).filter(|_| before == "lxc")) {
            return Some(format!("container {}", short(name, NAME)));
        }
        let id = scope.unwrap_or(part).rsplit('-').next().unwrap_or_default();
        if id.len() >= 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Some(format!("container {}", short(id, ID)));
        }
        let service = part.strip_suffix(".service").filter(|name| !name.starts_with("user@"));
        service.map(|name| format!("service {}", short(name, NAME)))
    };
    (0..parts.len()).rev().find_map(named)
}

fn short(name: &str, characters: usize) -> String {
    name.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_innermost_group_that_is_somebodys_is_told() {
        let id = "3f2ab1c9d0e4".to_owned() + &"0".repeat(52);
        for (path, owner) in [
            (format!("/system.slice/docker-{id}.scope"), Some("container 3f2ab1c9d0e4")),
            (format!("/docker/{id}"), Some("container 3f2ab1c9d0e4")),
            (
                format!("/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope"),
                Some("container 3f2ab1c9d0e4"),
            ),
            ("/lxc.payload.web/init.scope".to_owned(), Some("container web")),
            ("/lxc/105/ns/system.slice/nginx.service".to_owned(), Some("service nginx")),
            ("/lxc/105/ns".to_owned(), Some("container 105")),
            ("/machine.slice/machine-qemu\\x2d3\\x2dweb\\x2d1.scope/libvirt".to_owned(), Some("guest web-1")),
            ("/qemu.slice/101.scope".to_owned(), Some("guest 101")),
            ("/system.slice/postgresql@15-main.service".to_owned(), Some("service postgresql@15-main")),
            ("/user.slice/user-0.slice/user@0.service/app.slice".to_owned(), None),
            ("/user.slice/user-0.slice/session-3.scope".to_owned(), None),
            ("/".to_owned(), None),
        ] {
            assert_eq!(of_path(&path).as_deref(), owner, "{path}");
        }
    }

    #[test]
    fn a_guest_is_known_by_its_command_line_with_its_volumes() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("7")).unwrap();
        let line = "qemu-system-x86_64\0-name\0guest=web1,debug-threads=on\0-drive\0file=/dev/zvol/rpool/data/\
                    vm-101-disk-0,if=none\0-blockdev\0{\"filename\":\"/dev/zvol/rpool/data/vm-101-disk-1\"}\0";
        fs::write(root.path().join("7/cmdline"), line).unwrap();
        fs::write(root.path().join("7/cgroup"), "0::/qemu.slice/101.scope\n").unwrap();
        assert_eq!(owner(root.path(), 7, "kvm").as_deref(), Some("guest web1"));
        assert_eq!(owner(root.path(), 7, "bash").as_deref(), Some("guest 101"));
        assert_eq!(volumes(root.path(), 7, "kvm"), ["rpool/data/vm-101-disk-0", "rpool/data/vm-101-disk-1"]);
        assert!(volumes(root.path(), 7, "bash").is_empty() && owner(root.path(), 8, "kvm").is_none());
    }
}
