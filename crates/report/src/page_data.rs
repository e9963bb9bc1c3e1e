//! The data of a page: the answer to one input, its flame graphs, counters over time and what the host is like.

use crate::{Block, PageError, Timeline, fact_tables};
use zwhy_diagnose::{Answer, Classified, Knowledge, Options, classify, explain_classified};
use zwhy_evidence::{Evidence, Imported};
use zwhy_flame::{FlameTree, Roots, Side, Stages, encode_block, encode_overview, encode_samples};
use zwhy_profile::{Event, StackId, ThreadId};

/// The blocks of the page of one input, with the answer that it shows.
///
/// The answer rests on `imported` alone; `made` is the same with samples made of percentages and printed stacks
/// (`zwhy_formats::with_drawn`), for the graphs of an input that has no samples of its own.
///
/// # Errors
/// When a block cannot be encoded.
pub fn page_data(
    imported: &Imported,
    made: Option<&Imported>,
    name: &str,
    knowledge: &Knowledge,
    roots: Roots,
) -> Result<(Vec<Block>, Answer), PageError> {
    let shown = made.unwrap_or(imported);
    let stages = |imported: &Imported| classify(&imported.evidence.profile, &knowledge.anatomy);
    let classified = stages(imported);
    let of_shown = made.map(stages);
    let of_shown = of_shown.as_ref().unwrap_or(&classified);
    let options = Options { name: name.to_owned(), stats: Some(shown.stats.clone()), ..Options::default() };
    let answer = explain_classified(&imported.evidence, &classified, knowledge, &options);
    let mut blocks = vec![Block::json("answer", &answer)?];
    for (event, id) in [(Event::Cpu, "flame"), (Event::Wait, "flame-wait"), (Event::Count, "flame-count")] {
        if shown.evidence.profile.total(event) > 0 {
            let tree = tree_with_rows(shown, of_shown, event, roots);
            let nodes = tree.nodes();
            if event == Event::Cpu
                && let Some(gzip) = encode_overview(&tree, &nodes)?
            {
                blocks.push(Block { id: "overview", gzip });
            }
            blocks.push(Block { id, gzip: encode_block(&tree, &nodes)? });
            if event == Event::Cpu
                && let Some(gzip) = encode_samples(&tree, &shown.evidence.profile)?
            {
                blocks.push(Block { id: "samples", gzip });
            }
        }
    }
    blocks.extend(surroundings(&imported.evidence)?);
    Ok((blocks, answer))
}

/// What was read beside the samples: counters over time, and what the host is like.
fn surroundings(evidence: &Evidence) -> Result<Vec<Block>, PageError> {
    let (timeline, facts) = (Timeline::of(evidence), fact_tables(evidence));
    let mut blocks = Vec::new();
    if !timeline.is_empty() {
        blocks.push(Block::json("timeline", &timeline)?);
    }
    if !facts.is_empty() {
        blocks.push(Block::json("facts", &facts)?);
    }
    Ok(blocks)
}

/// The call tree of one event, coloured by stage.
pub fn tree(imported: &Imported, classified: &Classified, event: Event, roots: Roots) -> FlameTree {
    let mut tree = FlameTree::new(event, &classified.stages);
    tree.add(&imported.evidence.profile, Some(&StagesOf(classified)), roots, Side::A);
    tree
}

/// As [`tree`], which remembers where each sample ends, for pictures of a part of the time.
fn tree_with_rows(imported: &Imported, classified: &Classified, event: Event, roots: Roots) -> FlameTree {
    let mut tree = FlameTree::new(event, &classified.stages).keep_rows();
    tree.add(&imported.evidence.profile, Some(&StagesOf(classified)), roots, Side::A);
    tree
}

/// The stages of a profile's samples, as a flame graph asks for them.
pub struct StagesOf<'a>(pub &'a Classified);

impl Stages for StagesOf<'_> {
    fn names(&self) -> &[String] {
        &self.0.stages
    }

    fn kind_of(&self, thread: ThreadId) -> u8 {
        self.0.kind_of(thread)
    }

    fn stage_on(&self, stack: StackId, kind: u8) -> u8 {
        self.0.stage_on(stack, kind)
    }
}
