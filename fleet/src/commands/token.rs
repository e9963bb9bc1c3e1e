//! `zwhy-fleet token`: makes a token; the file gets its hash, and the terminal the token, once.

use crate::text::print;
use anyhow::{Context, Result};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use zwhy_fleet::serve::{Role, Token, draw, hash};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// The file of tokens, made where it is not there.
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Whose it is, for the audit log.
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What it may do: read answers, write what hosts send, or both.
    #[arg(long, value_name = "read|ingest|admin", value_parser = role)]
    role: Role,
    /// The only host that it may write.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

fn role(name: &str) -> Result<Role, String> {
    match name {
        "read" => Ok(Role::Read),
        "ingest" => Ok(Role::Ingest),
        "admin" => Ok(Role::Admin),
        _ => Err(format!("`{name}` is none of read, ingest and admin")),
    }
}

pub fn run(args: &Args) -> Result<()> {
    let token = draw()?;
    let kept =
        Token { name: args.name.clone(), role: args.role, host: args.host.clone(), sha256: hash(&token) };
    let line = serde_json::to_string(&kept)? + "\n";
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let at = args.tokens.display();
    let mut file = options.open(&args.tokens).with_context(|| format!("cannot open {at}"))?;
    file.write_all(line.as_bytes()).with_context(|| format!("cannot write {at}"))?;
    print(&format!("{token}\n"))
}
