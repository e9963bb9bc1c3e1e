//! A tool file as it is written: the keys of `knowledge/tools/*.toml` and what each means.

use super::columns::Columns;
use super::kind::Kind;
use super::template::{Pattern, Template};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One file: the blocks of output that a tool prints.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// One sentence: which tool, which releases, where its layout is known from.
    pub about: String,
    pub blocks: Vec<BlockSpec>,
    /// Text of the tool and what it must become.
    pub samples: Vec<SampleSpec>,
}

/// One kind of block: rows under a header, or lines of known shapes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSpec {
    /// What origins call it; the table's name where it is not given.
    pub what: Option<Template>,
    /// Blocks of a lower rank are tried first.
    #[serde(default = "usual_rank")]
    pub rank: u16,
    /// Name of the table that it becomes.
    pub table: Option<String>,
    /// Columns of the table, and the cell that each row has there; of a header where none are given.
    #[serde(default)]
    pub columns: Columns,
    pub header: Option<HeaderSpec>,
    #[serde(default)]
    pub rows: RowSpec,
    /// Shapes of lines, of blocks without a header.
    #[serde(default)]
    pub lines: Vec<LineSpec>,
    /// What each row becomes besides a row of the table.
    #[serde(default)]
    pub emit: Vec<EmitSpec>,
    /// The first line must look so.
    pub begins: Option<Pattern>,
    /// Blank lines may stand between its lines, two at most in a row.
    #[serde(default)]
    pub blanks: bool,
    /// Fewer rows than this are no such block.
    #[serde(default = "one")]
    pub min: usize,
    /// A line that is such a block even where it is shorter than `min`.
    pub alone: Option<Pattern>,
    /// Rows of one table; those after them make the next one.
    pub most: Option<usize>,
    /// Counts rows under a second table.
    pub tally: Option<TallySpec>,
}

fn one() -> usize {
    1
}

fn usual_rank() -> u16 {
    50
}

/// Words that are written with blanks between them.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub struct Split(pub Vec<String>);

impl From<String> for Split {
    fn from(text: String) -> Split {
        Split(text.split_whitespace().map(str::to_owned).collect())
    }
}

/// How a line of column names is told from any other line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeaderSpec {
    /// Alternatives of words that are all in the line, the first of them at its begin (`*` for any);
    /// `@name` is any of the names that `aliases` has under it.
    pub words: Vec<Split>,
    /// The whole line looks so.
    pub line: Option<Pattern>,
    /// No word of these is in the line.
    pub without: Vec<String>,
    /// Every word is one of these, separated by blanks.
    pub only: Split,
    /// Headings of all releases, separated by blanks: what signs can ask for.
    pub headings: Split,
    /// Two words at least are of these, separated by blanks.
    pub two_of: Split,
    /// A column's name and the headings it has in all releases and systems.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// A heading of the line above and the columns that stand below it.
    pub groups: BTreeMap<String, Columns>,
    /// Groups where no line above names them.
    pub usual_groups: Vec<String>,
    /// Lines that may stand above.
    pub above: Vec<Pattern>,
    /// One of `above` must be there.
    pub above_needed: bool,
    /// The first of these whose headings are there names the table.
    pub tables: Vec<(String, String)>,
    /// Headings of rows that stand without a header.
    pub layout: Split,
    /// A web page may have put a blank line below it.
    pub blank_below: bool,
    /// The header itself is left out of the columns: its first word (`avg-cpu:`).
    pub label: bool,
    /// Whether rows begin with the time of day.
    pub time: TimeOfDay,
    /// Characters between cells besides blanks.
    pub separators: String,
    /// One word of each of `words` that the line must hold; empty where one has none.
    #[serde(skip)]
    pub needles: OnceLock<Vec<String>>,
}

/// Whether rows begin with a time of day, which becomes the column `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeOfDay {
    #[default]
    Never,
    May,
    Must,
}

