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

/// What the page may load and run, as its own meta element says.
fn page_policy() -> Result<&'static str, PageError> {
    let (_, rest) = TEMPLATE
        .split_once("http-equiv=\"Content-Security-Policy\" content=\"")
        .ok_or(PageError::Template)?;
    rest.split_once('"').map(|(policy, _)| policy).ok_or(PageError::Template)
}

/// What a page of [`page_in_pieces`] may load and run, as its own meta element says: for the header of its server.
///
/// # Errors
/// When the template has no policy.
pub fn page_in_pieces_policy() -> Result<String, PageError> {
    page_policy().map(with_server)
}

/// The same policy with leave to ask the server that the page came from, and nobody else.
fn with_server(policy: &str) -> String {
    policy.replacen("base-uri", "connect-src 'self'; base-uri", 1)
}

/// A named block of data, already compressed.
pub struct Block {
    /// Element id: `answer`, `overview`, `flame`, `flame-wait`, `samples`, `timeline`, `facts`, `compare`, `inputs`.
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

    /// The text that stands for it in a page: base64.
    pub fn text(&self) -> String {
        STANDARD.encode(&self.gzip)
    }

    /// Whether [`page_in_pieces`] leaves it out: it is large, and not what a reader sees first, which is
    /// the answer and the overview of the graph.
    pub fn is_piece(&self) -> bool {
        !["answer", "overview"].contains(&self.id) && self.gzip.len() >= PIECE
    }
}

/// Smaller blocks, in bytes, are not worth a request of their own.
const PIECE: usize = 4096;

/// One of several inputs that a page holds; name and first line are told before it is chosen.
#[derive(serde::Serialize)]
pub struct Input {
    pub name: String,
    /// The first line of its answer.
    pub why: String,
    #[serde(skip)]
    pub blocks: Vec<Block>,
}

/// The page of one input, as text to write to a file.
pub fn page(blocks: &[Block]) -> Result<String, PageError> {
    filled(TEMPLATE, &numbered(0, blocks))
}

/// The page of one input for a server: what [`Block::is_piece`] tells of is not in it, and asked for below the
/// address `beside` the page, as `beside.ID`, when it is needed.
///
/// # Errors
/// When the template has no place for data or no policy.
pub fn page_in_pieces(blocks: &[Block], beside: &str) -> Result<String, PageError> {
    let policy = page_policy()?;
    let template = TEMPLATE.replacen(policy, &with_server(policy), 1);
    let (head, tail) = template.split_once(MARKER).ok_or(PageError::Template)?;
    let mut out = head.to_owned();
    for block in blocks {
        match block.is_piece() {
            true => element(&mut out, block.id, &format!(" data-from=\"{beside}.{}\"", block.id), &[]),
            false => element(&mut out, block.id, "", &block.gzip),
        }
    }
    out.push_str(tail);
    Ok(out)
}

/// The page of several inputs, of which the reader chooses one; of one, the same as [`page`].
pub fn page_of_all(inputs: &[Input]) -> Result<String, PageError> {
    let list = if inputs.len() > 1 { vec![Block::json("inputs", &inputs)?] } else { Vec::new() };
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
        match at {
            0 => element(&mut out, block.id, "", &block.gzip),
            _ => element(&mut out, &format!("{}.{at}", block.id), "", &block.gzip),
        }
    }
    out.push_str(tail);
    Ok(out)
}

/// The element of a block, with what else its tag says.
fn element(out: &mut String, id: &str, more: &str, gzip: &[u8]) {
    for part in ["<script type=\"application/zwhy\" id=\"", id, "\"", more, ">"] {
        out.push_str(part);
    }
    STANDARD.encode_string(gzip, out);
    out.push_str("</script>\n");
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
    fn pieces_are_named_and_not_in_the_page() {
        let block = |id, len| Block { id, gzip: vec![7; len] };
        let all = [block("answer", PIECE), block("flame", PIECE), block("samples", PIECE), block("facts", 9)];
        let html = page_in_pieces(&all, "3").expect("a page");
        for piece in ["flame", "samples"] {
            let tag =
                format!("<script type=\"application/zwhy\" id=\"{piece}\" data-from=\"3.{piece}\"></script>");
            assert!(html.contains(&tag));
        }
        for embedded in [&all[0], &all[3]] {
            assert!(html.contains(&format!("id=\"{}\">{}<", embedded.id, embedded.text())));
        }
        let policy = page_in_pieces_policy().expect("the template has one");
        assert!(policy.contains("; connect-src 'self'; base-uri 'none'"), "{policy}");
        assert!(html.contains(&format!("content=\"{policy}\"")));
    }

    #[test]
    fn the_policy_is_that_of_the_page() {
        let policy = page_policy().expect("the template has one");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("form-action 'none'"), "{policy}");
    }
}
