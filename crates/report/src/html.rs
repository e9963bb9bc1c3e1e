//! The report page: the viewer's template with the data of one answer in inert blocks.
//!
//! Data is gzip in base64, whose alphabet cannot close a script element, so nothing of a profile
//! is ever parsed as HTML.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Built from `web/` and checked in, so that building zwhy needs no Node.
static TEMPLATE: &str = include_str!("../template/report.html");

/// The page of an experiment, built and checked in alike.
static LAB_TEMPLATE: &str = include_str!("../template/lab.html");

/// Where the template wants its data.
const MARKER: &str = "<!--zwhy:data-->";

#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("cannot encode the page's data: {0}")]
    Encode(#[from] std::io::Error),
    #[error("cannot encode the page's data: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the page template has no place for data; build it again with `make web`")]
    Template,
}

/// What the page may load and run, as its own meta element says: for the header of a server that shows it.
pub fn page_policy() -> Result<&'static str, PageError> {
    let (_, rest) = TEMPLATE
        .split_once("http-equiv=\"Content-Security-Policy\" content=\"")
        .ok_or(PageError::Template)?;
    rest.split_once('"').map(|(policy, _)| policy).ok_or(PageError::Template)
}

/// A named block of data, already compressed.
pub struct Block {
    /// Element id: `answer`, `flame`, `flame-wait`, `samples`, `timeline`, `facts`, `compare`, `inputs`.
    pub id: &'static str,
    pub gzip: Vec<u8>,
}

impl Block {
    /// Compresses JSON.
    pub fn json(id: &'static str, value: &impl serde::Serialize) -> Result<Block, PageError> {
        let mut gz = GzEncoder::new(Vec::new(), Compression::new(6));
        // At once: the compressor clears its buffer for every write.
        gz.write_all(&serde_json::to_vec(value)?)?;
        Ok(Block { id, gzip: gz.finish()? })
    }
}

/// One of several inputs that a page holds.
pub struct Input {
    pub name: String,
    /// The first line of its answer.
    pub why: String,
    pub blocks: Vec<Block>,
}

/// What the page tells of each of its inputs before it is chosen.
#[derive(serde::Serialize)]
struct Listed<'a> {
    name: &'a str,
    why: &'a str,
}

/// The page of one input, as text to write to a file.
pub fn page(blocks: &[Block]) -> Result<String, PageError> {
    filled(TEMPLATE, &numbered(0, blocks))
}

/// The page of several inputs, of which the reader chooses one; of one, the same as [`page`].
pub fn page_of_all(inputs: &[Input]) -> Result<String, PageError> {
    let listed: Vec<Listed<'_>> = inputs.iter().map(|i| Listed { name: &i.name, why: &i.why }).collect();
    let list = if listed.len() > 1 { vec![Block::json("inputs", &listed)?] } else { Vec::new() };
    let mut blocks = numbered(0, &list);
    for (at, input) in inputs.iter().enumerate() {
        blocks.extend(numbered(at, &input.blocks));
    }
    filled(TEMPLATE, &blocks)
}

/// The page of one experiment, whose data is its [`Block`] called `lab`.
pub fn lab_page(data: &impl serde::Serialize) -> Result<String, PageError> {
    filled(LAB_TEMPLATE, &numbered(0, &[Block::json("lab", data)?]))
}

/// Blocks of input `at`; those beyond the first are called `ID.at`.
fn numbered(at: usize, blocks: &[Block]) -> Vec<(usize, &Block)> {
    blocks.iter().map(|block| (at, block)).collect()
}

fn filled(template: &str, blocks: &[(usize, &Block)]) -> Result<String, PageError> {
    let (head, tail) = template.split_once(MARKER).ok_or(PageError::Template)?;
    let data: usize = blocks.iter().map(|(_, block)| block.gzip.len() * 4 / 3 + 80).sum();
    let mut out = String::with_capacity(template.len() + data + 1024);
    out.push_str(head);
    for &(at, block) in blocks {
        out.push_str("<script type=\"application/zwhy\" id=\"");
        out.push_str(block.id);
        if at > 0 {
            out.push('.');
            out.push_str(&at.to_string());
        }
        out.push_str("\">");
        STANDARD.encode_string(&block.gzip, &mut out);
        out.push_str("</script>\n");
    }
    out.push_str(tail);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_further_inputs_have_names_of_their_own() {
        let input = |name: &str| Input {
            name: name.to_owned(),
            why: String::new(),
            blocks: vec![Block { id: "flame", gzip: vec![1] }],
        };
        let ids = |page: String| -> Vec<String> {
            let blocks = page.split("<script type=\"application/zwhy\" id=\"").skip(1);
            blocks.filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect()
        };
        assert_eq!(
            ids(page_of_all(&[input("a"), input("b")]).expect("a page")),
            ["inputs", "flame", "flame.1"]
        );
        let one = page_of_all(&[input("a")]).expect("a page");
        assert_eq!(one, page(&input("a").blocks).expect("a page"));
    }

    #[test]
    fn the_policy_is_that_of_the_page() {
        let policy = page_policy().expect("the template has one");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("form-action 'none'"), "{policy}");
    }
}
