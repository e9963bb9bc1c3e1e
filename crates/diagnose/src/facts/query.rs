//! The questions that a sign may ask of the evidence, as causes write them: `share('zio_*')`.
//!
//! Arguments are literals, so every question of every cause is known before any evidence is read:
//! each distinct one is answered once, and lint can check all of them.

use super::version::Requirement;
use crate::pattern::Pattern;

macro_rules! functions {
    ($($variant:ident $name:literal ($($argument:ident),*) -> $result:ident, $what:literal;)*) => {
        /// Every function of the condition language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($variant),* }

        /// The catalogue, for parsing, lint and the field guide.
        pub const CATALOGUE: &[Signature] = &[$(Signature {
            function: Function::$variant,
            name: $name,
            arguments: &[$(Argument::$argument),*],
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
    pub result: ResultKind,
    pub what: &'static str,
}

functions! {
    Share "share" (Functions) -> Share, "part of busy CPU in these functions or anything they call";
    SelfShare "self_share" (Functions) -> Share, "part of busy CPU in these functions themselves";
    Under "under" (Functions, Functions) -> Share, "part of busy CPU in the first functions when called, at any depth, by the second";
    PartOf "part_of" (Functions, Functions) -> Share, "of the CPU of the second functions, the part spent in the first below them";
    Calls "calls" (Functions, Functions) -> Truth, "a stack shows the first functions calling, at any depth, the second";
    Seen "seen" (Functions) -> Truth, "one of these functions is seen anywhere: on CPU, waiting, or counted";
    Stage "stage" (Stage) -> Share, "part of busy CPU in a stage";
    Label "label" (Label) -> Share, "part of busy CPU in generic work (lock, copy, FPU state) called by ZFS";
    LabelIn "label_in" (Label, Stage) -> Share, "of the CPU of a stage, the part in generic work of a label";
    InThread "in_thread" (Functions, Threads) -> Share, "part of busy CPU in these functions on these threads";
    ThreadShare "thread_share" (Threads) -> Share, "part of busy CPU on these threads";
    ThreadCpu "thread_cpu" (Threads) -> Number, "CPUs' worth of time of these threads together; 1 is one CPU full";
    ThreadMax "thread_max" (Threads) -> Number, "the same of the busiest one";
    ThreadCount "thread_count" (Threads) -> Number, "how many of these threads are listed";
    ThreadSeen "thread_seen" (Threads) -> Truth, "one of these threads is named without a figure, or takes at least 2 %";
    Waits "waits" (Functions) -> Truth, "a waiting stack contains one of these functions";
    WaitShare "wait_share" (Functions) -> Share, "part of waiting time in these functions";
    Busy "busy" () -> Share, "part of CPU samples that were not idle";
    KernelShare "kernel_share" () -> Share, "part of busy CPU spent in the kernel";
    Kstat "kstat" (KstatSource, KstatName) -> Number, "last value of a kstat; the largest where * matches several";
    Rate "rate" (KstatSource, KstatName) -> Number, "growth of a kstat a second";
    Param "param" (Parameter) -> Number, "a module parameter as a number";
    Chosen "chosen" (Parameter) -> Text, "a module parameter as text; of `cycle [fastest] avx` what is in brackets";
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
    Growth "growth" (Text, Text, Text) -> Number, "exponent with which the second column grows with the first: 1 linear, 2 quadratic";
    Fact "fact" (Pointer) -> Any, "a fact of the capture by JSON pointer";
}

/// One question with its arguments, ready to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub function: Function,
    pub arguments: Vec<String>,
    /// The arguments as patterns, by position.
    pub patterns: Vec<Pattern>,
    pub requirement: Option<Requirement>,
}

impl Query {
    /// # Errors
    /// A sentence that says what is wrong with the call.
    pub fn new(name: &str, arguments: Vec<String>) -> Result<Query, String> {
        let Some(signature) = CATALOGUE.iter().find(|s| s.name == name) else {
            return Err(format!("no function is called `{name}`"));
        };
        if arguments.len() != signature.arguments.len() {
            let (want, got) = (signature.arguments.len(), arguments.len());
            return Err(format!("`{name}` takes {want} arguments, not {got}"));
        }
        let mut requirement = None;
        for (argument, kind) in arguments.iter().zip(signature.arguments) {
            if argument.trim().is_empty() {
                return Err(format!("`{name}` has an empty argument"));
            }
            if *kind == Argument::Version {
                requirement = Requirement::parse(argument);
                if requirement.is_none() {
                    return Err(format!("`{argument}` is not a version requirement such as <0.8.4"));
                }
            }
        }
        let patterns = arguments.iter().map(|a| Pattern::new(a)).collect();
        Ok(Query { function: signature.function, arguments, patterns, requirement })
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
