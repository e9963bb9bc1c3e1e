//! Before anything is answered: is the server called by its name, who asks, may they, and not too often.

use super::audit::Line;
use super::auth::{Token, find};
use super::{App, Client};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For a whole request and its body, until its answer begins.
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// What has to be asked for with a token; all else is the page, which holds nothing of the store.
const WITH_TOKEN: &str = "/api/";
/// What browsers must not do with an answer.
const HARDENED: [(&str, &str); 7] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
];

/// What went wrong here; it is for the audit log, and not for whoever asked.
#[derive(Clone, Debug)]
pub struct Why(pub String);

/// An answer that is no success: a sentence for whoever asked.
pub fn refused(status: StatusCode, why: &str) -> Response {
    (status, axum::Json(serde_json::json!({ "error": why }))).into_response()
}

/// Lets through who may ask, and writes down what became of it.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let from = request.extensions().get::<Client>().map(|client| client.0.ip());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let token = shown(request.headers()).and_then(|shown| find(&app.tokens, shown)).cloned();
    let admitted = admitted(&app, &request, token.as_ref(), from);
    let mut response = match admitted {
        Err(response) => *response,
        Ok(()) => {
            if let Some(token) = &token {
                request.extensions_mut().insert(token.clone());
            }
            answered(next.run(request)).await
        }
    };
    let why = response.extensions_mut().remove::<Why>().map(|why| why.0).unwrap_or_default();
    app.audit.put(&Line {
        who: token.as_ref().map_or("", |token| token.name.as_str()),
        from: &from.map(|from| from.to_string()).unwrap_or_default(),
        method: method.as_str(),
        path: &path,
        status: response.status().as_u16(),
        why: &why,
    });
    for (name, value) in HARDENED {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// The answer, or that it took too long or failed: whatever happens is written down.
async fn answered(answer: impl Future<Output = Response>) -> Response {
    // Nothing is shared with a request that failed but what locks guard.
    let answer = AssertUnwindSafe(answer).catch_unwind();
    match tokio::time::timeout(REQUEST_TIME, answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            let mut response = refused(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
            response.extensions_mut().insert(Why("a panic".to_owned()));
            response
        }
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "this took too long"),
    }
}

fn admitted(
    app: &App,
    request: &Request,
    token: Option<&Token>,
    from: Option<IpAddr>,
) -> Result<(), Box<Response>> {
    // A web site that points a name of its own here asks by that name.
    if !has_our_name(app, request.headers()) {
        return Err(Box::new(refused(StatusCode::MISDIRECTED_REQUEST, "this server has another name")));
    }
    let now = Instant::now();
    let may = match token {
        Some(token) => app.limits.take(&token.sha256, now),
        // Guesses of tokens count, too.
        None => app.strangers.take(&network(from), now),
    };
    if !may {
        let mut response = refused(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        return Err(Box::new(response));
    }
    if !request.uri().path().starts_with(WITH_TOKEN) {
        return Ok(());
    }
    let Some(token) = token else {
        let mut response =
            refused(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN");
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Err(Box::new(response));
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let may = if reads { token.role.may_read() } else { token.role.may_write() };
    if may { Ok(()) } else { Err(Box::new(refused(StatusCode::FORBIDDEN, "this token may not do that"))) }
}

/// The token that was shown. There are no cookies, so no web site can have a browser ask for it.
fn shown(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Whom a stranger is counted as: an address, or a network of IPv6, in which one client has as many as it likes.
fn network(from: Option<IpAddr>) -> String {
    match from {
        Some(IpAddr::V6(v6)) if v6.to_ipv4_mapped().is_none() => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        Some(other) => other.to_canonical().to_string(),
        None => String::new(),
    }
}

fn has_our_name(app: &App, headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    app.names.iter().any(|ours| ours.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_fails_is_answered() {
        async fn fails() -> Response {
            panic!("as a test")
        }
        assert_eq!(answered(fails()).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[test]
    fn strangers_are_counted_by_address_and_by_network() {
        let of = |text: &str| network(text.parse().ok());
        assert_eq!(of("10.0.0.1"), "10.0.0.1");
        assert_eq!(of("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
    }
}
