//! The questions that a sign may ask of the evidence, as causes write them: `share('zio_*')`.
//!
//! Arguments are literals, so every question of every cause is known before any evidence is read:
//! each distinct one is answered once, and lint can check all of them.

use super::version::Requirement;
use crate::pattern::Pattern;

macro_rules! functions {
    ($($variant:ident $name:literal ($($argument:ident),* $(; $optional:ident)?) -> $result:ident, $what:literal;)*) => {
        /// Every function of the condition language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($variant),* }

        /// The catalogue, for parsing, lint and the field guide.
        pub const CATALOGUE: &[Signature] = &[$(Signature {
            function: Function::$variant,
            name: $name,
            arguments: &[$(Argument::$argument),*],
            optional: &[$(Argument::$optional)?],
            result: ResultKind::$result,
            what: $what,
        }),*];
    };
}

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

/// One entry of [`CATALOGUE`].
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    pub function: Function,
    pub name: &'static str,
    pub arguments: &'static [Argument],
    /// May follow them.
    pub optional: &'static [Argument],
    pub result: ResultKind,
    pub what: &'static str,
}

functions! {
    Share "share" (Functions) -> Share, "part of busy CPU in these functions or anything they call";
    SelfShare "self_share" (Functions) -> Share, "part of busy CPU in these functions themselves";
    Under "under" (Functions, Functions) -> Share, "part of busy CPU in the first functions when called, at any depth, by the second";
    PartOf "part_of" (Functions, Functions) -> Share, "of the CPU of the second functions, the part spent in the first below them";
    UnderNot "under_not" (Functions, Functions, Functions) -> Share, "as under, in stacks where the third functions are not above the first";
    CalledBy "called_by" (Functions, Functions) -> Share, "part of busy CPU in the first functions when the second are their direct callers";
    Calls "calls" (Functions, Functions; Least) -> Truth, "a stack shows the first functions calling, at any depth, the second; of samples only from a part of busy CPU on: the figure, else 1 %";
    Seen "seen" (Functions; Least) -> Truth, "one of these functions is seen anywhere: on CPU, waiting, or counted; of samples only from a part of busy CPU on: the figure, else 1 %";
    Named "named" (Functions) -> Truth, "somebody names one of these functions without any figure";
    Stage "stage" (Stage) -> Share, "part of busy CPU in a stage";
    Label "label" (Label) -> Share, "part of busy CPU in generic work (lock, copy, FPU state) called by ZFS";
    LabelIn "label_in" (Label, Stage) -> Share, "of the CPU of a stage, the part in generic work of a label";
    InThread "in_thread" (Functions, Threads) -> Share, "part of busy CPU in these functions on these threads";
    ThreadShare "thread_share" (Threads) -> Share, "part of busy CPU on these threads";
    ThreadCpu "thread_cpu" (Threads) -> Number, "CPUs' worth of time of these threads together; 1 is one CPU full";
    ThreadMax "thread_max" (Threads) -> Number, "the same of the busiest one";
    ThreadCount "thread_count" (Threads) -> Number, "how many of these threads are listed";
    ThreadNice "thread_nice" (Threads) -> Number, "lowest nice value of these threads: -20 is served first, 19 last";
    ThreadSeen "thread_seen" (Threads) -> Truth, "one of these threads is named without a figure, or takes at least 2 %";
    ThreadNamed "thread_named" (Threads) -> Truth, "somebody names one of these threads without any figure";
    Waits "waits" (Functions) -> Truth, "a waiting stack contains one of these functions";
    WaitShare "wait_share" (Functions) -> Share, "part of waiting time in these functions";
    Busy "busy" () -> Share, "part of CPU samples that were not idle";
    KernelShare "kernel_share" () -> Share, "part of busy CPU spent in the kernel";
    Kstat "kstat" (KstatSource, KstatName) -> Number, "last value of a kstat; the largest where * matches several";
    Rate "rate" (KstatSource, KstatName) -> Number, "growth of a kstat a second";
    Param "param" (Parameter) -> Number, "a module parameter as a number";
    Chosen "chosen" (Parameter) -> Text, "a module parameter as text; of `cycle [fastest] avx` what is in brackets";
    Offered "offered" (Parameter, Text) -> Truth, "a parameter that lists choices, as `cycle [fastest] generic avx`, has such a one";
    Picked "picked" (Parameter) -> Truth, "this parameter is among at most a dozen that somebody picked out";
    Prop "prop" (Property, Text) -> Truth, "some dataset or pool has this property with a value like that";
    PropNumber "prop_number" (Property) -> Number, "the largest value of a property, as a number";
    ZfsVersion "zfs" (Version) -> Truth, "the OpenZFS version";
    KernelVersion "kernel" (Version) -> Truth, "the kernel version";
    Os "os" (Text) -> Truth, "the operating system, or the kernel's name, is like that";
    CpuFlag "cpu_flag" (Text) -> Truth, "the CPU has this feature flag";
    CpuModel "cpu_model" (Text) -> Truth, "the CPU is called like that";
    Table "table" (Text) -> Truth, "there is a table of a tool called like that";
    ColumnMax "column_max" (Text, Text) -> Number, "largest number in a column of such tables";
    ColumnMin "column_min" (Text, Text) -> Number, "smallest number in a column of such tables";
    ColumnSum "column_sum" (Text, Text) -> Number, "sum of a column of such tables";
    Cell "cell" (Text, Text, Text) -> Number, "number in the row whose some cell is like the second, in the column like the third";
    CellText "cell_text" (Text, Text, Text) -> Text, "the same cell as text";
    ColumnHas "column_has" (Text, Text, Text) -> Truth, "some cell of a column of such tables is like the third";
    Growth "growth" (Text, Text, Text) -> Number, "exponent with which the second column grows with the first: 1 linear, 2 quadratic";
    Count "count" (List) -> Number, "how many of a list there are: pools, vdevs, datasets, snapshots, mounts";
    Fact "fact" (Pointer) -> Any, "a canonical fact, of any source; in the table of facts a member of facts.json by JSON pointer";
}

