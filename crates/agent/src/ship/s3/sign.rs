//! Signatures of requests to S3 (AWS Signature Version 4, docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).

use ring::{digest, hmac};

/// Who asks.
#[derive(Clone)]
pub(super) struct Keys {
    pub id: String,
    pub secret: String,
    /// Of keys that hold for a while only.
    pub token: Option<String>,
}

/// What is signed; names of headers in lower case and in order.
pub(super) struct Request<'a> {
    pub method: &'a str,
    /// As it is sent.
    pub path: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    /// Of the body.
    pub hash: &'a str,
}

/// The header `Authorization` of a request; `when` is `20130524T000000Z`.
pub(super) fn authorization(keys: &Keys, region: &str, when: &str, request: &Request<'_>) -> String {
    let day = when.split('T').next().unwrap_or_default();
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let headers: String =
        request.headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
    let Request { method, path, hash, .. } = request;
    let canonical = format!("{method}\n{path}\n\n{headers}\n{names}\n{hash}");
    let scope = format!("{day}/{region}/s3/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{when}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let first = format!("AWS4{}", keys.secret);
    let steps = [day, region, "s3", "aws4_request", &text];
    let signature = steps.iter().fold(first.into_bytes(), |key, step| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), step.as_bytes()).as_ref().to_vec()
    });
    let (id, signature) = (&keys.id, hex(&signature));
    format!("AWS4-HMAC-SHA256 Credential={id}/{scope},SignedHeaders={names},Signature={signature}")
}

pub(in crate::ship) fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path as it is sent and signed: all but letters, digits, `-`, `.`, `_`, `~` and `/` by number.
pub(super) fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the documentation above.
    #[test]
    fn signatures_are_those_that_the_service_expects() {
        let keys = Keys {
            id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
        };
        let when = "20130524T000000Z";
        let signature = |request: &Request<'_>| {
            let header = authorization(&keys, "us-east-1", when, request);
            header.rsplit_once("Signature=").unwrap().1.to_owned()
        };
        let (host, none) = (("host", "examplebucket.s3.amazonaws.com"), sha256(b""));
        let get = [host, ("range", "bytes=0-9"), ("x-amz-content-sha256", &none), ("x-amz-date", when)];
        let get = Request { method: "GET", path: "/test.txt", headers: &get, hash: &none };
        assert_eq!(signature(&get), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
        let hash = sha256(b"Welcome to Amazon S3.");
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", &hash),
            ("x-amz-date", when),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let path = encoded("/test$file.text");
        let put = Request { method: "PUT", path: &path, headers: &put, hash: &hash };
        assert_eq!(signature(&put), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    }

    #[test]
    fn what_has_a_meaning_in_an_address_is_sent_by_number() {
        assert_eq!(encoded("/b/host=a%2Fb/x y-1_.~"), "/b/host%3Da%252Fb/x%20y-1_.~");
    }
}
