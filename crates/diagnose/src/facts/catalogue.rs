//! The catalogue of questions: of each what it takes and gives, which evidence answers it, how its answer is
//! worded, and how to get what it needs.
//!
//! A new question is one row here, and the code that answers it beside the others of its family. The places in
//! braces are filled by `wording`.

use Argument::{
    Column, Functions, KstatName, KstatSource, Least, List, Parameter, Pointer, Property, Row, Text, Threads,
    Tool, Version,
};

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Function patterns: `ccm_*|aes_xor_block`.
    Functions,
    /// Thread name patterns without number: `z_wr_iss|z_wr_int`.
    Threads,
    Stage,
    Label,
    /// Path below the kstat directory: `arcstats`, `*/txgs`.
    KstatSource,
    KstatName,
    Parameter,
    Property,
    /// The table of a tool: `zpool iostat*`.
    Tool,
    /// A column of that table.
    Column,
    /// A cell of the row that is meant.
    Row,
    /// Any text with `*`.
    Text,
    /// `<0.8.4`, `>=2.1,<2.3`
    Version,
    /// JSON pointer into facts.json: `/zfs/in_use`.
    Pointer,
    /// The least part of busy CPU that counts: `2 %`.
    Least,
    /// One of [`LISTS`].
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// 0 to 1
    Share,
    Number,
    Truth,
    Text,
    Any,
}

/// Which evidence answers a question, and thereby which code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Stacks,
    /// Functions of which there is but the name.
    Names,
    Threads,
    Waits,
    /// All samples together.
    Samples,
    Kstats,
    Parameters,
    Properties,
    /// Releases, system and CPU: they say what may be wrong with a host, not what is slow on it.
    Host,
    Tables,
    Lists,
    Facts,
}

/// Kinds of evidence that are independent of each other: what one shows, another need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Stacks,
    Threads,
    Waiting,
    Kstats,
    Tables,
    Settings,
}

impl Family {
    pub fn kind(self) -> Kind {
        match self {
            Family::Stacks | Family::Names | Family::Samples => Kind::Stacks,
            Family::Threads => Kind::Threads,
            Family::Waits => Kind::Waiting,
            Family::Kstats => Kind::Kstats,
            Family::Tables => Kind::Tables,
            Family::Parameters | Family::Properties | Family::Host | Family::Lists | Family::Facts => {
                Kind::Settings
            }
        }
    }
}

/// One row of [`CATALOGUE`].
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    pub function: Function,
    pub name: &'static str,
    pub family: Family,
    pub arguments: &'static [Argument],
    /// May follow them.
    pub optional: &'static [Argument],
    /// The argument that the answer is about.
    pub subject: usize,
    pub result: ResultKind,
    pub what: &'static str,
    /// The answer in words.
    pub says: &'static str,
    /// The same where the answer is no.
    pub denies: &'static str,
    /// What a share is of.
    pub of: &'static str,
    /// A command that gets what the question needs, or what to do for it; empty where the arguments name nothing.
    pub get: &'static str,
}

pub const OF_BUSY: &str = "of busy CPU";
const RECORD: &str = "record call graphs while it happens: zwhy record -a -d 30 -o host.zwhy";
const CAPTURE: &str = "zwhy record -a -d 30 -o host.zwhy";
const TOP: &str = "CPU of each thread while it happens: top -H -b -n 1";
const STUCK: &str = "what the stuck threads wait in: cat /proc/PID/stack, or echo w > /proc/sysrq-trigger";

/// What `count` knows, and how to get each.
pub const LISTS: [(&str, &str); 5] = [
    ("pools", CAPTURE),
    ("vdevs", CAPTURE),
    ("datasets", "zfs list -H -o name | wc -l"),
    ("snapshots", "zfs list -H -t snapshot -o name | wc -l"),
    ("mounts", CAPTURE),
];

