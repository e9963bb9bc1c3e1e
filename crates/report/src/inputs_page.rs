//! The first page of `zwhy view` over several inputs: what each one says, and which two to compare.
//!
//! It is plain HTML without a script, so it works in any browser; names of inputs are text, never markup.

use crate::escape::plain;
use std::fmt::Write as _;
use zwhy_diagnose::Answer;

/// What the page may load: its style sheet, beside it; and where its forms may go.
pub const INPUTS_POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'";

/// The style sheet, to be served as `style.css`.
pub const INPUTS_STYLE: &str = include_str!("inputs_page.css");

/// One input as the page lists it.
pub struct InputRow {
    pub name: String,
    /// The first line of its answer.
    pub why: String,
    /// Host, version of OpenZFS and length, as far as known.
    pub of: String,
}

impl InputRow {
    pub fn of(answer: &Answer) -> InputRow {
        let source = &answer.source;
        let parts = [
            source.host.clone(),
            source.zfs_version.as_ref().map(|version| format!("OpenZFS {version}")),
            source.duration_s.map(|seconds| format!("{seconds:.0} s")),
        ];
        InputRow {
            name: source.name.clone(),
            why: answer.why.clone(),
            of: parts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        }
    }
}

/// The page. Input n is linked as `n`, counted from 1; two are compared at `compare?before=1&after=2`.
pub fn inputs_page(rows: &[InputRow]) -> String {
    let mut items = String::new();
    let mut choices = String::new();
    for (i, row) in rows.iter().enumerate() {
        let (n, name) = (i + 1, text(&row.name));
        let _ = write!(
            items,
            "<li><h2><a href=\"{n}\"><bdi>{name}</bdi></a></h2><p>{}</p><p class=\"of\">{}</p></li>",
            text(&row.why),
            text(&row.of)
        );
        let _ = write!(choices, "<option value=\"{n}\">{n} · {name}</option>");
    }
    let after = choices.replacen("value=\"2\"", "value=\"2\" selected", 1);
    let compare = format!(
        "<form action=\"compare\"><h2>Did a change help?</h2>\
         <p><label>Before <select name=\"before\">{choices}</select></label> \
         <label>After <select name=\"after\">{after}</select></label> <button>Compare</button></p></form>"
    );
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
         <link rel=\"stylesheet\" href=\"style.css\"><title>zwhy: {count} inputs</title></head>\
         <body><header><h1>zwhy</h1><form action=\"end\" method=\"post\"><button>End zwhy view</button></form></header>\
         <main><ol>{items}</ol>{compare}</main></body></html>\n",
        count = rows.len(),
    )
}

/// Text of strangers in HTML, inside an element or a quoted attribute.
fn text(raw: &str) -> String {
    let mut out = String::new();
    for c in plain(raw).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> InputRow {
        InputRow { name: name.to_owned(), why: format!("{name} is busy."), of: "db7".to_owned() }
    }

    #[test]
    fn names_of_inputs_stay_text() {
        let page = inputs_page(&[row("</title><script>alert(1)</script>"), row("\" onload=x \u{202e}")]);
        assert_eq!(page.matches("<script").count(), 0, "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("&quot; onload=x \\u{202e}"), "{page}");
    }

    #[test]
    fn the_second_input_is_what_came_after() {
        let page = inputs_page(&[row("a"), row("b"), row("c")]);
        let (before, after) = page.split_once("name=\"after\"").expect("two choices");
        assert!(!before.contains("selected"));
        assert!(after.contains("<option value=\"2\" selected>2 · b</option>"), "{after}");
    }
}
