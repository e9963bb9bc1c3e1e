//! Examples of every command, for `--help`, the manual and the tests that parse them.

use clap::Command;

/// One line as it is typed, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Ends without a full stop; a colon follows.
    pub what: &'static str,
    pub line: &'static str,
}

/// The examples of a command, by its words after `zwhy`: `record`, `lab run`; the program's own by the empty text.
pub fn examples_of(path: &str) -> Vec<Example> {
    let of = EXAMPLES.iter().filter(|(words, ..)| *words == path);
    of.map(|(_, what, line)| Example { what, line }).collect()
}

/// The definition with the examples of each command below its options.
pub fn add(program: Command) -> Command {
    add_below(program, "")
}

fn add_below(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name()).trim_start().to_owned();
        add_below(sub, &path)
    });
    match examples_of(path) {
        none if none.is_empty() => command,
        examples => command.after_help(text(&examples)),
    }
}

fn text(examples: &[Example]) -> String {
    let mut text = "Examples:".to_owned();
    for example in examples {
        text.push_str(&format!("\n  {}:\n    {}", example.what, example.line));
    }
    text
}

/// Command, what the example is for, the line.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("record", "The whole host for a minute", "zwhy record -a -d 60 -o host.zwhy"),
    (
        "record",
        "A command, with user code and what it has the kernel do",
        "zwhy record -o send.zwhy -- zfs send -n tank/data@now",
    ),
    (
        "record",
        "A host that is slow while its CPUs are idle: where threads wait",
        "zwhy record -a --off-cpu -d 30 -o waits.zwhy",
    ),
    (
        "record",
        "The last minute before something that is rare",
        "zwhy record -a --last 60s --trigger 'arc_evict cpu > 50%' -o rare.zwhy",
    ),
    ("top", "The host as it works, until q", "zwhy top"),
    ("top", "Ten seconds of it for a script", "zwhy top --once --json"),
    ("top", "With how long requests of pools and vdevs took", "zwhy top --once --latency"),
    ("top", "A capture again, in its own time", "zwhy top host.zwhy"),
    ("agent", "All the time, keeping the last two days", "zwhy agent --keep 2d"),
    ("agent status", "Does it run, what is kept, what was found", "zwhy agent status"),
    ("agent capture", "The last ten minutes", "zwhy agent capture --last 10m -o now.zwhy"),
    (
        "agent capture",
        "Half an hour that ended six hours ago",
        "zwhy agent capture --last 30m --before 6h -o night.zwhy",
    ),
    ("count", "A function of the kernel, by caller", "zwhy count zio_read -d 10"),
    (
        "count",
        "Does the work of one unmount grow with the number of mounted file systems",
        "zwhy count strcmp --per zfs_unmount_snap -- zfs destroy tank@%",
    ),
    ("explain", "Why, with evidence and remedy", "zwhy explain host.zwhy"),
    ("explain", "For an issue thread, without names", "zwhy explain --redact --markdown host.zwhy"),
    ("explain", "Whether a change helped", "zwhy explain before.zwhy --after after.zwhy"),
    (
        "explain",
        "What a device for it could bring at most",
        "zwhy explain host.zwhy --what-if offload=compress",
    ),
    ("explain", "The profile of another tool, or text that was pasted into a file", "zwhy explain perf.data"),
    ("report", "One page that opens without a network", "zwhy report host.zwhy -o host.html"),
    ("view", "The same page without a file, for this machine only", "zwhy view host.zwhy"),
    ("view", "Two captures and their comparison", "zwhy view before.zwhy after.zwhy"),
    ("flame", "A picture", "zwhy flame host.zwhy -o host.svg"),
    ("flame", "Where threads wait, as a page", "zwhy flame --event wait waits.zwhy -o waits.html"),
    (
        "top-functions",
        "The ten functions with the most CPU time of their own",
        "zwhy top-functions -n 10 host.zwhy",
    ),
    (
        "diff",
        "What really changed, with a differential flame graph",
        "zwhy diff before.zwhy after.zwhy -o change.html",
    ),
    ("import", "Files of several tools as one capture", "zwhy import perf.data iostat.txt -o host.zwhy"),
    (
        "import",
        "A perf.data with the names of this host, to be read elsewhere",
        "zwhy import --bundle perf.data -o perf.zip",
    ),
    ("export", "Folded stacks on standard output", "zwhy export host.zwhy"),
    ("export", "For speedscope", "zwhy export host.zwhy --format speedscope -o host.speedscope.json"),
    (
        "lab",
        "What cipher and mode cost here, in about a minute",
        "zwhy lab run encryption --quick -o encryption",
    ),
    ("share", "For an issue thread: both files can be sent", "zwhy share host.zwhy -o shared.zwhy"),
    ("lab", "The experiments that are built in", "zwhy lab list"),
    ("lab list", "The experiments that are built in", "zwhy lab list"),
    ("lab show", "What an experiment does and takes, before it runs", "zwhy lab show encryption"),
    (
        "lab run",
        "What cipher and mode cost here, in about a minute",
        "zwhy lab run encryption --quick -o encryption",
    ),
    (
        "lab run",
        "Other values of a setting, five runs of each",
        "zwhy lab run recordsize --set recordsize=16K,128K,1M --repeats 5 -o sizes",
    ),
    (
        "lab run",
        "What another recordsize would cost with the settings and the I/O sizes of a recorded host",
        "zwhy lab run recordsize --like host.zwhy -o like-host",
    ),
    (
        "lab run",
        "On the OpenZFS of this host's kernel, as root",
        "zwhy lab run encryption --engine pool -o kernel",
    ),
    ("lab resume", "Go on after a kill", "zwhy lab resume encryption"),
    ("lab result", "The tables again", "zwhy lab result encryption"),
    ("lab check", "Did it show what it should", "zwhy lab check encryption"),
    (
        "lab report",
        "The result as one page that opens without a network",
        "zwhy lab report encryption -o encryption.html",
    ),
    ("lab verify", "Every byte of the pools of a run with --keep", "zwhy lab verify encryption --stock"),
    ("lab compare", "Two machines, or before and after an update", "zwhy lab compare old new"),
    ("lab cleanup", "After a run with --engine pool was killed", "zwhy lab cleanup"),
    ("limits", "What one CPU of this machine can do", "zwhy limits"),
    ("limits", "After an update of firmware or kernel", "zwhy limits --fresh"),
    ("ask", "Choose what is wrong, and go through the commands", "zwhy ask"),
    ("ask", "Keep what is pasted for zwhy explain", "zwhy ask -o notes.txt"),
    ("collect", "A host where nothing may be installed", "zwhy collect --print linux-minimal > collect.sh"),
    ("collect", "FreeBSD", "zwhy collect --print freebsd > collect.sh"),
    ("doctor", "What can be recorded here", "zwhy doctor"),
    ("doctor", "Only the commands that help", "zwhy doctor --fix-hints"),
    ("knowledge", "The causes, one a line", "zwhy knowledge list"),
    ("knowledge", "All of one cause", "zwhy knowledge show crypto-ccm-not-accelerated"),
    ("knowledge list", "The causes, one a line", "zwhy knowledge list"),
    ("knowledge show", "All of one cause", "zwhy knowledge show crypto-ccm-not-accelerated"),
    ("knowledge lint", "Check causes of your own", "zwhy knowledge lint --knowledge my-knowledge"),
    ("knowledge unknown", "Functions of ZFS that no stage has yet", "zwhy knowledge unknown host.zwhy"),
    ("knowledge book", "The causes as a book", "zwhy knowledge book -o guide"),
    ("help", "Which user may record what", "zwhy help privileges"),
    ("help", "All options of a command", "zwhy help lab run"),
];
