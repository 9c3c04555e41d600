//! The routes.

use crate::accept::AcceptsJson;
use crate::access::Access;
use crate::query::parameters;
use crate::web::Web;
use crate::{asks as questions, calls, tools as listed};
use serde_json::Value;
use toolkit_serve::Problem;
use toolkit_serve::axum::extract::{DefaultBodyLimit, State};
use toolkit_serve::axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use toolkit_serve::axum::http::{HeaderValue, StatusCode, Uri};
use toolkit_serve::axum::middleware::map_response;
use toolkit_serve::axum::response::{IntoResponse, Response};
use toolkit_serve::axum::routing::{MethodRouter, get, post};
use toolkit_serve::axum::{Json, Router};

const READ: &str = "GET, HEAD, OPTIONS";
const WRITE: &str = "POST, OPTIONS";

pub(crate) fn tools() -> Router<Web> {
    Router::new()
        .route("/v1/tools", with_options(get(listed::list), READ))
        .route("/v1/tools/{name}", with_options(get(listed::definition), READ))
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

pub(crate) fn asks() -> Router<Web> {
    Router::new()
        .route("/v1/asks", with_options(get(questions::list), READ))
        .route("/v1/asks/{id}", with_options(post(questions::answer), WRITE))
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(not_stored))
}

pub(crate) fn about() -> Router<Web> {
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
) -> Result<Json<Value>, Problem> {
    let [] = parameters(&uri, [])?;
    Ok(Json(web.description(&access).await?.into_json()))
}

async fn metrics(State(web): State<Web>, access: Access, uri: Uri) -> Result<Response, Problem> {
    let [] = parameters(&uri, [])?;
    let text = web.metrics(&access).await?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}

/// Says that nothing stores an answer, which is one client's.
async fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
