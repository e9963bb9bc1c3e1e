//! Taking away what killed experiments left on this host.

use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args, Debug)]
pub struct CleanupArgs {
    /// Folder of the journals, as it was given to lab run.
    #[arg(long, value_name = "DIR", default_value = zwhy_lab::JOURNALS)]
    journal: PathBuf,
}

/// Exit status 1 when something stays.
pub fn run(args: &CleanupArgs) -> Result<ExitCode> {
    let cleaned = zwhy_lab::cleanup(&args.journal)?;
    let mut lines = Vec::new();
    for run in &cleaned {
        lines.extend(run.done.iter().map(|done| format!("ok    {done}")));
        lines.extend(run.left.iter().map(|left| format!("LEFT  {left}")));
    }
    if lines.is_empty() {
        lines.push(format!(
            "Nothing of the lab is left on this host, by the journals in {}.",
            args.journal.display()
        ));
    }
    let text = zwhy_report::plain_lines(&lines.join("\n"));
    output::print(&format!("{text}\n"))?;
    let clean = cleaned.iter().all(|run| run.left.is_empty());
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
