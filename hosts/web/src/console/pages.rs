//! The page of a console, its files, and the exchange of a code for a token.

use super::assets::ASSETS;
use super::codes::Codes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::body::Bytes;
use toolkit_serve::axum::extract::rejection::BytesRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use toolkit_serve::axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolkit_serve::axum::middleware::map_response;
use toolkit_serve::axum::response::{IntoResponse, Response};
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::{BodyLimits, Bounded, Problem, new_token};

/// The page loads from this server alone, runs no script or style that stands in a page, and is in no frame of another one.
const POLICY: &str = "default-src 'self'; img-src 'self' blob:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";
/// Bytes of the body of an exchange, and the time for them to arrive.
const EXCHANGE: (usize, Duration) = (1_024, Duration::from_secs(10));

/// A token that is being made.
type Giving = Pin<Box<dyn Future<Output = Result<String, Problem>> + Send>>;

/// The page of a console with its files, for a host that has tokens of its own. A code stands for a `T`, such as a person: the page that opens
/// an address with the code gets the token that the host makes for it.
///
/// The routes need no token, and read bodies of 1 KiB at most.
pub struct ConsolePages<T>(Arc<Inner<T>>);

struct Inner<T> {
    codes: Codes<T>,
    give: Box<dyn Fn(T) -> Giving + Send + Sync>,
    page: &'static str,
}

impl<T> Clone for ConsolePages<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for ConsolePages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsolePages").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    code: String,
}

impl<T: Send + 'static> ConsolePages<T> {
    /// Creates the pages of a host with tools alone. `give` makes the token for a code that is exchanged.
    pub fn new<F, A>(give: F) -> Self
    where
        F: Fn(T) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, Problem>> + Send + 'static,
    {
        Self::with(&ASSETS.page, give)
    }

    /// Creates the pages of a gateway, whose routes are those of `toolkit_gateway::http`.
    pub fn of_gateway<F, A>(give: F) -> Self
    where
        F: Fn(T) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, Problem>> + Send + 'static,
    {
        Self::with(&ASSETS.page_of_gateway, give)
    }

    fn with<F, A>(page: &'static str, give: F) -> Self
    where
        F: Fn(T) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, Problem>> + Send + 'static,
    {
        let give = move |grant| -> Giving { Box::pin(give(grant)) };
        Self(Arc::new(Inner { codes: Codes::default(), give: Box::new(give), page }))
    }

    /// Returns a new code, which counts once, within 60 seconds. The address of the page with it is `http://HOST:PORT/#code=CODE`.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the system has no random numbers.
    pub fn code(&self, grant: T) -> io::Result<String> {
        let code = new_token()?;
        self.0.codes.add(&code, grant);
        Ok(code)
    }

    /// Returns the limits of the body of a request for these pages, for a host that reads it before.
    pub fn body_limits() -> BodyLimits {
        let (bytes, within) = EXCHANGE;
        BodyLimits::new(bytes, within)
    }

    /// Returns true for the path of a request that the [`routes`](Self::routes) answer.
    pub fn has_path(path: &str) -> bool {
        path == "/" || path.starts_with("/console/")
    }

    /// Returns the routes, `/` and those below `/console/`.
    pub fn routes(&self) -> Router {
        let exchange = Router::new().route("/", post(exchange::<T>)).with_state(self.clone());
        let exchange = Bounded::new(exchange).body(Self::body_limits());
        let page = self.0.page;
        let pages = Router::new()
            .route("/", get(async move || shown(page)))
            .route("/console/{version}/{name}", get(file))
            .layer(map_response(guarded));
        pages.nest_service("/console/token", exchange)
    }
}

/// Adds what browsers hold the page to.
async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn shown(page: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-cache")], page)
}

async fn file(Path((version, name)): Path<(String, String)>) -> Result<impl IntoResponse, Problem> {
    let found = ASSETS.find(&name).filter(|_| version == ASSETS.version);
    let Some(file) = found else {
        let text = "the console has no such file; a page of an earlier version is mended by loading it again";
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    };
    let headers = [(CONTENT_TYPE, file.kind), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, &*file.content))
}

async fn exchange<T: Send + 'static>(
    State(console): State<ConsolePages<T>>,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let bytes = bytes?;
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().is_none_or(|kind| !kind.trim().eq_ignore_ascii_case("application/json")) {
        let text = "the body is JSON, with the header `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let Ok(Exchange { code }) = serde_json::from_slice(&bytes) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the body is `{\"code\": \"…\"}`"));
    };
    let Some(grant) = console.0.codes.take(&code) else {
        let text = "this address was used already, or is older than a minute; the program that served it makes another one";
        return Err(Problem::new(StatusCode::FORBIDDEN, text));
    };
    let answer: Value = json!({ "token": (console.0.give)(grant).await? });
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    Ok((headers, answer.to_string()).into_response())
}
