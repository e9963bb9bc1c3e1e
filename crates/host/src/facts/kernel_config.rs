//! The configuration that the running kernel was built with, where the host keeps it.

use super::root::Root;
use std::io::Read;

/// Larger than any configuration; a file that unpacks to more is cut.
const LONGEST: u64 = 4 << 20;

/// Whether `CONFIG_<name>` is `y` or `m`; `None` when no configuration can be read.
pub(crate) fn is_set(root: &Root, name: &str) -> Option<bool> {
    let release = root.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let plain = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
    let text = plain.iter().find_map(|path| root.text(path)).or_else(|| packed(root))?;
    let line = format!("CONFIG_{name}=");
    Some(text.lines().any(|l| l.strip_prefix(&line).is_some_and(|v| v == "y" || v == "m")))
}

/// /proc/config.gz, which kernels with `CONFIG_IKCONFIG_PROC` have.
fn packed(root: &Root) -> Option<String> {
    let file = std::fs::File::open(root.path("/proc/config.gz")).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
