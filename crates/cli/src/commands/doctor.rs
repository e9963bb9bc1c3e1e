//! `zwhy doctor`: what can be recorded here, and how to fix what is missing.

use crate::output;
use anyhow::Result;
use std::process::ExitCode;
use zwhy_host::doctor::{Distro, examine};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Give the remedies of this distribution instead of the host's own.
    #[arg(long, value_name = "NAME", value_parser = distro)]
    distro: Option<Distro>,
    /// Print only the commands that help, to be copied; nothing is changed by itself.
    #[arg(long, conflicts_with = "json")]
    fix_hints: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn distro(name: &str) -> Result<Distro, String> {
    Distro::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Distro::ALL.iter().map(|d| d.name()).collect();
        format!("no distribution is called `{name}`; one of {}", names.join(", "))
    })
}

/// Exits with 0 when everything can be recorded, with 1 when something is missing.
pub fn run(args: &Args) -> Result<ExitCode> {
    let doctor = examine(args.distro, zwhy_record::try_sampling);
    let text = if args.json {
        zwhy_report::doctor_json(&doctor)?
    } else if args.fix_hints {
        zwhy_report::doctor_commands(&doctor)
    } else {
        zwhy_report::doctor_text(&doctor, output::style())
    };
    output::print(&text)?;
    Ok(ExitCode::from(u8::from(!doctor.is_ready())))
}
