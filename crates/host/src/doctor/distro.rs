//! Distributions with remedies of their own.

use crate::facts::{Root, os_field};

/// Its name is as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Distro {
    Debian,
    Ubuntu,
    Arch,
    Fedora,
    Rhel,
    Proxmox,
    TrueNas,
    NixOs,
    /// None of these: general advice.
    Other,
}

impl Distro {
    pub const ALL: &'static [Distro] = <Distro as strum::VariantArray>::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<Distro> {
        name.parse().ok()
    }

    /// By os-release; Proxmox and TrueNAS call themselves Debian there.
    pub(crate) fn of_host(root: &Root) -> Distro {
        if root.exists("/usr/bin/pveversion") || root.exists("/etc/pve") {
            return Distro::Proxmox;
        }
        if root.exists("/usr/bin/midclt") {
            return Distro::TrueNas;
        }
        let id = os_field(root, "ID").unwrap_or_default();
        let like = os_field(root, "ID_LIKE").unwrap_or_default();
        let known = |word: &str| match word {
            "centos" | "rocky" | "almalinux" | "ol" => Some(Distro::Rhel),
            "proxmox" | "truenas" | "other" => None,
            _ => Distro::from_name(word),
        };
        let words = std::iter::once(id.as_str()).chain(like.split_whitespace());
        words.filter_map(known).next().unwrap_or(Distro::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn derivatives_take_the_advice_of_their_base() {
        for (release, want) in [
            ("ID=debian\n", Distro::Debian),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", Distro::Ubuntu),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", Distro::Rhel),
            ("ID=cachyos\nID_LIKE=arch\n", Distro::Arch),
            ("ID=alpine\n", Distro::Other),
            ("", Distro::Other),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("etc")).unwrap();
            fs::write(dir.path().join("etc/os-release"), release).unwrap();
            assert_eq!(Distro::of_host(&Root::at(dir.path())), want, "{release}");
            fs::create_dir(dir.path().join("etc/pve")).unwrap();
            assert_eq!(Distro::of_host(&Root::at(dir.path())), Distro::Proxmox);
        }
        for &distro in Distro::ALL {
            assert_eq!(Distro::from_name(distro.name()), Some(distro));
        }
    }
}
