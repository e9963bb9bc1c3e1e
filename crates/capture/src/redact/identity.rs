//! Words that identify a host, a disk or a person by their form alone, wherever they appear.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The word of the stand-in for a word of such a form; `None` for all others.
pub(super) fn kind(word: &str) -> Option<&'static str> {
    if is_ipv6(word) || is_hardware_address(word) || is_user_at_host(word) {
        return Some("address");
    }
    (is_uuid(word) || is_long_number(word) || is_world_wide_name(word)).then_some("id")
}

/// `10.1.2.3`, not that of the host itself.
pub(super) fn is_ipv4(word: &str) -> bool {
    word.parse::<Ipv4Addr>().is_ok_and(|a| !a.is_loopback() && !a.is_unspecified())
}

/// `2001:db8::1`, also with the length of its network, its interface or a port: `fe80::1%eth0`, `2001:db8::/64`.
fn is_ipv6(word: &str) -> bool {
    let address = word.split(['%', '/', '#']).next().unwrap_or_default();
    let without_port = address.rsplit_once('.').filter(|(_, port)| port.parse::<u16>().is_ok());
    [Some(address), without_port.map(|(address, _)| address)].into_iter().flatten().any(|text| {
        // A name such as `::add` would be one, too.
        let colons = text.matches(':').count();
        colons > 1 && text.parse::<Ipv6Addr>().is_ok_and(|a| !a.is_loopback() && !a.is_unspecified())
    })
}

fn all_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Of a network card or a port of a fabric: `00:25:90:ca:fe:01`, `00-25-90-ca-fe-01`, `0025.90ca.fe01`,
/// `0025:90ff:ffca:fe01`.
fn is_hardware_address(word: &str) -> bool {
    let groups = |separator: char, digits: usize| {
        let mut count = 0;
        let fits = word.split(separator).all(|group| {
            count += 1;
            group.len() == digits && all_hex(group)
        });
        if fits { count } else { 0 }
    };
    groups(':', 2) >= 6 || groups('-', 2) >= 6 || groups('.', 4) == 3 || groups(':', 4) == 4
}

/// `joe@example.org`, `joe@db7`; symbols of libraries have versions behind an `@`, too.
fn is_user_at_host(word: &str) -> bool {
    let Some((user, host)) = word.split_once('@') else { return false };
    let is_version =
        host.is_empty() || host == "plt" || host.starts_with(['@', '.']) || host.starts_with("GLIBC");
    let name = |text: &str| text.starts_with(|c: char| c.is_alphanumeric()) && !text.contains('/');
    !is_version && name(user) && name(host) && user != "root"
}

fn is_uuid(word: &str) -> bool {
    let groups: Vec<&str> = word.split('-').collect();
    groups.iter().map(|g| g.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|g| all_hex(g))
}

/// GUIDs of pools and disks have 17 to 20 digits; a counter of bytes has as many only beyond 100 PB.
pub(super) fn is_long_number(word: &str) -> bool {
    matches!(word.len(), 17..=20) && word.bytes().all(|b| b.is_ascii_digit())
}

/// `0x5000c500a1b2c3d4`, `naa.5000c500a1b2c3d4`, `eui.0025385b71b00001`, `c0t5000C500A1B2C3D4d0`, and ids of machines,
/// which have 32 digits. Addresses of code begin with `0000` or `ffff`.
fn is_world_wide_name(word: &str) -> bool {
    let id =
        ["naa.", "eui.", "nna.", "uuid.", "t10.", "0x"].iter().find_map(|start| word.strip_prefix(start));
    let disk = word.strip_prefix('c').and_then(|rest| rest.split_once('t'));
    let disk = disk.filter(|(controller, _)| controller.bytes().all(|b| b.is_ascii_digit()));
    let disk = disk.map(|(_, target)| target.split(['d', 's', 'p']).next().unwrap_or_default());
    let is_id = |text: &str| {
        let is_code = ["0000", "ffff", "FFFF"].iter().any(|start| text.starts_with(start));
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        matches!(text.len(), 16 | 32) && all_hex(text) && !is_code && (!is_number || id.is_some())
    };
    is_id(id.unwrap_or(word)) || disk.is_some_and(|target| target.len() == 16 && all_hex(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_identifies_by_its_form_is_known() {
        for (kind_of, words) in [
            (
                "address",
                &[
                    "2001:db8::1",
                    "2001:db8::1%eth0",
                    "2001:db8:ca:fe::/64",
                    "fe80::1.2049",
                    "00:25:90:ca:fe:01",
                    "00-25-90-CA-FE-01",
                    "0025.90ca.fe01",
                    "50:00:c5:00:a1:b2:c3:d4",
                    "0025:90ff:ffca:fe01",
                    "joe@example.org",
                    "joe.smith+zfs@mail.example.org",
                    "joe@db7",
                ][..],
            ),
            (
                "id",
                &[
                    "123e4567-e89b-12d3-a456-426614174000",
                    "9876543210123456789",
                    "0x5000c500a1b2c3d4",
                    "5000c500a1b2c3d4",
                    "naa.5000c500a1b2c3d4",
                    "eui.0025385b71b00001",
                    "c0t5000C500A1B2C3D4d0",
                    "0123456789abcdef0123456789abcdef",
                ],
            ),
        ] {
            for word in words {
                assert_eq!(kind(word), Some(kind_of), "{word}");
            }
        }
    }

    #[test]
    fn figures_code_and_times_are_none() {
        for word in [
            "",
            "::1",
            "::",
            "12:34:56",
            "0000:00:17.0",
            "2.3.2-1",
            "1234567890123456",
            "131072",
            "0xffffffffc0123456",
            "ffffffffc0123456",
            "0x00007f1234567890",
            "memcpy@plt",
            "memcpy@@GLIBC_2.14",
            "root@",
            "objset-0x36",
            "z_wr_iss_3",
            "zio_write",
            "aes-256-gcm",
            "c0t0d0",
            "sha512",
        ] {
            assert_eq!(kind(word), None, "{word}");
        }
    }
}
