//! Reading kept pools back.

use crate::{output, stop};
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use zwhy_lab::{ChildProgram, Verified, VerifyOptions};

#[derive(clap::Args, Debug)]
pub struct VerifyArgs {
    /// Output folder of an experiment that was run with --keep.
    folder: PathBuf,
    /// By OpenZFS alone: nothing of the lab is loaded into it. Without this the data is read through the provider too.
    #[arg(long)]
    stock: bool,
    /// The libzpool that reads, instead of the one that wrote.
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// A pool that says nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(120);

/// Exit status 1 when a byte is wrong, a pool cannot be read, or zdb finds fault with it.
pub fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let options = VerifyOptions {
        stock: args.stock,
        library: args.library.clone(),
        child: ChildProgram::this([super::CHILD]),
        silence: SILENCE,
        cancel: stop::flag()?,
    };
    let verified = zwhy_lab::verify(&args.folder, &options)?;
    if args.json {
        output::print(&(serde_json::to_string_pretty(&verified)? + "\n"))?;
    } else {
        let lines: Vec<String> = verified.iter().map(line).collect();
        output::print(&format!("{}\n", zwhy_report::plain_lines(&lines.join("\n"))))?;
        if verified.iter().all(|pool| pool.zdb.is_none()) {
            output::note("zdb was not found (Debian: zfsutils-linux); blocks were not walked by it");
        }
    }
    Ok(if verified.iter().all(Verified::is_good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `ok    isal 1: 8.4 MB as written; zdb: every block is right`
fn line(pool: &Verified) -> String {
    let word = if pool.is_good() { "ok   " } else { "FAIL " };
    let bytes = match &pool.bytes {
        Ok(bytes) => format!("{:.1} MB, every byte as it was written", *bytes as f64 / 1e6),
        Err(error) => error.clone(),
    };
    let zdb = match &pool.zdb {
        None => String::new(),
        Some(Ok(())) => "; zdb: all blocks are right".into(),
        Some(Err(error)) => format!("; zdb: {error}"),
    };
    format!("{word} {} {}: {bytes}{zdb}", pool.variant, pool.repetition)
}
