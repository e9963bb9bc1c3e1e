//! Reading tool files: those built in, and those of a folder of one's own.

use super::columns::Column;
use super::emit::Emit;
use super::rows::Rows;
use super::shapes::Shapes;
use super::spec::{BlockSpec, SampleSpec, ToolSpec};
use super::template::{Pattern, Template};
use super::{MadeTable, Shape, Tally, ToolBlock};
use std::sync::{Arc, LazyLock};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

/// Rank of a block that says none.
const USUAL_RANK: u16 = 50;

/// What is wrong in a tool file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct ToolError {
    pub file: String,
    pub what: String,
}

/// All descriptions of tools, those of a lower rank first.
#[derive(Debug, Default)]
pub struct Tools {
    pub blocks: Vec<ToolBlock>,
    /// Samples of each file.
    pub samples: Vec<(String, Vec<SampleSpec>)>,
    /// Files that could not be used.
    pub problems: Vec<ToolError>,
}

impl Tools {
    /// The tools that come with zwhy.
    pub fn embedded() -> Arc<Tools> {
        static TOOLS: LazyLock<Arc<Tools>> = LazyLock::new(|| Arc::new(Tools::with(&[], false)));
        TOOLS.clone()
    }

    /// Those that come with zwhy and more, each a name and its text; a file of the same name replaces the
    /// embedded one. With `check` every pattern is built, so that all that is wrong is found.
    pub fn with(more: &[(String, String)], check: bool) -> Tools {
        let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let replaced = |name: &str| more.iter().any(|(other, _)| base(other) == name);
        let own = embedded::TOOLS.iter().filter(|(name, _)| !replaced(name));
        let own = own.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let mut tools = Tools::default();
        for (name, text) in own {
            tools.add(&name, &text, check);
        }
        for (name, text) in more {
            tools.add(name, text, true);
        }
        tools.blocks.sort_by_key(|b| b.rank);
        tools
    }

    /// Every table that pasted text can become, of tools and of readers in code.
    pub fn tables(&self) -> Vec<MadeTable> {
        let code = crate::readers::TABLES.iter().map(|(name, columns)| MadeTable {
            name: (*name).to_owned(),
            columns: Some(columns.iter().map(|c| (*c).to_owned()).collect()),
        });
        self.blocks.iter().flat_map(ToolBlock::makes).chain(code).collect()
    }

    fn add(&mut self, file: &str, text: &str, check: bool) {
        match blocks(file, text, check) {
            Ok((blocks, samples)) => {
                self.blocks.extend(blocks);
                self.samples.push((file.to_owned(), samples));
            }
            Err(what) => {
                let what = what.trim_end().to_owned();
                self.problems.push(ToolError { file: file.to_owned(), what });
            }
        }
    }
}

fn blocks(file: &str, text: &str, check: bool) -> Result<(Vec<ToolBlock>, Vec<SampleSpec>), String> {
    let spec: ToolSpec = toml::from_str(text).map_err(|e| e.to_string())?;
    if spec.about.trim().is_empty() {
        return Err("`about` is empty: say which tool this is".to_owned());
    }
    if spec.samples.is_empty() {
        return Err("no [[samples]]: add output of the tool and what it gives".to_owned());
    }
    let mut blocks = Vec::new();
    for (i, block) in spec.blocks.into_iter().enumerate() {
        let name = block.table.clone().or(block.what.clone()).unwrap_or_default();
        let built = build(file, block, check);
        blocks.push(built.map_err(|what| format!("block {} ({name}): {what}", i + 1))?);
    }
    Ok((blocks, spec.samples))
}

fn build(file: &str, spec: BlockSpec, check: bool) -> Result<ToolBlock, String> {
    let columns = Column::all(&spec.columns, check)?;
    let emits: Vec<Emit> = spec.emit.iter().map(|e| Emit::new(e, check)).collect::<Result<_, _>>()?;
    if spec.what.is_none() && spec.table.is_none() && spec.header.as_ref().is_none_or(|h| h.tables.is_empty())
    {
        return Err("it has neither `table` nor `what`".to_owned());
    }
    let shape = match &spec.header {
        Some(header) if spec.lines.is_empty() => Shape::Rows(Box::new(Rows::new(&spec, header, check)?)),
        None if !spec.lines.is_empty() => Shape::Lines(Shapes::new(&spec, &columns, check)?),
        Some(_) => return Err("it has both a `header` and `lines`: make two blocks".to_owned()),
        None => return Err("it has neither a `header` nor `lines`: nothing tells its rows".to_owned()),
    };
    let tally = match spec.tally {
        Some(spec) => Some(Tally { by: Pattern::new(&spec.by, check)?, spec }),
        None => None,
    };
    Ok(ToolBlock {
        file: file.to_owned(),
        rank: spec.rank.unwrap_or(USUAL_RANK),
        what: Template::new(spec.what.as_deref().unwrap_or(""))?,
        table: spec.table,
        columns,
        shape,
        emits,
        most: spec.most.unwrap_or(usize::MAX).max(1),
        tally,
    })
}
