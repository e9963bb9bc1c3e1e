//! Something that OpenZFS, or the process that runs it, refused to do.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Something OpenZFS or the child refused to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// "write 1 MiB at byte 0 of object 2"
    pub doing: String,
    /// The function of OpenZFS that failed; empty when it was none.
    pub function: String,
    /// Its error number; 0 when there is none.
    pub errno: i32,
    /// What was found, in words.
    pub found: String,
}

impl Failure {
    /// An OpenZFS function returned an error number.
    pub fn call(doing: impl Into<String>, function: &str, errno: i32) -> Failure {
        Failure { doing: doing.into(), function: function.into(), errno, found: errno_text(errno) }
    }

    pub fn other(doing: impl Into<String>, found: impl ToString) -> Failure {
        Failure { doing: doing.into(), function: String::new(), errno: 0, found: found.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.function.is_empty() {
            write!(f, "cannot {}: {}", self.doing, self.found)
        } else {
            write!(f, "cannot {}: {} returned {} ({})", self.doing, self.function, self.errno, self.found)
        }
    }
}

/// OpenZFS reuses some error numbers for meanings of its own (`include/os/linux/spl/sys/errno.h`).
fn errno_text(errno: i32) -> String {
    match errno {
        libc::EBADE => "checksum error, or data that cannot be decrypted".into(),
        libc::ENODATA => "a feature or property that is not there".into(),
        libc::EACCES => "the encryption key is wrong or not loaded".into(),
        _ => {
            let text = std::io::Error::from_raw_os_error(errno).to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_function_number_and_words() {
        let text = Failure::call("make the pool", "spa_create", libc::ENOSPC).to_string();
        assert_eq!(text, "cannot make the pool: spa_create returned 28 (No space left on device)");
        let text = Failure::other("verify byte 7", "1 instead of 2").to_string();
        assert_eq!(text, "cannot verify byte 7: 1 instead of 2");
    }
}
