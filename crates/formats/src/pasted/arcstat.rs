//! `arcstat` with any columns (-f): a table, and of its last row the sizes that arcstats has.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

pub struct Arcstat;

/// Columns of arcstat of all releases (cmd/arcstat, `cols`).
const COLUMNS: &str = " time hits iohs miss read hit% ioh% miss% dhit dioh dmis dh% di% dm% ddhit ddioh ddmis \
    ddh% ddi% ddm% dmhit dmioh dmmis dmh% dmi% dmm% phit pioh pmis ph% pi% pm% pdhit pdioh pdmis pdh% pdi% \
    pdm% pmhit pmioh pmmis pmh% pmi% pmm% mhit mioh mmis mread mh% mi% mm% arcsz size c mfu mru mfug mrug \
    unc eskip el2skip el2cach el2el el2mfu el2mru el2inel mtxmis dread ddread dmread pread pdread pmread \
    l2hits l2miss l2read l2pref l2mfu l2mru l2data l2meta l2hit% l2miss% l2asize l2size l2bytes l2wbytes \
    l2arc l2rbytes grow need free avail waste ztotal zhits zahead zpast zmisses zmax zfuture zstride \
    zissued zactive pref% rmis xhit hit miss ";

/// Columns that no other tool has.
const OWN: [&str; 18] = [
    "arcsz", "hit%", "miss%", "dmis", "dhit", "pmis", "mmis", "ph%", "dh%", "dm%", "pm%", "l2hit%",
    "l2asize", "pread", "dread", "mh%", "mm%", "mtxmis",
];

impl Block for Arcstat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header: Vec<&str> = lines.first()?.text.split_whitespace().take(80).collect();
        if !is_header(&header) {
            return None;
        }
        let (mut rows, mut used, mut headers) = (Vec::new(), 1, 1);
        for line in &lines[1..] {
            const MOST_HEADERS: usize = 8;
            let words: Vec<&str> = line.text.split_whitespace().take(header.len() + 2).collect();
            if words == header {
                headers += 1;
                if rows.is_empty() && headers > MOST_HEADERS {
                    break;
                }
            } else if words.len() == header.len() && words.iter().all(|w| is_cell(w)) {
                rows.push(words.iter().map(|w| cells::plain(w)).collect::<Vec<String>>());
            } else {
                break;
            }
            used += 1;
        }
        let last = rows.last()?.clone();
        let origin = sink.origin("arcstat", &lines[..used]);
        let column = |names: &[&str]| {
            let at = header.iter().position(|h| names.contains(h))?;
            cells::bytes(&last[at])
        };
        let sizes =
            [("size", column(&["arcsz", "size"])), ("c", column(&["c"])), ("l2_size", column(&["l2size"]))];
        for (name, value) in sizes.into_iter().filter_map(|(name, v)| Some((name, v?))) {
            cells::kstat(sink, "arcstats", name, value, origin);
        }
        cells::table(sink, "arcstat", cells::names(&header), rows, origin);
        Taken::kept(used)
    }
}

fn is_header(words: &[&str]) -> bool {
    words.len() >= 2
        && words.iter().all(|w| COLUMNS.split_whitespace().any(|c| c == *w))
        && (words.iter().any(|w| OWN.contains(w)) || (words[0] == "time" && words.contains(&"c")))
}

/// `21:16:06`, `4.1G`, `85`, `-4.0G`.
fn is_cell(word: &str) -> bool {
    word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) && word.len() < 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_only_of_arcstat() {
        let header = |t: &str| is_header(&t.split_whitespace().collect::<Vec<_>>());
        assert!(header("time  read  miss  miss%  dmis  dm%  arcsz     c"));
        assert!(header("pread ph%"));
        assert!(!header("time read miss"));
        assert!(!header("the time I read the size of c"));
    }
}
