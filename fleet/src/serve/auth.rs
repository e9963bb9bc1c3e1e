//! Who asks: tokens with a role, kept as hashes; compared in constant time.
//!
//! Invariant: no token is ever written; a file of tokens that is stolen opens nothing.

use crate::error::FleetError;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a token may do; each may do less than the next one, but for `Ingest`, which may write and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Read,
    Ingest,
    Admin,
}

impl Role {
    pub fn may_read(self) -> bool {
        matches!(self, Role::Read | Role::Admin)
    }

    pub fn may_write(self) -> bool {
        matches!(self, Role::Ingest | Role::Admin)
    }
}

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Whose it is, for the audit log.
    pub name: String,
    pub role: Role,
    /// The only host that it may write; all where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// SHA-256 of the token, in hexadecimal digits.
    pub sha256: String,
}

/// 256 random bits as hexadecimal digits.
///
/// # Errors
/// When the system has no randomness.
pub fn draw() -> Result<String, FleetError> {
    let mut bytes = [0u8; 32];
    SystemRandom::new().fill(&mut bytes).map_err(FleetError::encode("a token"))?;
    Ok(hex(&bytes))
}

pub fn hash(token: &str) -> String {
    hex(digest(&SHA256, token.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tokens of a file: one a line, as JSON.
///
/// # Errors
/// When it cannot be read, or a line is no token.
pub fn read_tokens(path: &Path) -> Result<Vec<Token>, FleetError> {
    let text = std::fs::read_to_string(path).map_err(FleetError::io("read the tokens in", path))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let token = |(line, number): (&str, usize)| {
        serde_json::from_str(line).map_err(|e| FleetError::Unfit {
            path: path.to_owned(),
            found: format!("line {number} is no token: {e}"),
            hint: "zwhy-fleet token makes one",
        })
    };
    lines.map(token).collect()
}

/// The token that was shown; all are compared, whichever it is.
pub fn find<'a>(tokens: &'a [Token], shown: &str) -> Option<&'a Token> {
    let shown = hash(shown);
    tokens.iter().fold(None, |found, token| if equal(&token.sha256, &shown) { Some(token) } else { found })
}

/// Compares all of both, so that the time says nothing of where they differ.
fn equal(a: &str, b: &str) -> bool {
    let differ = a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_itself_and_kept_as_its_hash() {
        let (one, two) = (draw().unwrap(), draw().unwrap());
        assert!(one.len() == 64 && one != two);
        let token = |name: &str, text: &str| Token {
            name: name.into(),
            role: Role::Read,
            host: None,
            sha256: hash(text),
        };
        let tokens = [token("a", &one), token("b", &two)];
        assert_eq!(find(&tokens, &one).unwrap().name, "a");
        assert_eq!(find(&tokens, &two).unwrap().name, "b");
        assert!(find(&tokens, "").is_none() && find(&tokens, &one[1..]).is_none());
        assert!(find(&tokens, &tokens[0].sha256).is_none(), "the hash opens nothing");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokens");
        let line = serde_json::to_string(&tokens[0]).unwrap();
        std::fs::write(&path, format!("{line}\n\n")).unwrap();
        assert_eq!(read_tokens(&path).unwrap(), tokens[..1]);
        assert!(!line.contains(&one));
        std::fs::write(&path, "{}").unwrap();
        assert!(read_tokens(&path).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn roles_are_apart() {
        let of = |role: Role| (role.may_read(), role.may_write());
        assert_eq!(
            [Role::Read, Role::Ingest, Role::Admin].map(of),
            [(true, false), (false, true), (true, true)]
        );
    }
}
