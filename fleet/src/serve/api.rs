//! What can be asked by HTTP, and the page that asks it.

use super::arrow::{Form, Kind, Table};
use super::guard::{Why, guard, refused};
use super::params::Params;
use super::{App, segments};
use crate::answers::{Picture, hosts, kstat_points, kstats, stages_over_time};
use crate::error::FleetError;
use crate::findings::findings;
use crate::groups::Apart;
use crate::scope::Scope;
use crate::stages::StageRow;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use zwhy_formats::ExportOptions;

/// Every address there is, as the OpenAPI file names them.
pub const ROUTES: [(&str, &str); 10] = [
    ("get", "/api/v1/hosts"),
    ("get", "/api/v1/stages"),
    ("get", "/api/v1/stages/steps"),
    ("get", "/api/v1/functions"),
    ("get", "/api/v1/flame"),
    ("get", "/api/v1/findings"),
    ("get", "/api/v1/kstat"),
    ("get", "/api/v1/compare"),
    ("get", "/api/v1/openapi.json"),
    ("put", "/api/v1/units/{host}/{start_ms}/{name}/{table}/{part}"),
];

const OPENAPI: &str = include_str!("openapi.json");
const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/page.js");
const CHARTS: &str = include_str!("page/charts.js");
const STYLE: &str = include_str!("page/page.css");
const JSON: &str = "application/json";

/// Steps of time in one answer where the range has a begin.
const MOST_STEPS: i64 = 5000;

/// What may be in the query of a request that has a range.
const RANGE: [&str; 2] = ["from", "to"];

pub fn router(app: Arc<App>) -> Router {
    let text =
        |kind: &'static str, text: &'static str| get(move || async move { ([(CONTENT_TYPE, kind)], text) });
    Router::new()
        .route("/", text("text/html; charset=utf-8", PAGE))
        .route("/page.js", text("text/javascript; charset=utf-8", SCRIPT))
        .route("/charts.js", text("text/javascript; charset=utf-8", CHARTS))
        .route("/page.css", text("text/css; charset=utf-8", STYLE))
        .route("/api/v1/openapi.json", text(JSON, OPENAPI))
        .route("/api/v1/hosts", get(get_hosts))
        .route("/api/v1/stages", get(get_stages))
        .route("/api/v1/stages/steps", get(get_steps))
        .route("/api/v1/functions", get(get_functions))
        .route("/api/v1/flame", get(get_flame))
        .route("/api/v1/findings", get(get_findings))
        .route("/api/v1/kstat", get(get_kstat))
        .route("/api/v1/compare", get(get_compare))
        .route("/api/v1/units/{host}/{start_ms}/{name}/{table}/{part}", put(segments::put))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// What a request is answered with where it fails.
enum Failed {
    /// What is wrong with the request.
    Asked(String),
    /// What is wrong here: whoever asks is not told of files of this machine.
    Store(FleetError),
}

impl From<FleetError> for Failed {
    fn from(error: FleetError) -> Failed {
        Failed::Store(error)
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Asked(why)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        match self {
            Failed::Asked(why) | Failed::Store(FleetError::Ask(why)) => {
                refused(StatusCode::BAD_REQUEST, &why)
            }
            Failed::Store(error) => {
                let mut response = refused(StatusCode::INTERNAL_SERVER_ERROR, "the store could not be asked");
                response.extensions_mut().insert(Why(error.to_string()));
                response
            }
        }
    }
}

type Answer = Result<Response, Failed>;
type Asked = State<Arc<App>>;

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

/// The query, with a place among those that are worked on.
async fn asked<'a>(
    app: &'a App,
    query: Option<&str>,
    known: &[&str],
) -> Result<(Params, Scope, tokio::sync::SemaphorePermit<'a>), Failed> {
    let known: Vec<&str> = RANGE.iter().chain(known).copied().collect();
    let params = Params::of(query, &known)?;
    let scope = params.scope("", now_ms())?;
    let place = app.queries.acquire().await.map_err(|_| "the server ends".to_owned())?;
    Ok((params, scope, place))
}

/// A range is not parted into more steps than anybody looks at.
fn check_steps(scope: &Scope, step_ms: i64) -> Result<(), String> {
    let is_open = scope.from_ms == i64::MIN;
    let length_ms = scope.to_ms.min(now_ms()).saturating_sub(scope.from_ms);
    if is_open && step_ms < 60_000 || !is_open && length_ms / step_ms > MOST_STEPS {
        return Err(format!("more than {MOST_STEPS} steps, or a step of seconds in a range without a begin"));
    }
    Ok(())
}

async fn get_hosts(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (_, scope, _place) = asked(&app, query.as_deref(), &[]).await?;
    Ok(form.answer(&hosts(&app.store, scope, &app.knowledge.anatomy).await?)?)
}

async fn get_stages(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (_, scope, _place) = asked(&app, query.as_deref(), &[]).await?;
    let picture = Picture::take(&app.store, scope, Apart::Nothing).await?;
    Ok(form.answer(&picture.stages(&app.knowledge.anatomy))?)
}

