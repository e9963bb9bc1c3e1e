//! How a frame without a symbol is called.

use crate::demangle;

/// Longer names, which C++ and Rust have, would hide the address.
const LONGEST: usize = 48;

/// `module+0xaddress`, with the functions it lies between where they are known:
/// `libzpool.so.6+0x286ee0 (gcm_mul_pclmulqdq..aesni_gcm_decrypt)`.
pub fn unnamed_label(module: &str, address: u64, between: Option<&(String, String)>) -> String {
    let near = between.map(|(before, after)| (demangle(before), demangle(after)));
    match near.filter(|(before, after)| before.len() <= LONGEST && after.len() <= LONGEST) {
        Some((before, after)) => format!("{module}+{address:#x} ({before}..{after})"),
        None => format!("{module}+{address:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_named_when_they_are_short() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(unnamed_label("libc.so.6", 0x10, None), "libc.so.6+0x10");
        let near = pair("gcm_mul_pclmulqdq", "_ZN3foo3barEv");
        assert_eq!(unnamed_label("a.so", 0x1f, Some(&near)), "a.so+0x1f (gcm_mul_pclmulqdq..foo::bar)");
        let far = pair("f", &"x".repeat(LONGEST + 1));
        assert_eq!(unnamed_label("a.so", 1, Some(&far)), "a.so+0x1");
    }
}
