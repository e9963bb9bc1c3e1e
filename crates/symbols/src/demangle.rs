//! Rust and C++ names as people write them, without hashes, parameters and return types.
//!
//! Invariant: hostile names cost bounded time and memory; what cannot be demangled is kept as is.

use std::borrow::Cow;

/// Longer names are kept mangled: demangling can grow them without bound.
const LONGEST: usize = 4096;

/// The readable form of a symbol name; the name itself when it is not mangled.
pub fn demangle(name: &str) -> Cow<'_, str> {
    if name.len() > LONGEST || !(name.starts_with("_Z") || name.starts_with("_R")) {
        return Cow::Borrowed(name);
    }
    rust(name).or_else(|| cpp(name)).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// `_R…` names, and `_ZN…17h<hash>E` names of older compilers.
fn rust(name: &str) -> Option<String> {
    let parsed = rustc_demangle::try_demangle(name).ok()?;
    let readable = format!("{parsed:#}");
    // A legacy name is also a valid C++ name; only the hash that was cut off tells them apart.
    (name.starts_with("_R") || format!("{parsed}") != readable).then_some(readable)
}

fn cpp(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let readable = symbol.demangle_with_options(&options).ok()?;
    (readable.len() <= LONGEST * 4).then_some(readable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rust_and_cpp_names_become_readable() {
        for (mangled, readable) in [
            ("zio_execute", "zio_execute"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_ZN3foo3barEv", "foo::bar"),
            ("_Z", "_Z"),
            ("_ZNot mangled", "_ZNot mangled"),
        ] {
            assert_eq!(demangle(mangled), readable);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(name in "(_Z|_R|_ZN)[A-Za-z0-9_$.]{0,60}") {
            let _ = demangle(&name);
        }
    }
}
