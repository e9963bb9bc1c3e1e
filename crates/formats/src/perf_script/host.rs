//! What `perf script --header` says of the host, in its `# key : value` lines.

use zwhy_evidence::Host;

/// The command line that recorded, in its comment line.
pub fn command(line: &str) -> Option<&str> {
    let (key, value) = line.trim_start_matches('#').split_once(" : ")?;
    (key.trim() == "cmdline").then(|| value.trim()).filter(|command| !command.is_empty())
}

/// Takes one comment line.
pub fn take(line: &str, host: &mut Host) {
    let Some((key, value)) = line.trim_start_matches('#').split_once(" : ") else { return };
    let value = value.trim();
    let slot = match key.trim() {
        "hostname" => &mut host.name,
        "os release" => &mut host.kernel,
        "cpudesc" => &mut host.cpu_model,
        "arch" => &mut host.arch,
        _ => return,
    };
    if !value.is_empty() {
        *slot = Some(value.to_owned());
    }
}
