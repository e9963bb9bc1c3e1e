//! The protobuf wire format, read in place and written: https://protobuf.dev/programming-guides/encoding/
//!
//! Invariant: [`Fields`] ends at the first byte that cannot be a field and says where, so a cut file gives
//! all fields before the cut. Nothing is copied and nothing nests: a caller reads the messages it knows.

/// Entries of all tables of a file; more are refused: an entry of two bytes takes sixteen in memory.
pub const MAX_ENTRIES: usize = 1 << 25;

/// One field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    /// String, message or packed numbers.
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    pub number: u32,
    pub value: Value<'a>,
}

/// Walks the fields of a message.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    /// A length beyond the end takes what is there: for looking at the first bytes of a file.
    of_head: bool,
    damage: Option<usize>,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0, of_head: false, damage: None }
    }

    /// Fields of the first bytes of a message: the last one may be incomplete.
    pub fn of_head(bytes: &'a [u8]) -> Self {
        Fields { of_head: true, ..Fields::new(bytes) }
    }

    /// Where the message stopped making sense, once the walk has ended.
    pub fn damage(&self) -> Option<usize> {
        self.damage
    }

    fn field(&mut self) -> Option<Field<'a>> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|n| (1..1 << 29).contains(n))?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let left = self.bytes.len() - self.at;
                Value::Bytes(self.take(if self.of_head { len.min(left) } else { len })?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            // Groups (3 and 4) are in none of the formats read here.
            _ => return None,
        };
        Some(Field { number, value })
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, len) = varint(self.bytes.get(self.at..)?)?;
        self.at += len;
        Some(value)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if self.damage.is_some() || self.at == self.bytes.len() {
            return None;
        }
        let start = self.at;
        let field = self.field();
        if field.is_none() {
            self.damage = Some(start);
        }
        field
    }
}

/// The last number in each of these fields of a message; 0 where there is none, as an absent field means.
pub fn numbers_in<const N: usize>(message: &[u8], fields: [u32; N]) -> [u64; N] {
    let mut found = [0; N];
    for field in Fields::new(message) {
        if let Some(at) = fields.iter().position(|number| *number == field.number) {
            found[at] = field.value.number();
        }
    }
    found
}

/// The number at the start of `bytes` and its length.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        // Bits beyond the 64th are lost, as in every protobuf reader.
        value |= u64::from(byte & 0x7f).checked_shl(7 * i as u32).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

impl<'a> Value<'a> {
    /// The number of a varint field; 0 for any other, which is what an absent field means.
    pub fn number(self) -> u64 {
        if let Value::Varint(value) = self { value } else { 0 }
    }

    /// The bytes of a string or message; empty for any other.
    pub fn bytes(self) -> &'a [u8] {
        if let Value::Bytes(bytes) = self { bytes } else { b"" }
    }

    pub fn is_bytes(self) -> bool {
        matches!(self, Value::Bytes(_))
    }

    /// Numbers of a repeated field: packed or one; ends early where they are damaged.
    pub fn numbers(self) -> impl Iterator<Item = u64> + 'a {
        let (mut one, mut packed) = match self {
            Value::Varint(value) => (Some(value), &b""[..]),
            Value::Bytes(bytes) => (None, bytes),
            _ => (None, &b""[..]),
        };
        std::iter::from_fn(move || {
            if let Some(value) = one.take() {
                return Some(value);
            }
            let (value, len) = varint(packed)?;
            packed = &packed[len..];
            Some(value)
        })
    }

    /// Numbers of a repeated fixed64 field.
    pub fn fixed64s(self) -> impl Iterator<Item = u64> + 'a {
        let (one, packed) = match self {
            Value::Fixed64(value) => (Some(value), &b""[..]),
            Value::Bytes(bytes) => (None, bytes),
            _ => (None, &b""[..]),
        };
        let chunks = packed.chunks_exact(8);
        one.into_iter().chain(chunks.map(|c| c.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))))
    }
}

/// Appends a varint.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number field; 0 is written by leaving it out, as proto3 does.
pub fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 {
        put_varint(out, u64::from(number) << 3);
        put_varint(out, value);
    }
}

/// Appends a string or message field.
pub fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a packed repeated fixed64 field.
pub fn put_fixed64s(out: &mut Vec<u8>, number: u32, values: impl IntoIterator<Item = u64>) {
    let packed: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
    put_bytes(out, number, &packed);
}

/// Appends a packed repeated number field.
pub fn put_numbers(out: &mut Vec<u8>, number: u32, values: impl IntoIterator<Item = u64>) {
    let mut packed = Vec::new();
    values.into_iter().for_each(|value| put_varint(&mut packed, value));
    put_bytes(out, number, &packed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of the encoding guide.
    #[test]
    fn examples_of_the_guide() {
        assert_eq!(
            Fields::new(&[0x08, 0x96, 0x01]).next(),
            Some(Field { number: 1, value: Value::Varint(150) })
        );
        let text = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
        assert_eq!(Fields::new(&text).next(), Some(Field { number: 2, value: Value::Bytes(b"testing") }));
        let packed = [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05];
        let field = Fields::new(&packed).next().unwrap();
        assert_eq!((field.number, field.value.numbers().collect::<Vec<_>>()), (6, vec![3, 270, 86_942]));
    }

    #[test]
    fn a_cut_message_gives_what_is_before_the_cut() {
        let mut message = Vec::new();
        put_number(&mut message, 1, 7);
        put_bytes(&mut message, 2, b"abc");
        let mut fields = Fields::new(&message[..5]);
        assert_eq!(fields.by_ref().count(), 1);
        assert_eq!(fields.damage(), Some(2));
        let mut head = Fields::of_head(&message[..5]);
        assert_eq!(head.by_ref().last().map(|f| f.value), Some(Value::Bytes(b"a")));
        assert_eq!(head.damage(), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::vec(any::<u64>(), 0..9), text in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            put_numbers(&mut out, 3, numbers.iter().copied());
            put_bytes(&mut out, 300, &text);
            put_number(&mut out, 4, u64::MAX);
            let mut fields = Fields::new(&out);
            let all: Vec<Field> = fields.by_ref().collect();
            prop_assert_eq!(fields.damage(), None);
            prop_assert_eq!(all[0].value.numbers().collect::<Vec<_>>(), numbers);
            prop_assert_eq!(all[1], Field { number: 300, value: Value::Bytes(&text) });
            prop_assert_eq!(all[2].value.number(), u64::MAX);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut fields = Fields::new(&bytes);
            let seen = fields.by_ref().count();
            prop_assert!(seen <= bytes.len() / 2);
            prop_assert!(fields.damage().map_or(fields.at == bytes.len(), |at| at < bytes.len()));
        }
    }
}
