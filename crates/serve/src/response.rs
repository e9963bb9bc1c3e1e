//! What is sent back: a page with the headers that keep it to itself, or why there is none.

use std::io::{self, Write};

/// Something that can be shown, with what it may load and run.
#[derive(Clone, Debug)]
pub struct Page {
    /// As in the header `Content-Type`, such as `text/html; charset=utf-8`.
    pub kind: &'static str,
    pub body: Vec<u8>,
    /// Its content security policy; that no other page may frame it is added.
    pub policy: String,
}

impl Page {
    /// An HTML page in UTF-8.
    pub fn html(body: impl Into<Vec<u8>>, policy: impl Into<String>) -> Page {
        Page { kind: "text/html; charset=utf-8", body: body.into(), policy: policy.into() }
    }

    /// Metrics in the text format of Prometheus.
    pub fn metrics(body: impl Into<Vec<u8>>) -> Page {
        Page { kind: "text/plain; version=0.0.4; charset=utf-8", ..Page::text(body) }
    }

    /// A sentence for people, or for those who ask without a browser.
    pub fn text(body: impl Into<Vec<u8>>) -> Page {
        Page { kind: "text/plain; charset=utf-8", body: body.into(), policy: "default-src 'none'".to_owned() }
    }
}

/// How a request ends, by its number in HTTP (RFC 9110, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    WrongMethod,
    Timeout,
    HeadTooLarge,
    Failed,
    Busy,
}

impl Status {
    /// Number and words of the status line.
    pub fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::BadRequest => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::WrongMethod => "405 Method Not Allowed",
            Status::Timeout => "408 Request Timeout",
            Status::HeadTooLarge => "431 Request Header Fields Too Large",
            Status::Failed => "500 Internal Server Error",
            Status::Busy => "503 Service Unavailable",
        }
    }

    /// What a reader can do about it. It repeats nothing of the request.
    pub fn page(self) -> Page {
        Page::text(match self {
            Status::Ok => "Done. zwhy has ended; this page can be closed.\n",
            Status::Forbidden => "Not with this address. Use the whole address that zwhy printed.\n",
            Status::NotFound => "There is no such page. Use the address that zwhy printed.\n",
            Status::Busy => "Too many requests at once. Try again.\n",
            Status::BadRequest
            | Status::WrongMethod
            | Status::Timeout
            | Status::HeadTooLarge
            | Status::Failed => "This request is not understood.\n",
        })
    }
}

/// Writes an answer after which the connection ends; of the page only its headers where `head`.
pub fn write(out: &mut impl Write, status: Status, page: &Page, head: bool) -> io::Result<()> {
    write!(
        out,
        "HTTP/1.1 {}\r\n\
         Content-Type: {}\r\n\
         Content-Length: {}\r\n\
         Content-Security-Policy: {}; frame-ancestors 'none'\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Connection: close\r\n\r\n",
        status.line(),
        page.kind,
        page.body.len(),
        page.policy,
    )?;
    if !head {
        out.write_all(&page.body)?;
    }
    out.flush()
}