/// One question with its arguments, ready to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub function: Function,
    pub arguments: Vec<String>,
    /// The arguments as patterns, by position.
    pub patterns: Vec<Pattern>,
    pub requirement: Option<Requirement>,
    /// Part of busy CPU, 0 to 1, from which `seen` and `calls` count.
    pub least: Option<f64>,
}

/// What `count` knows.
pub const LISTS: [&str; 5] = ["pools", "vdevs", "datasets", "snapshots", "mounts"];

/// `2 %`, `0.5%`: more than nothing and at most all.
fn least_share(text: &str) -> Option<f64> {
    let share = text.trim().strip_suffix('%')?.trim_end().parse::<f64>().ok()? / 100.0;
    (share > 0.0 && share <= 1.0).then_some(share)
}

impl Signature {
    /// Arguments that must be there, then those that may.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Argument> {
        self.arguments.iter().chain(self.optional)
    }
}

impl Query {
    /// # Errors
    /// A sentence that says what is wrong with the call.
    pub fn new(name: &str, arguments: Vec<String>) -> Result<Query, String> {
        let Some(signature) = CATALOGUE.iter().find(|s| s.name == name) else {
            return Err(format!("no function is called `{name}`"));
        };
        let (want, most) = (signature.arguments.len(), signature.arguments.len() + signature.optional.len());
        if !(want..=most).contains(&arguments.len()) {
            let or = if most > want { format!(" or {most}") } else { String::new() };
            return Err(format!("`{name}` takes {want}{or} arguments, not {}", arguments.len()));
        }
        let (mut requirement, mut least) = (None, None);
        for (argument, kind) in arguments.iter().zip(signature.kinds()) {
            if argument.trim().is_empty() {
                return Err(format!("`{name}` has an empty argument"));
            }
            if *kind == Argument::Version {
                requirement = Requirement::parse(argument);
                if requirement.is_none() {
                    return Err(format!("`{argument}` is not a version requirement such as <0.8.4"));
                }
            }
            if *kind == Argument::Least {
                least = Some(
                    least_share(argument)
                        .ok_or_else(|| format!("`{argument}` is not a part of busy CPU such as 2 %"))?,
                );
            }
            if *kind == Argument::List && !LISTS.contains(&argument.as_str()) {
                return Err(format!("`{argument}` is no list; there are {}", LISTS.join(", ")));
            }
        }
        let patterns = arguments.iter().map(|a| Pattern::new(a)).collect();
        Ok(Query { function: signature.function, arguments, patterns, requirement, least })
    }

    pub fn signature(&self) -> &'static Signature {
        // Every variant is in the catalogue, as one macro makes both.
        CATALOGUE.iter().find(|s| s.function == self.function).unwrap_or(&CATALOGUE[0])
    }

    /// The question as it was written.
    pub fn text(&self) -> String {
        let quoted: Vec<String> = self.arguments.iter().map(|a| format!("'{a}'")).collect();
        format!("{}({})", self.signature().name, quoted.join(", "))
    }

    pub(crate) fn argument(&self, at: usize) -> &str {
        self.arguments.get(at).map_or("", String::as_str)
    }
}
