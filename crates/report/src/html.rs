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
    /// Element id: `answer`, `flame`, `flame-wait`, `samples`, `timeline`, `facts`, `compare`.
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

/// The page as bytes to write to a file.
pub fn page(blocks: &[Block]) -> Result<String, PageError> {
    filled(TEMPLATE, blocks)
}

/// The page of one experiment, whose data is its [`Block`] called `lab`.
pub fn lab_page(data: &impl serde::Serialize) -> Result<String, PageError> {
    filled(LAB_TEMPLATE, &[Block::json("lab", data)?])
}

fn filled(template: &str, blocks: &[Block]) -> Result<String, PageError> {
    let (head, tail) = template.split_once(MARKER).ok_or(PageError::Template)?;
    let mut out = String::with_capacity(
        template.len() + blocks.iter().map(|b| b.gzip.len() * 4 / 3).sum::<usize>() + 1024,
    );
    out.push_str(head);
    for block in blocks {
        out.push_str("<script type=\"application/zwhy\" id=\"");
        out.push_str(block.id);
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
    fn the_policy_is_that_of_the_page() {
        let policy = page_policy().expect("the template has one");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("form-action 'none'"), "{policy}");
    }
}
