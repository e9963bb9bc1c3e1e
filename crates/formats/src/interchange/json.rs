//! JSON of profiles, read into compact columns: numbers as `f64`, texts in one buffer.
//!
//! Invariants: a column keeps at most about four times its text in memory, and lists of objects are as short
//! as [`Few`] says (`{}` are two bytes); a cell of the wrong type is `NaN` or empty, never an error for the
//! whole file; nesting is refused beyond serde_json's limit (128).

use super::MAX_NAME;
use crate::{ErrorKind, FormatError, Input, Limits, Position};
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Larger files are refused: their tables have to be in memory at once.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a whole file. A cut file is refused: its columns end at different rows, so nothing is certain.
pub fn parse<T: DeserializeOwned>(input: &Input, limits: &Limits) -> Result<T, FormatError> {
    let text = text(input, limits)?;
    serde_json::from_str(&text).map_err(|e| damaged(input, &e).hint("check that it was copied whole"))
}

/// The text of a file, if it is not too large.
pub fn text<'a>(input: &'a Input, limits: &Limits) -> Result<Cow<'a, str>, FormatError> {
    let bytes = input.bytes();
    let most = limits.max_decompressed.min(MAX_BYTES);
    if bytes.len() as u64 > most {
        let found = format!("{} bytes of JSON, at most {most} are read", bytes.len());
        return Err(FormatError::read(ErrorKind::TooLarge, input.name(), found)
            .hint("record for a shorter time, or convert it to a binary format such as pprof"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Bytes that are no UTF-8 spoil a name, not the file.
    Ok(String::from_utf8_lossy(bytes))
}

/// What is wrong with a file, and where.
pub fn damaged(input: &Input, error: &serde_json::Error) -> FormatError {
    let position = match error.line() {
        0 | 1 => Position::Byte(error.column() as u64),
        line => Position::Line(line as u64),
    };
    FormatError::read(ErrorKind::Damaged, input.name(), format!("not valid JSON of this format: {error}"))
        .at(position)
}

/// The bytes of an object key anywhere in the first bytes of a file.
pub fn head_has_key(head: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    memchr::memmem::find(head, quoted.as_bytes()).is_some()
}

/// `true` when the first bytes can be a JSON object.
pub fn is_object(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

/// A number or `NaN` for anything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell(pub f64);

/// The index a cell holds, if it is one.
pub fn index(cell: f64) -> Option<usize> {
    ((0.0..4_294_967_295.0).contains(&cell) && cell.fract() == 0.0).then_some(cell as usize)
}

impl Default for Cell {
    fn default() -> Cell {
        Cell(f64::NAN)
    }
}

impl Cell {
    pub fn zero() -> Cell {
        Cell(0.0)
    }
}

/// What is read of one cell, whatever stands there; the default where it is of another type.
trait Lenient: Default {
    const EXPECTED: &'static str;

    fn number(value: f64, shown: &dyn fmt::Display) -> Self;

    fn flag(_: bool) -> Self {
        Self::default()
    }

    fn text(_: &str) -> Self {
        Self::default()
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Lenient> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(T::number(value as f64, &value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::number(value as f64, &value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::number(value, &value))
    }
    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::flag(value))
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

impl Lenient for Cell {
    const EXPECTED: &'static str = "a cell";

    fn number(value: f64, _: &dyn fmt::Display) -> Cell {
        Cell(value)
    }

    fn flag(value: bool) -> Cell {
        Cell(f64::from(u8::from(value)))
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

/// A column of numbers; null, text and absent cells are `NaN`.
#[derive(Clone, Debug, Default)]
pub struct Numbers(Vec<f64>);

impl Numbers {
    pub fn get(&self, row: usize) -> f64 {
        self.0.get(row).copied().unwrap_or(f64::NAN)
    }

    /// The cell as an index into another table.
    pub fn index(&self, row: usize) -> Option<usize> {
        index(self.get(row))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }
}

/// Rows of numbers of any length.
#[derive(Clone, Debug, Default)]
pub struct NumberRows {
    cells: Vec<f64>,
    ends: Vec<u32>,
}

impl NumberRows {
    pub fn push(&mut self, Numbers(row): Numbers) -> Result<(), &'static str> {
        self.cells.extend(row);
        self.ends.push(end_of(self.cells.len())?);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn row(&self, row: usize) -> &[f64] {
        let end = self.ends.get(row).map_or(0, |e| *e as usize);
        let start = row.checked_sub(1).and_then(|r| self.ends.get(r)).map_or(0, |e| *e as usize);
        self.cells.get(start..end).unwrap_or(&[])
    }
}

/// A column of texts; cells of other types are empty.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text; its index.
    pub fn push(&mut self, text: &str) -> Result<u32, &'static str> {
        self.text.push_str(text);
        self.ends.push(end_of(self.text.len())?);
        end_of(self.ends.len() - 1)
    }

    /// The text at an index, cut at [`MAX_NAME`]; empty when there is none.
    pub fn get(&self, row: Option<usize>) -> &str {
        let Some(row) = row else { return "" };
        let end = self.ends.get(row).map_or(0, |e| *e as usize);
        let start = row.checked_sub(1).and_then(|r| self.ends.get(r)).map_or(0, |e| *e as usize);
        let text = self.text.get(start..end).unwrap_or("");
        let mut end = text.len().min(MAX_NAME);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

/// At most `N` objects; more are an error.
#[derive(Clone, Debug)]
pub struct Few<T, const N: usize>(pub Vec<T>);

impl<T, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Few(Vec::new())
    }
}

impl<T, const N: usize> std::ops::Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Few<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T, N>, D::Error> {
        let mut all = Vec::new();
        sequence(deserializer, |element| {
            all.push(element);
            if all.len() <= N { Ok(()) } else { Err("a list of more objects than are read") }
        })?;
        Ok(Few(all))
    }
}

/// Column names of rows, with their places; those beyond the first ones do not matter.
#[derive(Clone, Debug, Default)]
pub struct Schema(Vec<(String, Option<usize>)>);

impl Schema {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.0.iter().find(|(column, _)| column == name)?.1
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schema, D::Error> {
        struct SchemaVisitor;
        impl<'de> Visitor<'de> for SchemaVisitor {
            type Value = Schema;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("names of columns")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Schema, A::Error> {
                const MAX_COLUMNS: usize = 32;
                let mut schema = Schema::default();
                while let Some((name, Cell(at))) = map.next_entry::<String, Cell>()? {
                    if schema.0.len() < MAX_COLUMNS {
                        schema.0.push((name, index(at)));
                    }
                }
                Ok(schema)
            }
        }
        deserializer.deserialize_map(SchemaVisitor)
    }
}

/// Reads a list element by element, until one is refused; null is an empty list.
pub fn sequence<'de, D, T, F>(deserializer: D, each: F) -> Result<(), D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<(), &'static str>,
{
    struct Each<T, F>(F, PhantomData<T>);
    impl<'de, T, F> Visitor<'de> for Each<T, F>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<(), &'static str>,
    {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
        fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
            while let Some(element) = seq.next_element::<T>()? {
                (self.0)(element).map_err(A::Error::custom)?;
            }
            Ok(())
        }
    }
    deserializer.deserialize_any(Each(each, PhantomData))
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Numbers, D::Error> {
        let mut cells = Vec::new();
        sequence(deserializer, |Cell(cell)| {
            cells.push(cell);
            Ok(())
        })?;
        Ok(Numbers(cells))
    }
}

impl<'de> Deserialize<'de> for NumberRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumberRows, D::Error> {
        let mut rows = NumberRows::default();
        sequence(deserializer, |row| rows.push(row))?;
        Ok(rows)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        let mut texts = Texts::default();
        sequence(deserializer, |Text(text)| {
            texts.push(&text)?;
            Ok(())
        })?;
        Ok(texts)
    }
}

/// Ends are kept in 32 bits.
fn end_of(len: usize) -> Result<u32, &'static str> {
    u32::try_from(len).map_err(|_| "a table of more than 4 Gi cells")
}

/// A text; a number is its digits, anything else empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub String);

impl Lenient for Text {
    const EXPECTED: &'static str = "a text";

    fn number(_: f64, shown: &dyn fmt::Display) -> Text {
        Text(shown.to_string())
    }

    fn text(text: &str) -> Text {
        Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl Text {
    /// The process or thread id written here; -1 when there is none. `12.1` is the second thread that had
    /// the id 12.
    pub fn id(&self) -> i32 {
        self.0.trim().split('.').next().and_then(|id| id.parse().ok()).unwrap_or(-1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_the_wrong_type_do_not_fail_the_table() {
        let numbers: Numbers =
            serde_json::from_str(r#"[1, null, -1, 2.5, "x", [1], {"a": 1}, true, 7]"#).unwrap();
        let indexes: Vec<_> = (0..numbers.len() + 1).map(|i| numbers.index(i)).collect();
        assert_eq!(indexes, [Some(1), None, None, None, None, None, None, Some(1), Some(7), None]);
        let texts: Texts = serde_json::from_str(r#"["a", null, "", 5, "b\u00e9"]"#).unwrap();
        let all: Vec<_> = (0..6).map(|i| texts.get(Some(i))).collect();
        assert_eq!(all, ["a", "", "", "5", "bé", ""]);
        let rows: NumberRows = serde_json::from_str("[[1,2],[],[3,null]]").unwrap();
        assert_eq!(
            (rows.row(0), rows.row(1), rows.row(2).len(), rows.row(3).len()),
            (&[1.0, 2.0][..], &[][..], 2, 0)
        );
        assert!(serde_json::from_str::<Numbers>("null").unwrap().is_empty());
        assert!(serde_json::from_str::<Numbers>(&"[".repeat(100_000)).is_err());
    }
}
