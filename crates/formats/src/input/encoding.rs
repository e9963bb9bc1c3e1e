//! Text that begins with a byte order mark: UTF-16, as Windows writes it, and marked UTF-8.

use crate::Input;

/// The same text as UTF-8 without its mark; anything else as it is.
pub fn as_utf8(input: Input, most: u64) -> Input {
    let bytes = input.bytes();
    if bytes.len() as u64 > most {
        return input;
    }
    let wide = |of: fn([u8; 2]) -> u16| -> Vec<u8> {
        let (units, _) = bytes[2..].as_chunks::<2>();
        let units = units.iter().map(|unit| of(*unit));
        let mut out = String::with_capacity(bytes.len() / 2);
        out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        out.into_bytes()
    };
    let (text, order) = if bytes.starts_with(&[0xff, 0xfe]) {
        (wide(u16::from_le_bytes), "little")
    } else if bytes.starts_with(&[0xfe, 0xff]) {
        (wide(u16::from_be_bytes), "big")
    } else if let Some(text) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        let text = text.to_vec();
        return input.recoded(text, None);
    } else {
        return input;
    };
    let cut = if bytes.len() % 2 == 1 { "; its last byte is half a character and was left out" } else { "" };
    input.recoded(text, Some(format!("the text is UTF-16 ({order} end first) and was read as such{cut}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_text_becomes_utf_8() {
        let read = |bytes: Vec<u8>| as_utf8(Input::from_bytes("x", bytes), 1 << 20).bytes().to_vec();
        let text = "a;b \u{1f600} 1\n";
        let units: Vec<u16> = std::iter::once(0xfeff).chain(text.encode_utf16()).collect();
        let little: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|u| u.to_be_bytes()).collect();
        assert_eq!((read(little.clone()), read(big)), (text.as_bytes().to_vec(), text.as_bytes().to_vec()));
        assert_eq!(read(b"\xef\xbb\xbfx 1".to_vec()), b"x 1");
        assert_eq!(read(b"x 1".to_vec()), b"x 1");
        let odd = as_utf8(Input::from_bytes("x", [&little[..], b"\0"].concat()), 1 << 20);
        assert!(odd.notes()[0].contains("half a character"), "{:?}", odd.notes());
        assert_eq!(read(vec![0xff, 0xfe]), b"");
    }
}
