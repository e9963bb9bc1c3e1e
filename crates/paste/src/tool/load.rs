//! Reading tool files: those built in, and those of a folder of one's own.

use super::columns::Column;
use super::spec::{BlockSpec, EmitSpec, SampleSpec, ToolSpec};
use super::template::{Pattern, Template};
use super::{MadeTable, ToolBlock};
use std::sync::{Arc, LazyLock};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

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
    for (i, spec) in spec.blocks.into_iter().enumerate() {
        let what = spec.what.as_ref().map(|what| &what.text);
        let name = spec.table.as_ref().or(what).map_or("", String::as_str);
        spec.check(check).map_err(|what| format!("block {} ({name}): {what}", i + 1))?;
        blocks.push(ToolBlock { file: file.to_owned(), rank: spec.rank, spec });
    }
    Ok((blocks, spec.samples))
}

impl BlockSpec {
    /// # Errors
    /// What is wrong with a key; with `check` also with a pattern.
    fn check(&self, check: bool) -> Result<(), String> {
        self.templates().try_for_each(Template::check)?;
        if check {
            self.patterns().try_for_each(Pattern::check)?;
        }
        self.all_emits().try_for_each(EmitSpec::check)?;
        let named = self.what.is_some() || self.table.is_some();
        if !named && self.header.as_ref().is_none_or(|h| h.tables.is_empty()) {
            return Err("it has neither `table` nor `what`".to_owned());
        }
        match &self.header {
            Some(header) if self.lines.is_empty() => header.check()?,
            None if !self.lines.is_empty() => self.check_lines(check)?,
            Some(_) => return Err("it has both a `header` and `lines`: make two blocks".to_owned()),
            None => {
                return Err("it has neither a `header` nor `lines`: nothing tells its rows".to_owned());
            }
        }
        match self.rows.figures.filter(|part| self.header.is_some() && !(0.0..=1.0).contains(part)) {
            Some(part) => Err(format!("`rows.figures` is {part}: it is a part, 0 to 1")),
            None => Ok(()),
        }
    }

    fn all_emits(&self) -> impl Iterator<Item = &EmitSpec> {
        self.emit.iter().chain(self.lines.iter().flat_map(|line| &line.emit))
    }

    fn all_columns(&self) -> impl Iterator<Item = &Column> {
        let groups = self.header.iter().flat_map(|header| header.groups.values());
        groups.chain([&self.columns]).flat_map(|columns| &columns.0)
    }

    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let rows = &self.rows;
        let of_header = self.header.iter().flat_map(|header| header.line.iter().chain(&header.above));
        let of_rows = rows.line.iter().chain(&rows.value).chain(&rows.between).chain(rows.are.values());
        let of_lines = self.lines.iter().flat_map(|line| {
            let pair = line.pairs.as_ref().map(|pair| &pair.pattern);
            line.command.iter().chain(pair).chain([&line.pattern])
        });
        let tally = self.tally.as_ref().map(|tally| &tally.by);
        let of_block = self.begins.iter().chain(&self.alone).chain(tally);
        of_block
            .chain(self.all_columns().filter_map(|column| column.command.as_ref()))
            .chain(of_header)
            .chain(of_rows.chain(rows.drop.iter().map(|(pattern, _)| pattern)))
            .chain(of_lines)
            .chain(self.all_emits().flat_map(|emit| emit.when.values()))
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let of_lines = self.lines.iter().flat_map(|line| {
            let pair = line.pairs.iter().flat_map(|pair| [&pair.name, &pair.value]);
            line.section.iter().chain(line.cells.iter().flatten()).chain(pair)
        });
        let of_emits = self.all_emits().flat_map(|emit| [&emit.of, &emit.name, &emit.value, &emit.nice]);
        let of_columns = self.all_columns().flat_map(|column| column.of.iter().chain(&column.calc));
        self.what.iter().chain(of_columns).chain(of_lines).chain(of_emits)
    }
}