/// How a row is told from any other line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RowSpec {
    /// The whole line looks so.
    pub line: Option<Pattern>,
    /// Cells that a row may lack at its end.
    pub missing: usize,
    /// Words that a row may have beyond its columns; they belong to the last.
    pub extra: usize,
    /// Words beyond those are left out; else such a line is no row.
    pub cut: bool,
    /// The last column must be this one for that.
    pub extra_in: Option<String>,
    /// Part of the cells behind the first that are figures, 0 to 1; half of them where nothing is said.
    pub figures: Option<f64>,
    /// What counts as a figure besides those.
    pub value: Option<Pattern>,
    /// Lines between rows that belong to the block.
    pub between: Vec<Pattern>,
    /// Lines between rows that say nothing of use, and the reason to give for it.
    #[serde(deserialize_with = "by_pattern")]
    pub drop: Vec<(Pattern, String)>,
    /// Shape of the cells of a column.
    pub are: BTreeMap<String, Pattern>,
    /// A blank cell before the column of this number, where a row is one short.
    pub blank_at: Option<usize>,
    /// The header again begins the next block: each copy is of another time.
    pub once: bool,
    /// Name of the table when rows are indented more than the header.
    pub nested: Option<String>,
    /// A row that is not indented and called so is the heading of those below: their table is called NESTED HEADING.
    pub sections: Option<Pattern>,
    /// Where this column is 0 nothing happened, and the row's per cents (columns that end in `%`) say nothing.
    pub idle: Option<String>,
}

/// A table whose keys are patterns, in their order.
fn by_pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(Pattern, String)>, D::Error> {
    let table = BTreeMap::<String, String>::deserialize(deserializer)?;
    Ok(table.into_iter().map(|(pattern, text)| (pattern.into(), text)).collect())
}

/// One shape of a line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSpec {
    /// A regular expression; its groups are the cells. Over several lines with `\n` in it.
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// Lines that the pattern may take together.
    #[serde(default = "one")]
    pub span: usize,
    /// Pattern of a figure and its name, again and again in the line: a row whose columns are the names.
    pub pairs: Option<PairSpec>,
    /// The line begins a section called so; `{section}` in cells.
    pub section: Option<Template>,
    /// The line is read but not used, for this reason.
    pub drop: Option<String>,
    /// The last command line must look so.
    pub command: Option<Pattern>,
    /// Cells of the row, one a column, instead of what `columns` says.
    pub cells: Option<Vec<Template>>,
    /// The line is no row of the table.
    #[serde(default)]
    pub no_row: bool,
    #[serde(default)]
    pub emit: Vec<EmitSpec>,
}

/// Figures with names behind (or before) them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSpec {
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// The column's name; `{1}`, `{2}` are groups of the pair.
    pub name: Template,
    pub value: Template,
    #[serde(default)]
    pub kind: Kind,
    /// Names to use for those of the tool; others are left out where there is any.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

/// What else a row becomes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmitSpec {
    pub to: Target,
    /// Source of a kstat, dataset of a property.
    #[serde(default)]
    pub of: Template,
    pub name: Template,
    pub value: Template,
    #[serde(default)]
    pub kind: Kind,
    /// Nice value of a thread.
    #[serde(default)]
    pub nice: Template,
    /// The tool's names (in lower case) and ours; what is not there says nothing of use.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Text to replace in names.
    #[serde(default)]
    pub replace: BTreeMap<String, String>,
    /// Patterns that the values must have.
    #[serde(default)]
    pub when: BTreeMap<String, Pattern>,
    /// Of which rows.
    #[serde(default)]
    pub rows: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Kstat,
    Parameter,
    Property,
    Thread,
    Waiting,
    /// A fact of the host: `name` is `zfs`, `kernel`, `os`, `host`, `cpu`, `flags`.
    Host,
}

/// Rows that are emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    #[default]
    Each,
    /// The last row.
    Last,
    /// All rows of the time that the last row has.
    Interval,
    /// Rows that are not indented more than the header.
    Top,
}

/// Rows counted by a part of a cell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TallySpec {
    pub table: String,
    /// First group of this pattern in the first cell is what is counted.
    pub by: Pattern,
    pub columns: [String; 2],
}

/// A text as the tool prints it, and lines that reading it must give.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleSpec {
    pub text: String,
    /// Cells (`TABLE / ROW / COLUMN = VALUE`), `kstat SOURCE NAME = VALUE`, `parameter NAME = VALUE`,
    /// `property DATASET NAME = VALUE`, `thread NAME = CPU`, `waiting NAME = FRAMES`, `host FIELD = VALUE`.
    #[serde(default)]
    pub gives: Vec<String>,
    /// Nothing may be read from it: text that only looks like output of the tool.
    #[serde(default)]
    pub nothing: bool,
}
