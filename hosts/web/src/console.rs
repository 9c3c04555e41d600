//! The web console: a page on which a person sees tools, fills their arguments in, and runs them.

mod assets;
mod codes;

use crate::service::{Serving, Tokens};
use crate::web::Web;
use crate::{Asking, WebOptions};
use assets::ASSETS;
use codes::Codes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{CancellationToken, Toolkit};
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
use toolkit_serve::{AsListener, BodyLimits, Bounded, Problem, new_token};

/// The page loads from this server alone, runs no script or style that stands in a page, and is in no frame of another one.
const POLICY: &str = "default-src 'self'; img-src 'self' blob:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";
/// Bytes of the body of an exchange, and the time for them to arrive.
const EXCHANGE: (usize, Duration) = (1_024, Duration::from_secs(10));

/// A console over the tools of a toolkit.
///
/// It listens on this machine, and has one token, which lives as long as it does. A person gets the token with a code that counts once, for a
/// minute: [`open`](Self::open) makes an address with one.
///
/// ```no_run
/// use toolkit::prelude::*;
/// use toolkit_web::Console;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let console = Console::new(Toolkit::builder().build()?)?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// println!("{}", console.open(listener.local_addr()?)?);
/// console.serve(listener).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Console {
    web: Web,
    token: Arc<str>,
    codes: Arc<Codes>,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    code: String,
}

impl Console {
    /// Creates a console. The person who opens it answers the questions of calls, and is told paths on this machine.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the system has no random numbers.
    pub fn new(toolkit: Toolkit) -> io::Result<Self> {
        let mut options = WebOptions::new().asking(Asking::Served);
        options.is_owner = true;
        Self::with(Web::new(toolkit, options))
    }

    /// Creates a console over a service with options of its own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with(web: Web) -> io::Result<Self> {
        Ok(Self { web, token: new_token()?.into(), codes: Arc::default() })
    }

    /// Returns the address of the page, with a new code. The page exchanges it for the token; it counts once, within 60 seconds.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open(&self, address: SocketAddr) -> io::Result<String> {
        let code = new_token()?;
        self.codes.add(&code);
        Ok(format!("http://{address}/#code={code}"))
    }

    /// Serves the console and all routes of [`Web::serve`] until the shutdown of the options.
    ///
    /// # Errors
    ///
    /// As [`Web::serve`].
    pub fn serve(&self, listener: impl AsListener) -> Serving {
        let pages = self.pages();
        self.web.serve_within(Tokens::shared(&*self.token), listener, |inner| pages.fallback_service(inner))
    }

    /// Returns the token that ends the service.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.web.options().shutdown
    }

    /// The page, its files, and the exchange of a code. They need no token.
    fn pages(&self) -> Router {
        let exchange = Router::new().route("/", post(exchange)).with_state(self.clone());
        let (bytes, within) = EXCHANGE;
        let exchange = Bounded::new(exchange).body(BodyLimits::new(bytes, within));
        let pages = Router::new()
            .route("/", get(async || page()))
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

fn page() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-cache")], ASSETS.page.as_str())
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

async fn exchange(
    State(console): State<Console>,
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
    if !console.codes.take(&code) {
        let text = "this address was used already, or is older than a minute; the program that served it makes another one";
        return Err(Problem::new(StatusCode::FORBIDDEN, text));
    }
    let answer: Value = json!({ "token": *console.token });
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    Ok((headers, answer.to_string()).into_response())
}