async fn get_steps(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (params, scope, _place) = asked(&app, query.as_deref(), &["step"]).await?;
    let step = params.step()?;
    check_steps(&scope, step)?;
    Ok(form.answer(&stages_over_time(&app.store, scope, step, &app.knowledge.anatomy).await?)?)
}

async fn get_functions(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (params, scope, _place) = asked(&app, query.as_deref(), &["event", "most"]).await?;
    let most = params.text("most").map_or(Ok(100), str::parse::<usize>);
    let most = most.map_err(|_| "most is no number".to_owned())?;
    let event = params.event()?;
    let mut rows = Picture::take(&app.store, scope, Apart::Nothing).await?.functions(event);
    rows.truncate(most);
    Ok(form.answer(&rows)?)
}

async fn get_findings(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (_, scope, _place) = asked(&app, query.as_deref(), &[]).await?;
    Ok(form.answer(&findings(&app.store, &scope).await?)?)
}

async fn get_kstat(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (params, scope, _place) = asked(&app, query.as_deref(), &["source", "name"]).await?;
    match (params.text("source"), params.text("name")) {
        (Some(source), Some(name)) => Ok(form.answer(&kstat_points(&app.store, scope, source, name).await?)?),
        (source, name) => Ok(form.answer(&kstats(&app.store, scope, source, name).await?)?),
    }
}

/// A line of the fold.
#[derive(Debug, Serialize)]
struct Folded {
    /// The thread, then functions, the outermost first.
    stack: Vec<String>,
    samples: u64,
}

impl Table for Folded {
    const COLUMNS: &'static [(&'static str, Kind)] = &[("stack", Kind::Texts), ("samples", Kind::Count)];
}

fn folded(text: &str) -> Vec<Folded> {
    let line = |line: &str| {
        let (stack, samples) = line.rsplit_once(' ')?;
        Some(Folded { stack: stack.split(';').map(str::to_owned).collect(), samples: samples.parse().ok()? })
    };
    text.lines().filter_map(line).collect()
}

async fn get_flame(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (params, scope, _place) = asked(&app, query.as_deref(), &["event", "format"]).await?;
    let event = params.event()?;
    let (format, kind) = match params.text("format").unwrap_or("folded") {
        "folded" => ("folded", "text/plain; charset=utf-8"),
        "pprof" => ("pprof", "application/octet-stream"),
        _ => return Err("format is none of folded and pprof".to_owned().into()),
    };
    let evidence = Picture::take(&app.store, scope, Apart::Nothing).await?.evidence();
    let options = ExportOptions { event, ..ExportOptions::default() };
    let mut out: Vec<u8> = Vec::new();
    let written = zwhy_formats::export(&evidence, format, &options, "the answer", &mut out);
    written.map_err(FleetError::encode("the flame graph"))?;
    if form == Form::Arrow && params.text("format").is_none() {
        return Ok(form.answer(&folded(&String::from_utf8_lossy(&out)))?);
    }
    Ok(([(CONTENT_TYPE, kind)], out).into_response())
}

/// A stage on two sides, as parts of the CPU samples of each.
#[derive(Debug, Serialize)]
struct Compared {
    stage: String,
    samples: u64,
    other_samples: u64,
    share: f64,
    other_share: f64,
    /// `other_share - share`.
    change: f64,
}

impl Table for Compared {
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("stage", Kind::Text),
        ("samples", Kind::Count),
        ("other_samples", Kind::Count),
        ("share", Kind::Number),
        ("other_share", Kind::Number),
        ("change", Kind::Number),
    ];
}

async fn get_compare(State(app): Asked, RawQuery(query): RawQuery, form: Form) -> Answer {
    let (params, scope, _place) =
        asked(&app, query.as_deref(), &["other_host", "other_from", "other_to"]).await?;
    let other = params.scope("other_", now_ms())?;
    let mut sides = Vec::new();
    for scope in [scope, other] {
        let picture = Picture::take(&app.store, scope, Apart::Nothing).await?;
        sides.push(picture.stages(&app.knowledge.anatomy));
    }
    let mut rows: BTreeMap<String, [StageRow; 2]> = BTreeMap::new();
    for (at, side) in sides.into_iter().enumerate() {
        for row in side {
            let none = StageRow { samples: 0, share: 0.0, ..row.clone() };
            let sides = rows.entry(row.stage.clone()).or_insert_with(|| [none.clone(), none]);
            sides[at] = row;
        }
    }
    let compared = |(stage, [one, other]): (String, [StageRow; 2])| Compared {
        stage,
        samples: one.samples,
        other_samples: other.samples,
        share: one.share,
        other_share: other.share,
        change: other.share - one.share,
    };
    let mut rows: Vec<Compared> = rows.into_iter().map(compared).collect();
    rows.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()).then_with(|| a.stage.cmp(&b.stage)));
    Ok(form.answer(&rows)?)
}