/// A row with what most of its family share.
const fn row(
    name: &'static str,
    family: Family,
    arguments: &'static [Argument],
    result: ResultKind,
    what: &'static str,
) -> Signature {
    let (says, get) = match family {
        Family::Stacks | Family::Samples => ("{0}", RECORD),
        Family::Names => ("{names 0} named", RECORD),
        Family::Threads => ("{threads}", TOP),
        Family::Waits => ("{names 0}", STUCK),
        Family::Kstats => ("{0}.{1} = {value}", "cat /proc/spl/kstat/zfs/{0}"),
        Family::Parameters => ("{setting} = {value}", "cat /sys/module/*/parameters/{first 0}"),
        Family::Properties => ("{0} = {value}", "zfs get -t filesystem,volume {0}"),
        Family::Host => ("{0}", "uname -a"),
        Family::Tables => ("{question} = {value}", "the output of {tool}"),
        Family::Lists => ("{whole} {0}", "{list}"),
        Family::Facts => ("{setting}: {value}", CAPTURE),
    };
    // Each row is given its own function below.
    let function = Function::Share;
    let of = OF_BUSY;
    Signature {
        function,
        name,
        family,
        arguments,
        optional: &[],
        subject: 0,
        result,
        what,
        says,
        denies: says,
        of,
        get,
    }
}

const fn share(name: &'static str, arguments: &'static [Argument], what: &'static str) -> Signature {
    row(name, Family::Stacks, arguments, ResultKind::Share, what)
}

const fn truth(
    name: &'static str,
    family: Family,
    arguments: &'static [Argument],
    what: &'static str,
) -> Signature {
    row(name, family, arguments, ResultKind::Truth, what)
}

const fn number(
    name: &'static str,
    family: Family,
    arguments: &'static [Argument],
    what: &'static str,
) -> Signature {
    row(name, family, arguments, ResultKind::Number, what)
}

impl Signature {
    const fn says(self, says: &'static str) -> Signature {
        Signature { says, denies: says, ..self }
    }

    const fn denies(self, denies: &'static str) -> Signature {
        Signature { denies, ..self }
    }

    const fn of(self, of: &'static str) -> Signature {
        Signature { of, ..self }
    }

    const fn get(self, get: &'static str) -> Signature {
        Signature { get, ..self }
    }

    const fn or_least(self) -> Signature {
        Signature { optional: &[Least], ..self }
    }

    const fn about(self, subject: usize) -> Signature {
        Signature { subject, ..self }
    }

    const fn named(self, function: Function) -> Signature {
        Signature { function, ..self }
    }

    /// Arguments that must be there, then those that may.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Argument> {
        self.arguments.iter().chain(self.optional)
    }

    /// Positions of arguments of a kind.
    pub fn places(&self, kind: Argument) -> impl Iterator<Item = usize> {
        let of_kind = move |(at, argument): (usize, &Argument)| (*argument == kind).then_some(at);
        self.arguments.iter().enumerate().filter_map(of_kind)
    }
}

macro_rules! questions {
    ($($variant:ident = $row:expr;)*) => {
        /// Every function of the condition language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($variant),* }

        /// The catalogue, for parsing, answering, wording, lint and the field guide.
        pub const CATALOGUE: &[Signature] = &[$($row.named(Function::$variant)),*];
    };
}

