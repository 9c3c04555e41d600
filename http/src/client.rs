//! The client: requests, redirects, limits.

mod exchange;

use crate::{ConnectError, FetchError, Guard, Limits, Phase, Refused, Target};
use bytes::Bytes;
use exchange::Answer;
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// Sends requests to addresses that the [`Guard`] allows. Cheap to clone; connections are not kept.
#[derive(Clone)]
pub struct Client {
    guard: Guard,
    limits: Limits,
    user_agent: HeaderValue,
    tls: Option<Arc<rustls::ClientConfig>>,
}

/// A request.
#[derive(Clone)]
pub struct Request {
    method: Method,
    url: String,
    headers: HeaderMap,
    credentials: HeaderMap,
    body: Bytes,
}

/// A response, whole.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response {
    /// The URL that answered, after all redirects.
    pub url: Url,
    /// The URLs that redirected, in order.
    pub redirects: Vec<Url>,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

impl Request {
    /// A request for a page.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url.into(), Bytes::new())
    }

    /// Creates a request with a body. Its redirects are not followed: the response is returned as it is.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Method::POST, url.into(), Bytes::from(body.into()))
    }

    fn new(method: Method, url: String, body: Bytes) -> Self {
        Self { method, url, headers: HeaderMap::new(), credentials: HeaderMap::new(), body }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Adds a header that is sent only to the origin of the URL: after a redirect to another origin it is left out.
    #[must_use]
    pub fn with_credential(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.credentials.insert(name, value);
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("guard", &self.guard)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client. It names itself `toolkit/<version>`.
    pub fn new(guard: Guard, limits: Limits) -> Self {
        let user_agent = HeaderValue::from_static(concat!("toolkit/", env!("CARGO_PKG_VERSION")));
        Self { guard, limits, user_agent, tls: None }
    }

    /// Sets the `User-Agent`.
    #[must_use]
    pub fn with_user_agent(mut self, user_agent: HeaderValue) -> Self {
        self.user_agent = user_agent;
        self
    }

    /// Sets the TLS configuration, for certificates that the system does not trust.
    #[must_use]
    pub fn with_tls(mut self, config: Arc<rustls::ClientConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// The guard.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Sends a request and returns the response with its whole body, for any status. Redirects of a `GET` are followed, each checked
    /// by the guard. Dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// The guard refuses a URL or an address, a limit is reached, or the server cannot be understood.
    pub async fn send(&self, request: Request) -> Result<Response, FetchError> {
        let within = self.limits.total;
        let sent = tokio::time::timeout(within, self.follow(request)).await;
        sent.unwrap_or(Err(FetchError::TimedOut { phase: Phase::Total, within }))
    }

    async fn follow(&self, mut request: Request) -> Result<Response, FetchError> {
        let mut target = self.guard.check_url(&request.url).map_err(FetchError::Refused)?;
        let mut redirects: Vec<Url> = Vec::new();
        loop {
            let answer =
                self.exchange(&request, &target).await.map_err(|error| told(error, redirects.last()))?;
            let location = match answer {
                Answer::Whole { status, headers, body } => {
                    return Ok(Response { url: target.url().clone(), redirects, status, headers, body });
                }
                Answer::Redirect(headers) => headers,
            };
            let from = target.url().clone();
            let next = next(&from, &location)
                .ok_or_else(|| FetchError::RedirectNowhere { from: from.to_string() })?;
            let next = self
                .guard
                .check_parsed(next)
                .map_err(|refused| FetchError::RedirectRefused { from: from.to_string(), refused })?;
            if *next.url() == from || redirects.contains(next.url()) {
                return Err(FetchError::RedirectLoop(next.url().to_string()));
            }
            if redirects.len() == self.limits.redirects {
                let last = next.url().to_string();
                return Err(FetchError::TooManyRedirects { limit: self.limits.redirects, last });
            }
            if next.url().origin() != from.origin() {
                request.credentials.clear();
            }
            redirects.push(from);
            target = next;
        }
    }
}

/// The target of a redirect. Bytes beyond ASCII in the header are UTF-8, as browsers read them.
fn next(from: &Url, headers: &HeaderMap) -> Option<Url> {
    let location = std::str::from_utf8(headers.get(LOCATION)?.as_bytes()).ok()?;
    from.join(location).ok()
}

/// Adds the redirecting URL to the error for an address that is refused after a redirect.
fn told(error: FetchError, from: Option<&Url>) -> FetchError {
    match (error, from) {
        (FetchError::Refused(refused), Some(from)) => {
            FetchError::RedirectRefused { from: from.to_string(), refused }
        }
        (error, _) => error,
    }
}

impl From<ConnectError> for FetchError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Refused(refused) => Self::Refused(refused),
            error => Self::Connect(error),
        }
    }
}

/// `Host` and the form of the request's target.
pub(crate) fn authority(target: &Target) -> String {
    let host = target.url().host_str().unwrap_or_default();
    target.url().port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl From<Refused> for FetchError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
