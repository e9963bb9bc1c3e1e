//! `zwhy-fleet judge`: findings of units that agents shipped, or that older knowledge judged.

use super::ScopeArgs;
use crate::text::print;
use anyhow::Result;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Store, judge};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store: a folder, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    #[command(flatten)]
    scope: ScopeArgs,
}

pub async fn run(args: &Args) -> Result<()> {
    let store = Store::open(&args.store)?;
    let judged = judge(&store, &args.scope.scope(), &Knowledge::embedded()).await?;
    print(&format!("{judged} files were judged\n"))
}
