//! What a line of such lists is, and what a tool's first line says of those below it.

use zwhy_profile::Event;

/// What a tool's first line says of the stacks below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub event: Event,
    /// Every indented line below is of a stack, whatever its name.
    pub every_line: bool,
    /// Figures are times asleep, of so many nanoseconds each; 0 where they are counts.
    pub nanos: u64,
    /// The thread's name stands below the frames like one of them (offcputime before its `-`).
    pub name_is_last: bool,
    /// Stacks of the waker and of the one it woke, with a delimiter between.
    pub two_threads: bool,
}

/// One line.
pub(super) enum ListLine<'a> {
    Blank,
    /// A line that the tool prints before its output.
    Tool(Option<Told>),
    /// `^C`, `[...]`, `Detaching...`.
    Remark,
    /// `waker:  swapper/1`.
    Waker,
    /// Between the kernel's and the program's part of a stack, or those of two threads.
    Delimiter,
    /// A firing of a probe, before a stack without a count.
    Probe,
    Frame(&'a str),
    Thread {
        comm: &'a str,
        pid: i32,
    },
    Key(&'a str),
    Count(u64),
    Other,
}
