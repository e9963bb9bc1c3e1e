//! `/proc/spl/kmem/slab`: the slab caches of the SPL, with or without the two lines above its rows.
//!
//! Table `spl kmem slab`. Releases before 0.6.4 have no columns of emergency objects; caches that the
//! kernel's own slabs serve print `-` for what only the kernel knows.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

const COLUMNS: [&str; 15] = [
    "name",
    "flags",
    "size",
    "alloc",
    "slab bytes",
    "object bytes",
    "slabs",
    "slabs alloc",
    "slabs max",
    "objs",
    "objs alloc",
    "objs max",
    "emergency dlock",
    "emergency alloc",
    "emergency max",
];

pub struct SplSlab;

impl Block for SplSlab {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers = lines.iter().take(2).take_while(|l| is_header(&l.text)).count();
        let rows: Vec<Vec<String>> = lines[headers..].iter().map_while(|l| row(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = headers + rows.len();
        let origin = sink.origin("spl kmem slab", &lines[..used]);
        cells::table(sink, "spl kmem slab", cells::names(&COLUMNS), rows, origin);
        Taken::kept(used)
    }
}

fn is_header(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with("---") && text.contains("- cache -") && text.contains("- slab -"))
        || text.split_whitespace().take(5).eq(["name", "flags", "size", "alloc", "slabsize"])
}

/// Name, flags in hexadecimal, and ten or thirteen figures: no other table has that shape.
fn row(text: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().take(COLUMNS.len() + 1).collect();
    let flags = words.get(1)?.strip_prefix("0x").filter(|f| f.len() >= 4)?;
    let figure = |w: &&str| *w == "-" || w.bytes().all(|b| b.is_ascii_digit());
    let fits = matches!(words.len(), 12 | 15)
        && flags.bytes().all(|b| b.is_ascii_hexdigit())
        && words[2..].iter().all(figure);
    let mut row = fits.then(|| cells::names(&words))?;
    row.resize(COLUMNS.len(), String::new());
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_old_and_new_releases() {
        let old = "zio_cache  0x00020  753664  293664  16384  912  46  46  1270  782  322 21575";
        assert_eq!(row(old).map(|r| (r.len(), r[9].clone())), Some((15, "782".to_owned())));
        let new = "dnode_t  0x00100  -  3540432  -  984  -  -  -  -  3598  -  -  -  -";
        assert_eq!(row(new).map(|r| r[10].clone()), Some("3598".to_owned()));
        assert_eq!(row("a row of 0x00020 words that is as long as one of the caches"), None);
        assert!(is_header("name  flags  size  alloc slabsize  objsize  total alloc   max"));
    }
}
