//! `zfs get` and `zpool get` with any of their columns: aligned, in tabs, or as a Markdown table; values alone
//! (`-o value`) by what the command asks for.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;

pub struct Properties;

impl Block for Properties {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let layout = Layout::of(&lines.first()?.text);
        let header = usize::from(layout.is_some());
        let layout = layout.unwrap_or_default();
        let rows: Vec<[String; 3]> =
            lines[header..].iter().map_while(|l| row(&l.text, &layout, header > 0)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = header + rows.len();
        let origin = sink.origin("zfs or zpool get", &lines[..used]);
        for [name, property, value] in rows {
            cells::property(sink, &name, &property, &value, origin);
        }
        Taken::kept(used)
    }
}

/// Values alone, one a line, below `zfs get -H -o value compression,recordsize tank`.
pub struct Values;

impl Block for Values {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let asked = asked(sink.command.as_deref()?)?;
        let values = lines.get(..asked.len())?.iter().map(|line| line.text.trim());
        let is_value =
            |text: &str| !text.is_empty() && text.len() < 40 && !text.contains(char::is_whitespace);
        let values: Vec<&str> = values.take_while(|text| is_value(text)).collect();
        // The command speaks of the lines right below it, and of no others.
        sink.command = None;
        if values.len() < asked.len() {
            return None;
        }
        let origin = sink.origin("zfs or zpool get", &lines[..asked.len()]);
        for ((name, property), value) in asked.iter().zip(values) {
            cells::property(sink, name, property, value, origin);
        }
        Taken::kept(asked.len())
    }
}

/// Names and properties in the order in which a `get` of values alone prints them.
fn asked(command: &str) -> Option<Vec<(String, String)>> {
    const MOST: usize = 100;
    let words: Vec<&str> = command.trim_start_matches("sudo ").split_whitespace().take(MOST).collect();
    let ["zfs" | "zpool", "get", rest @ ..] = &words[..] else { return None };
    let (mut plain, mut of_values) = (Vec::new(), false);
    for (at, word) in rest.iter().enumerate() {
        match *word {
            "value" if rest[..at].last().is_some_and(|w| w.starts_with('-') && w.ends_with('o')) => {
                of_values = true;
            }
            "-H" | "-p" | "-Hp" | "-pH" | "-o" | "-Ho" | "-Hpo" | "-pHo" => {}
            word if word.starts_with(['-', '|', '>', '&', ';']) => return None,
            word => plain.push(word),
        }
    }
    let (properties, names) =
        plain.split_first().filter(|(p, names)| of_values && **p != "all" && !names.is_empty())?;
    let pairs =
        names.iter().flat_map(|name| properties.split(',').map(|p| ((*name).to_owned(), p.to_owned())));
    Some(pairs.take(MOST).collect())
}

/// Which column stands where.
struct Layout {
    name: Option<usize>,
    property: usize,
    value: usize,
    source: Option<usize>,
    /// Columns, and the byte at which each heading starts.
    starts: Vec<usize>,
}

impl Default for Layout {
    /// NAME PROPERTY VALUE SOURCE, with nothing known of their places.
    fn default() -> Layout {
        Layout { name: Some(0), property: 1, value: 2, source: Some(3), starts: vec![0; 4] }
    }
}

impl Layout {
    fn of(header: &str) -> Option<Layout> {
        const NAMES: [&str; 5] = ["NAME", "PROPERTY", "VALUE", "RECEIVED", "SOURCE"];
        let words: Vec<&str> = header.split_whitespace().take(6).collect();
        if !words.iter().all(|w| NAMES.contains(w)) {
            return None;
        }
        let at = |name| words.iter().position(|w| *w == name);
        let starts = words.iter().map(|w| header.find(w).unwrap_or(0)).collect();
        Some(Layout {
            name: at("NAME"),
            property: at("PROPERTY")?,
            value: at("VALUE")?,
            source: at("SOURCE"),
            starts,
        })
    }

