//! What is sent back: a page with the headers that keep it to itself, or why there is none.

use http::StatusCode;
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

/// What a reader can do about the end of a request. It repeats nothing of the request.
pub fn page_of(status: StatusCode) -> Page {
    Page::text(match status {
        StatusCode::OK => "Done. zwhy has ended; this page can be closed.\n",
        StatusCode::FORBIDDEN => "Not with this address. Use the whole address that zwhy printed.\n",
        StatusCode::NOT_FOUND => "There is no such page. Use the address that zwhy printed.\n",
        StatusCode::SERVICE_UNAVAILABLE => "Too many requests at once. Try again.\n",
        _ => "This request is not understood.\n",
    })
}

/// Writes an answer after which the connection ends; of the page only its headers where `head`.
pub fn write(out: &mut impl Write, status: StatusCode, page: &Page, head: bool) -> io::Result<()> {
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
        // Number and words.
        status,
        page.kind,
        page.body.len(),
        page.policy,
    )?;
    if !head {
        out.write_all(&page.body)?;
    }
    out.flush()
}
