//! The kernel's names of the devices of vdevs: `ata-ST4000_X1` is `sda1`, by which the kernel counts its I/O.

use std::path::Path;
use zwhy_zfs::Vdev;

/// Folders with links to devices, as `zpool status` names them without their folder.
const FOLDERS: [&str; 8] = [
    "disk/by-id",
    "disk/by-vdev",
    "disk/by-path",
    "disk/by-partuuid",
    "disk/by-partlabel",
    "disk/by-uuid",
    "disk/by-label",
    "mapper",
];

/// Finds the device of each disk that is called otherwise; a whole disk has its data on the first partition, which is
/// on the same disk. Costs some lookups below `dev` for each disk.
pub(super) fn name(vdevs: &mut [Vdev], dev: &Path) {
    for vdev in vdevs {
        if vdev.children.is_empty() {
            vdev.device = device(&vdev.name, dev);
        }
        name(&mut vdev.children, dev);
    }
}

fn device(name: &str, dev: &Path) -> Option<String> {
    // Files, and what ZFS itself makes up.
    if name.is_empty() || name.split('/').any(|part| part == "..") {
        return None;
    }
    let direct = if name.starts_with('/') { Path::new(name).to_owned() } else { dev.join(name) };
    let links = FOLDERS.iter().map(|folder| dev.join(folder).join(name));
    let target = std::iter::once(direct).chain(links).find_map(|path| path.canonicalize().ok())?;
    let device = target.strip_prefix(dev.canonicalize().ok()?).ok()?.to_str()?;
    (!device.contains('/') && device != name).then(|| device.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_the_device() {
        let root = tempfile::tempdir().unwrap();
        let dev = root.path();
        for folder in ["disk/by-id", "mapper"] {
            fs::create_dir_all(dev.join(folder)).unwrap();
        }
        for device in ["sda", "sda1", "dm-3", "nvme0n1"] {
            fs::write(dev.join(device), "").unwrap();
        }
        symlink("../../sda1", dev.join("disk/by-id/ata-X1-part1")).unwrap();
        symlink("../../sda", dev.join("disk/by-id/ata-X1")).unwrap();
        symlink("../dm-3", dev.join("mapper/luks-tank")).unwrap();
        symlink("/etc/passwd", dev.join("disk/by-id/elsewhere")).unwrap();
        for (name, want) in [
            ("ata-X1", Some("sda")),
            ("ata-X1-part1", Some("sda1")),
            ("luks-tank", Some("dm-3")),
            ("nvme0n1", None),
            ("gone", None),
            ("elsewhere", None),
            ("../etc", None),
            ("/var/tank/file", None),
            ("", None),
        ] {
            assert_eq!(device(name, dev).as_deref(), want, "{name}");
        }
        let disk = |name: &str| Vdev { name: name.to_owned(), ..Vdev::default() };
        let mut tree = [Vdev { children: vec![disk("ata-X1"), disk("nvme0n1")], ..disk("mirror-0") }];
        super::name(&mut tree, dev);
        let found: Vec<_> = tree[0].children.iter().map(|vdev| vdev.device.as_deref()).collect();
        assert_eq!((found, tree[0].device.as_deref()), (vec![Some("sda"), None], None));
    }
}