    /// The fields of a row: by tabs, by gaps, by the places of the headings, by single blanks.
    fn split<'t>(&self, text: &'t str, under_header: bool) -> Option<Vec<&'t str>> {
        let columns = self.starts.len();
        let fields = |separator: &str| {
            text.split(separator).map(str::trim).filter(|f| !f.is_empty()).collect::<Vec<_>>()
        };
        // Without a header words between single blanks are a sentence.
        let separators = if under_header { &["\t", "  ", " "][..] } else { &["\t", "  "] };
        for separator in separators.iter().copied() {
            let found = fields(separator);
            if found.len() == columns {
                return Some(found);
            }
            // `inherited from tank` stands behind a single blank where the value is long.
            if separator == " "
                && let [rest @ .., "inherited", "from", _] = &found[..]
                && rest.len() + 1 == columns
            {
                let source = text.rfind("inherited from").map(|at| text[at..].trim())?;
                return Some(rest.iter().copied().chain([source]).collect());
            }
        }
        if !under_header {
            return None;
        }
        let mut out = Vec::with_capacity(columns);
        for (i, start) in self.starts.iter().enumerate() {
            let end = self.starts.get(i + 1).copied().unwrap_or(text.len()).min(text.len());
            let field = text.get(*start..end)?;
            // A heading that cuts a word is not where the columns are.
            let cut = *start > 0 && !text.get(..*start)?.ends_with([' ', '\t']);
            if cut || field.trim().is_empty() {
                return None;
            }
            out.push(field.trim());
        }
        Some(out)
    }
}

/// Name, property and value; without a header only of a row with a source that nothing else prints.
fn row(text: &str, layout: &Layout, under_header: bool) -> Option<[String; 3]> {
    let fields = layout.split(text.trim_end(), under_header)?;
    let field = |at: usize| fields.get(at).copied().unwrap_or("");
    let (property, value) = (field(layout.property), field(layout.value));
    let name = layout.name.map_or("", field);
    let is_property = !property.is_empty()
        && property.len() < 100
        && property.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:@#.-".contains(&b))
        && property.starts_with(|c: char| c.is_ascii_lowercase());
    let source = layout.source.map(field);
    let plain = source.is_some_and(|s| {
        matches!(s, "default" | "local" | "received" | "temporary" | "none")
            || s.starts_with("inherited from ")
    });
    let known = plain || (under_header && source.is_none_or(|s| s == "-"));
    let named = layout.name.is_none() || !name.is_empty();
    (known && is_property && named && !value.is_empty())
        .then(|| [name.to_owned(), property.to_owned(), value.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_alone_are_told_by_the_command() {
        let pairs = |command: &str| {
            asked(command).map(|a| a.iter().map(|(n, p)| format!("{n}:{p}")).collect::<Vec<_>>().join(" "))
        };
        for (command, want) in [
            (
                "zfs get -H -o value compressratio,recordsize tank/db",
                Some("tank/db:compressratio tank/db:recordsize"),
            ),
            ("sudo zpool get -Hpo value frag tank data", Some("tank:frag data:frag")),
            ("zfs get -Ho value recordsize tank", Some("tank:recordsize")),
            ("zfs get -r -H -o value recordsize tank", None),
            ("zfs get -H -o name,value recordsize tank", None),
            ("zfs get recordsize tank", None),
            ("zfs get -H -o value all tank", None),
            ("zfs get -H -o value recordsize tank | sort", None),
        ] {
            assert_eq!(pairs(command).as_deref(), want, "{command}");
        }
    }

    #[test]
    fn all_subsets_of_columns() {
        let read =
            |header: &str, text: &str| row(text, &Layout::of(header).unwrap_or_default(), !header.is_empty());
        let want = |a: &str, b: &str, c: &str| Some([a.to_owned(), b.to_owned(), c.to_owned()]);
        let all = "NAME    PROPERTY     VALUE                  SOURCE";
        assert_eq!(
            read(all, "tank/a  creation     Mon Jan 10 12:01 2022  -"),
            want("tank/a", "creation", "Mon Jan 10 12:01 2022")
        );
        assert_eq!(
            read(all, "tank/a  recordsize   1M  inherited from tank"),
            want("tank/a", "recordsize", "1M")
        );
        assert_eq!(read("PROPERTY  VALUE", "compression  lz4"), want("", "compression", "lz4"));
        assert_eq!(read("NAME PROPERTY VALUE", "tank dedup on"), want("tank", "dedup", "on"));
        assert_eq!(
            read("NAME PROPERTY VALUE RECEIVED SOURCE", "t atime off - received"),
            want("t", "atime", "off")
        );
        assert_eq!(read("", "tank\tcompression\tgzip-9\tlocal"), want("tank", "compression", "gzip-9"));
        assert_eq!(read("", "tank atime is local"), None);
        assert_eq!(read("", "this is not local"), None);
        assert_eq!(read("", "tank compression lz4"), None);
    }
}