questions! {
    Share = share("share", &[Functions], "part of busy CPU in these functions or anything they call")
        .says("{names 0}");
    SelfShare = share("self_share", &[Functions], "part of busy CPU in these functions themselves")
        .says("{names 0}");
    Under = share("under", &[Functions, Functions], "part of busy CPU in the first functions when called, at any depth, by the second")
        .says("{names 0} below {names 1}");
    PartOf = share("part_of", &[Functions, Functions], "of the CPU of the second functions, the part spent in the first below them")
        .says("{names 0}").of("of the CPU of {names 1}");
    UnderNot = share("under_not", &[Functions, Functions, Functions], "as under, in stacks where the third functions are not above the first")
        .says("{names 0} below {names 1} and not below {list 2}");
    CalledBy = share("called_by", &[Functions, Functions], "part of busy CPU in the first functions when the second are their direct callers")
        .says("{names 0} called directly by {names 1}");
    Calls = truth("calls", Family::Stacks, &[Functions, Functions], "a stack shows the first functions calling, at any depth, the second; of samples only from a part of busy CPU on: the figure, else 1 %")
        .or_least().about(1)
        .says("{names 0} {calls} {names 1}{least}").denies("{0} does not call {1}{least}");
    Seen = truth("seen", Family::Stacks, &[Functions], "one of these functions is seen anywhere: on CPU, waiting, or counted; of samples only from a part of busy CPU on: the figure, else 1 %")
        .or_least().says("{names 0} seen{least}").denies("{names 0} not seen{least}");
    Named = truth("named", Family::Names, &[Functions], "somebody names one of these functions without any figure")
        .denies("{names 0} not named");
    Stage = share("stage", &[Argument::Stage], "part of busy CPU in a stage");
    Label = share("label", &[Argument::Label], "part of busy CPU in generic work (lock, copy, FPU state) called by ZFS");
    LabelIn = share("label_in", &[Argument::Label, Argument::Stage], "of the CPU of a stage, the part in generic work of a label")
        .of("of the CPU of stage {1}");
    InThread = share("in_thread", &[Functions, Threads], "part of busy CPU in these functions on these threads")
        .says("{names 0} on {1}");
    ThreadShare = row("thread_share", Family::Threads, &[Threads], ResultKind::Share, "part of busy CPU on these threads")
        .says("{0}").get(RECORD);
    ThreadCpu = number("thread_cpu", Family::Threads, &[Threads], "CPUs' worth of time of these threads together; 1 is one CPU full")
        .says("{threads}{many}: {share} of one CPU");
    ThreadMax = number("thread_max", Family::Threads, &[Threads], "the same of the busiest one")
        .says("the busiest {threads}: {share} of one CPU");
    ThreadCount = number("thread_count", Family::Threads, &[Threads], "how many of these threads are listed")
        .says("{0}: {whole} threads");
    ThreadNice = number("thread_nice", Family::Threads, &[Threads], "lowest nice value of these threads: -20 is served first, 19 last")
        .says("nice value of {threads}: {whole}");
    ThreadSeen = truth("thread_seen", Family::Threads, &[Threads], "one of these threads is named without a figure, or takes at least 2 %")
        .says("thread {threads}").denies("no thread {0}");
    ThreadNamed = truth("thread_named", Family::Threads, &[Threads], "somebody names one of these threads without any figure")
        .says("thread {threads} named").denies("thread {threads} not named");
    Waits = truth("waits", Family::Waits, &[Functions], "a waiting stack contains one of these functions")
        .says("thread waits in {names 0}").denies("no thread waits in {names 0}");
    WaitShare = row("wait_share", Family::Waits, &[Functions], ResultKind::Share, "part of waiting time in these functions")
        .of("of waiting time");
    SlowDisk = number("slow_disk", Family::Waits, &[], "how many times as long an operation takes on the slowest disk of a pool as on the next slowest, by the kernel's counters; 1 where none is both busy and slow")
        .says("no disk of a pool is busy and slower than the others").get(CAPTURE);
    Busy = row("busy", Family::Samples, &[], ResultKind::Share, "part of CPU samples that were not idle")
        .says("{share} of CPU samples are not idle");
    KernelShare = row("kernel_share", Family::Samples, &[], ResultKind::Share, "part of busy CPU spent in the kernel")
        .says("{share} of busy CPU is spent in the kernel");
    Kstat = number("kstat", Family::Kstats, &[KstatSource, KstatName], "last value of a kstat; the largest where * matches several");
    Rate = number("rate", Family::Kstats, &[KstatSource, KstatName], "growth of a kstat a second")
        .says("{0}.{1}: {value} a second").get("cat /proc/spl/kstat/zfs/{0} twice, ten seconds apart");
    Param = number("param", Family::Parameters, &[Parameter], "a module parameter as a number");
    Chosen = row("chosen", Family::Parameters, &[Parameter], ResultKind::Text, "a module parameter as text; of `cycle [fastest] avx` what is in brackets");
    Offered = truth("offered", Family::Parameters, &[Parameter, Text], "a parameter that lists choices, as `cycle [fastest] generic avx`, has such a one")
        .says("{setting} offers {1}").denies("{setting} offers no {1}");
    Picked = truth("picked", Family::Parameters, &[Parameter], "this parameter is among at most six that somebody picked out")
        .says("{setting} looked at").denies("{setting} not looked at");
    Prop = truth("prop", Family::Properties, &[Property, Text], "some dataset or pool has this property with a value like that")
        .says("{0} is {property}").denies("{0} is not {or 1}");
    PropNumber = number("prop_number", Family::Properties, &[Property], "the largest value of a property, as a number");
    ZfsVersion = truth("zfs", Family::Host, &[Version], "the OpenZFS version")
        .says("OpenZFS {zfs}").get("zfs version");
    KernelVersion = truth("kernel", Family::Host, &[Version], "the kernel version")
        .says("kernel {kernel}");
    Os = truth("os", Family::Host, &[Text], "the operating system, or the kernel's name, is like that")
        .says("{os} {kernel}");
    Arch = truth("arch", Family::Host, &[Text], "the instruction set: x86_64, aarch64, arm, x86, powerpc64, s390x, riscv64, sparc64")
        .says("the host is {arch}").denies("the host is {arch}").get("uname -m");
    CpuFlag = truth("cpu_flag", Family::Host, &[Text], "the CPU has this feature flag")
        .says("this CPU has {0}").denies("this CPU has no {0}").get("lscpu");
    CpuModel = truth("cpu_model", Family::Host, &[Text], "the CPU is called like that")
        .says("{cpu}").get("lscpu");
    Table = truth("table", Family::Tables, &[Tool], "there is a table of a tool called like that");
    ColumnMax = number("column_max", Family::Tables, &[Tool, Column], "largest number in a column of such tables");
    ColumnMin = number("column_min", Family::Tables, &[Tool, Column], "smallest number in a column of such tables");
    ColumnSum = number("column_sum", Family::Tables, &[Tool, Column], "sum of a column of such tables");
    Cell = number("cell", Family::Tables, &[Tool, Row, Column], "number in the row whose some cell is like the second, in the column like the third")
        .says("{0}, {2} of {1} = {value}");
    CellText = row("cell_text", Family::Tables, &[Tool, Row, Column], ResultKind::Text, "the same cell as text")
        .says("{0}, {2} of {1} = {value}");
    ColumnHas = truth("column_has", Family::Tables, &[Tool, Column, Text], "some cell of a column of such tables is like the third")
        .says("{1} of {0} has {2}").denies("{1} of {0} has no {2}");
    Compared = truth("compared", Family::Tables, &[Parameter], "a table has runs with different values of this setting, and what was measured differs by a fifth or more")
        .says("results differ between runs with different {0}").denies("results do not differ between runs with different {0}")
        .get("the same load with another {0}");
    Better = truth("better", Family::Tables, &[Parameter, Text], "a table has runs with different values of this setting, and such a value gave results that are better by a fifth or more; unknown where what was measured does not tell which is better")
        .says("results are better with {0} {or 1}").denies("results are not better with {0} {or 1}")
        .get("the same load with another {0}");
    Growth = number("growth", Family::Tables, &[Tool, Column, Column], "exponent with which the second column grows with the first: 1 linear, 2 quadratic");
    Count = number("count", Family::Lists, &[List], "how many of a list there are: pools, vdevs, datasets, snapshots, mounts");
    Fact = row("fact", Family::Facts, &[Pointer], ResultKind::Any, "a canonical fact, of any source; in the table of facts a member of facts.json by JSON pointer");
}
