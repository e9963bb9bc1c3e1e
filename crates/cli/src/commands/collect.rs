//! `zwhy collect`: scripts that collect what zwhy explains, for hosts on which it is not installed.

use crate::output;
use anyhow::Result;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print the script for this system. It needs only sh and the tools of the system, changes nothing, and writes one
    /// text that zwhy explain reads.
    #[arg(long, value_name = "SYSTEM")]
    print: System,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum System {
    /// Linux without perf and without anything to install.
    LinuxMinimal,
    /// FreeBSD: sysctl, procstat, top, and DTrace where it is allowed.
    Freebsd,
    /// illumos: kstat, prstat, mdb, and DTrace where it is allowed.
    Illumos,
}

pub fn run(args: &Args) -> Result<()> {
    let script = match args.print {
        System::LinuxMinimal => include_str!("../../collect/linux-minimal.sh"),
        System::Freebsd => include_str!("../../collect/freebsd.sh"),
        System::Illumos => include_str!("../../collect/illumos.sh"),
    };
    // What they share stands in each, so that there is one file to copy.
    output::print(&script.replace(". ./limited.sh\n", include_str!("../../collect/limited.sh")))
}
