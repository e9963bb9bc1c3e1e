//! Files that hosts send by HTTP PUT, as the agent puts them into a bucket: the same parts, under keys made here.
//!
//! Invariants: a part that is sent again as it was changes nothing, and one that differs is refused; no key is a
//! client's; what is received at a time is bounded, whoever sends it.

use super::App;
use super::auth::{Role, Token};
use super::check::{check_body, check_name};
use super::guard::{Why, refused};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Path, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use zwhy_capture::shipped_key;

/// Of a part: the agent's are smaller than this by far.
const MOST_BYTES: usize = 64 << 20;

type Part = (String, i64, String, String, u32);

/// `PUT /api/v1/units/{host}/{start_ms}/{name}/{table}/{part}`
pub async fn put(
    State(app): State<Arc<App>>,
    Extension(token): Extension<Token>,
    Path((host, start_ms, name, table, part)): Path<Part>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let is_its_own = token.role == Role::Admin || token.host.as_ref().is_none_or(|own| *own == host);
    if !is_its_own {
        return refused(StatusCode::FORBIDDEN, "this token is of another host");
    }
    if let Err(why) = check_name(&host, start_ms, &name, &table, part) {
        return refused(StatusCode::BAD_REQUEST, why);
    }
    let body = match received(&app, &headers, body, &table).await {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let key = shipped_key(&table, &host, start_ms, &name, part);
    match app.store.put_new(&key, body.to_vec()).await {
        Ok(true) => StatusCode::CREATED.into_response(),
        Ok(false) => match app.store.get(&key).await {
            Ok(Some(known)) if known == body => StatusCode::OK.into_response(),
            Ok(_) => refused(StatusCode::CONFLICT, "another part is there under this name"),
            Err(error) => unavailable("the store cannot be read", &error.to_string()),
        },
        Err(error) => unavailable("the store cannot be written", &error.to_string()),
    }
}

fn unavailable(told: &str, why: &str) -> Response {
    let mut response = refused(StatusCode::SERVICE_UNAVAILABLE, told);
    response.extensions_mut().insert(Why(why.to_owned()));
    response
}

/// A body that is what it should be, with memory that is kept for it until it is checked.
async fn received(app: &App, headers: &HeaderMap, body: Body, table: &str) -> Result<Bytes, Box<Response>> {
    let told = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let refusal = |status, why: &str| Box::new(refused(status, why));
    let Some(length) = told else {
        return Err(refusal(StatusCode::LENGTH_REQUIRED, "the length of the body is needed"));
    };
    if length > MOST_BYTES {
        return Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "a part has 64 MiB at most"));
    }
    let kib = u32::try_from(length / 1024 + 1).unwrap_or(u32::MAX);
    let kept = app.bodies.acquire_many(kib).await;
    let _kept = kept.map_err(|_| refusal(StatusCode::SERVICE_UNAVAILABLE, "the server ends"))?;
    let body = to_bytes(body, length).await;
    let body = body.map_err(|_| refusal(StatusCode::BAD_REQUEST, "the body ended early"))?;
    let (checked, of) = (body.clone(), table.to_owned());
    // What is hostile may be slow to read, or end the reader.
    match tokio::task::spawn_blocking(move || check_body(&of, checked)).await {
        Ok(Ok(())) => Ok(body),
        Ok(Err(why)) => Err(refusal(StatusCode::BAD_REQUEST, &why)),
        Err(_) => Err(refusal(StatusCode::BAD_REQUEST, "the body cannot be read")),
    }
}
