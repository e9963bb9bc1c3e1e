//! Files below /proc/spl/kstat: named values, tables, or plain text.
//!
//! Layout: `module/os/linux/spl/spl-kstat.c`, `kstat_seq_show_headers` and `kstat_seq_show_named`
//! (OpenZFS 2.3). Lines that do not fit the layout are counted, not guessed.

/// Why a text is no kstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("empty kstat file")]
pub struct KstatError;

/// One value of a named kstat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Signed(i64),
    Unsigned(u64),
    Text(String),
}

impl Value {
    /// The number, cut at the largest `i64`.
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Signed(n) => Some(*n),
            Value::Unsigned(n) => Some(i64::try_from(*n).unwrap_or(i64::MAX)),
            Value::Text(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValue {
    pub name: String,
    pub value: Value,
}

/// A kstat file by its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kstat {
    /// `name type data` lines; `odd` lines did not fit.
    Named { values: Vec<NamedValue>, odd: usize },
    /// Rows under column names (`txgs`, `fletcher_4_bench`); short rows are kept as they are.
    Table { columns: Vec<String>, rows: Vec<Vec<String>> },
    /// Text without a header (`state`).
    Text(String),
}

/// Reads the text of a kstat file.
pub fn parse_kstat(text: &str) -> Result<Kstat, KstatError> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().ok_or(KstatError)?;
    let mut columns = first;
    if is_header(first) {
        columns = match lines.next() {
            Some(line) => line,
            None => return Ok(Kstat::Table { columns: Vec::new(), rows: Vec::new() }),
        };
    } else if first.split_whitespace().count() < 2 {
        return Ok(Kstat::Text(text.trim().to_owned()));
    }
    if columns.split_whitespace().eq(["name", "type", "data"]) {
        return Ok(named(lines));
    }
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    Ok(Kstat::Table { columns: words(columns), rows: lines.map(words).collect() })
}

/// `kid type 0xflags ndata size crtime snaptime`.
fn is_header(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    fields.len() == 7
        && fields[2].starts_with("0x")
        && fields.iter().enumerate().all(|(i, f)| i == 2 || f.parse::<i64>().is_ok())
}

fn named<'a>(lines: impl Iterator<Item = &'a str>) -> Kstat {
    let (mut values, mut odd) = (Vec::new(), 0);
    for line in lines {
        match named_value(line) {
            Some(value) => values.push(value),
            None => odd += 1,
        }
    }
    Kstat::Named { values, odd }
}

fn named_value(line: &str) -> Option<NamedValue> {
    let (name, rest) = line.trim_start().split_once(char::is_whitespace)?;
    match typed_value(rest) {
        Some(value) => Some(NamedValue { name: name.to_owned(), value }),
        // The names of `dmu_tx_assign` hold a blank: `1024 ns`.
        None if name.chars().all(|c| c.is_ascii_digit()) => {
            let (unit, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            Some(NamedValue { name: format!("{name} {unit}"), value: typed_value(rest)? })
        }
        None => None,
    }
}

/// Type and data, separated by blanks.
fn typed_value(text: &str) -> Option<Value> {
    let text = text.trim_start();
    let (kind, data) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let data = data.trim();
    // Types of `kstat_named_t`: 0 char, 1 and 3 signed, 2 and 4 unsigned, 5 long, 6 ulong, 7 string.
    match kind {
        "1" | "3" | "5" => Some(Value::Signed(data.parse().ok()?)),
        "2" | "4" | "6" => Some(Value::Unsigned(data.parse().ok()?)),
        "0" | "7" => Some(Value::Text(data.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMED: &str = "\
9 1 0x01 4 1088 5077712498 103811234573
name                            type data
hits                            4    18446744073709551615
memory_available_bytes          3    -12
dataset_name                    7    tank/a b
1024 ns                         4    17
broken                          4    many
";

    const BENCH: &str = "\
0 0 0x01 -1 0 4863487436 107323943921
implementation   native         byteswap
scalar           6263846523     4923463410
fastest          avx2           avx2
";

    #[test]
    fn named_values_keep_sign_size_and_blanks() {
        let Kstat::Named { values, odd } = parse_kstat(NAMED).unwrap() else { panic!("not named") };
        assert_eq!(odd, 1);
        let got: Vec<_> = values.iter().map(|v| (v.name.as_str(), v.value.clone())).collect();
        assert_eq!(
            got,
            [
                ("hits", Value::Unsigned(u64::MAX)),
                ("memory_available_bytes", Value::Signed(-12)),
                ("dataset_name", Value::Text("tank/a b".into())),
                ("1024 ns", Value::Unsigned(17)),
            ]
        );
        assert_eq!(values[0].value.number(), Some(i64::MAX));
    }

    #[test]
    fn tables_and_plain_text_are_told_apart() {
        let Kstat::Table { columns, rows } = parse_kstat(BENCH).unwrap() else { panic!("not a table") };
        assert_eq!(columns, ["implementation", "native", "byteswap"]);
        assert_eq!(rows[1], ["fastest", "avx2", "avx2"]);
        assert_eq!(parse_kstat("ONLINE\n"), Ok(Kstat::Text("ONLINE".into())));
        assert_eq!(parse_kstat(" \n"), Err(KstatError));
    }

    proptest! {
        #[test]
        fn named_numbers_survive_the_round_trip(values in prop::collection::vec(("[a-z_]{1,30}", any::<u64>()), 0..40)) {
            let mut text = String::from("9 1 0x01 4 1088 5 1\nname type data\n");
            for (name, value) in &values {
                text.push_str(&format!("{name:<31} 4    {value}\n"));
            }
            let Ok(Kstat::Named { values: got, odd: 0 }) = parse_kstat(&text) else { panic!("not named") };
            prop_assert_eq!(got.len(), values.len());
            for (got, (name, value)) in got.iter().zip(&values) {
                prop_assert_eq!((&got.name, &got.value), (name, &Value::Unsigned(*value)));
            }
        }

        #[test]
        fn any_text_is_survived(text in "[ -~\n\t]{0,200}") {
            let _ = parse_kstat(&text);
        }
    }
}
