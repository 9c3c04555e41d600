//! The routes.

use crate::accept::AcceptsJson;
use crate::access::Access;
use crate::answer::Answer;
use crate::metrics::Gauges;
use crate::openapi::{Description, describe};
use crate::problems::no_room;
use crate::room::holding;
use crate::web::Web;
use crate::{asks as questions, calls, last_calls, tools as listed};
use serde_json::Value;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::{DefaultBodyLimit, State};
use toolkit_serve::axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use toolkit_serve::axum::http::{HeaderValue, StatusCode, Uri};
use toolkit_serve::axum::middleware::map_response;
use toolkit_serve::axum::response::{IntoResponse, Response};
use toolkit_serve::axum::routing::{MethodRouter, get, post};
use toolkit_serve::{Problem, Query, in_pieces};

const READ: &str = "GET, HEAD, OPTIONS";
const WRITE: &str = "POST, OPTIONS";

impl Web {
    /// Returns the routes of tools alone: `/v1/tools…`, the files of results, and keyed calls. A layer of the host adds an [`Access`] to the extensions of
    /// each request, limits the number of requests, and reads their bodies within a limit. The routes have no fallback.
    pub fn tool_routes(&self) -> Router {
        tools().with_state(self.clone())
    }

    /// Returns the routes of the questions of calls, `/v1/asks`, for clients with [`Asking::Served`](crate::Asking::Served).
    pub fn ask_routes(&self) -> Router {
        asks().with_state(self.clone())
    }

    /// Returns the routes of the description and the metrics: `/v1/openapi.json` and `/metrics`.
    pub fn about_routes(&self) -> Router {
        about().with_state(self.clone())
    }

    /// Returns the `OpenAPI` description of all routes, with the tools of a client.
    ///
    /// # Errors
    ///
    /// A problem with status 503 if too many clients are in use.
    pub async fn description(&self, access: &Access) -> Result<Description, Problem> {
        let toolbox = self.inner.toolbox_of(access).await?;
        Ok(describe(&toolbox, access))
    }

    /// Returns an answer with JSON to a client, for routes of the host: its bytes are in the limit of all answers of the client that are on their way.
    ///
    /// # Errors
    ///
    /// A problem with status 503 if the client has no room, since it has not read earlier answers, or if too many clients are in use.
    pub fn answer(&self, access: &Access, json: &Value) -> Result<Response, Problem> {
        let client = self.inner.clients.of(access)?;
        Ok(Answer::ok(json, &client.sent)?.into_response())
    }

    /// Returns the metrics in the text format of Prometheus, of the tools that a client may use, and of all tools for the owner of the host.
    ///
    /// # Errors
    ///
    /// A problem with status 503 if too many clients are in use.
    pub async fn metrics(&self, access: &Access) -> Result<String, Problem> {
        let toolbox = self.inner.toolbox_of(access).await?;
        let (clients, results) = self.inner.clients.counts();
        let gauges = Gauges { clients, results, bytes: self.inner.clients.kept_bytes() };
        let shows = |name: &str| toolbox.tool(name).is_some() || (access.is_owner() && !access.is_limited());
        Ok(self.inner.metrics.text(gauges, shows))
    }
}

fn tools() -> Router<Web> {
    Router::new()
        .route("/v1/tools", with_options(get(listed::list), READ))
        .route("/v1/tools/{name}", with_options(get(listed::definition), READ))
        .route("/v1/tools/{name}/calls", with_options(get(last_calls::list), READ))
        .route("/v1/tools/{name}/validate", with_options(post(listed::validate), WRITE))
        .route("/v1/tools/{name}/call", with_options(post(calls::call), WRITE))
        .route("/v1/results/{id}/{number}", with_options(get(calls::file), READ))
        .route(
            "/v1/keyed-calls/{key}",
            with_options(get(calls::show_key).delete(calls::cancel_key), "GET, HEAD, DELETE, OPTIONS"),
        )
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(not_stored))
}

fn asks() -> Router<Web> {
    Router::new()
        .route("/v1/asks", with_options(get(questions::list), READ))
        .route("/v1/asks/{id}", with_options(post(questions::answer), WRITE))
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(not_stored))
}

fn about() -> Router<Web> {
    Router::new()
        .route("/v1/openapi.json", with_options(get(description), READ))
        .route("/metrics", with_options(get(metrics), READ))
        .layer(map_response(not_stored))
}

/// Returns the routes with problems for paths and methods that are not there.
pub(crate) fn with_fallbacks(router: Router) -> Router {
    router
        .fallback(async || {
            Problem::new(
                StatusCode::NOT_FOUND,
                "there is nothing at this path; GET /v1/openapi.json describes those that are there",
            )
        })
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this path does not take this method; the header `Allow` lists those that it takes",
            )
        })
}

/// Answers `OPTIONS` with the methods that a path takes.
fn with_options(methods: MethodRouter<Web>, allowed: &'static str) -> MethodRouter<Web> {
    methods.options(async move || (StatusCode::NO_CONTENT, [(ALLOW, HeaderValue::from_static(allowed))]))
}

async fn description(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = Query::of(&uri).only([])?;
    web.answer(&access, &web.description(&access).await?.into_json())
}

async fn metrics(State(web): State<Web>, access: Access, uri: Uri) -> Result<Response, Problem> {
    let [] = Query::of(&uri).only([])?;
    let text = web.metrics(&access).await?;
    let share = web.inner.clients.of(&access)?.sent.take(text.len()).ok_or_else(no_room)?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(CONTENT_TYPE, kind)], in_pieces(holding(text.into(), share))).into_response())
}

/// Says that nothing stores an answer, which is one client's.
async fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
