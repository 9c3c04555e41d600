//! CORS: headers with which a browser lets pages of other origins call.

use super::layer::{Answering, Inner, answered};
use super::service::{empty, refusal};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use std::sync::Arc;
use url::{Host, Url};

/// Headers of requests that the protocol and a token need.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, \
                               mcp-protocol-version, mcp-method, mcp-name";
/// Headers of answers that a page may read.
const ANSWER_HEADERS: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";
/// Time for which a browser caches the answer to a preflight, in seconds.
const MAX_AGE: &str = "600";

/// Lets pages of some origins call a service, by cross-origin resource sharing.
///
/// It answers preflights itself, since browsers send them without a token: put it around [`Bearer`](crate::Bearer). Requests of other
/// origins pass without the headers that a page needs to read the answer; [`HttpService`](crate::HttpService) refuses them.
#[derive(Debug, Clone)]
pub struct Cors<S> {
    pub(super) inner: S,
    origins: Arc<[Pattern]>,
}

impl<S> Cors<S> {
    /// Lets pages of these origins call `inner`: `https://name:port`, or `*` for the port. An invalid origin is ignored.
    pub fn new(inner: S, origins: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let origins = origins.into_iter().filter_map(|origin| Pattern::parse(origin.as_ref())).collect();
        Self { inner, origins }
    }

    /// The origin of a request, as it was sent, if its pages may call.
    fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = headers.get(ORIGIN)?;
        let origin = Url::parse(value.to_str().ok()?).ok()?;
        self.origins.iter().any(|pattern| pattern.matches(&origin)).then(|| value.clone())
    }

    pub(super) fn answer<B>(&mut self, request: Request<B>) -> Answering
    where
        S: Inner<B>,
    {
        let headers = request.headers();
        let origin = self.allowed(headers);
        let is_preflight =
            request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_preflight {
            let mut answer = match origin {
                None => refusal(
                    StatusCode::FORBIDDEN,
                    "pages of this origin may not call; allow the origin with `--allow-origin`".to_owned(),
                ),
                Some(origin) => {
                    let mut answer = empty(StatusCode::NO_CONTENT);
                    let headers = answer.headers_mut();
                    share(headers, origin);
                    headers
                        .insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
                    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
                    answer
                }
            };
            answer.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
            return answered(answer);
        }
        let answering = self.inner.call(request);
        Box::pin(async move {
            let mut answer = answering.await?;
            if let Some(origin) = origin {
                share(answer.headers_mut(), origin);
            }
            answer.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
            Ok(answer)
        })
    }
}

/// An origin, or all origins that differ in their ports.
#[derive(Debug, Clone, PartialEq)]
struct Pattern {
    scheme: String,
    host: Host<String>,
    /// `None` means any port.
    port: Option<u16>,
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        let (without_port, is_any) = match text.strip_suffix(":*") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let url = Url::parse(without_port).ok()?;
        let port = if is_any { None } else { Some(url.port_or_known_default()?) };
        Some(Self { scheme: url.scheme().to_owned(), host: url.host()?.to_owned(), port })
    }

    fn matches(&self, origin: &Url) -> bool {
        origin.scheme() == self.scheme
            && origin.host().is_some_and(|host| host.to_owned() == self.host)
            && self.port.is_none_or(|port| origin.port_or_known_default() == Some(port))
    }
}

fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_match_by_scheme_host_and_port() {
        for (pattern, origin, expected) in [
            ("https://example.org", "https://example.org", true),
            ("https://example.org:443", "https://example.org", true),
            ("https://example.org", "https://EXAMPLE.org:443", true),
            ("https://example.org", "http://example.org", false),
            ("https://example.org", "https://example.org:8443", false),
            ("https://example.org", "https://example.org.evil.test", false),
            ("https://example.org", "https://sub.example.org", false),
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "http://localhost.evil.test:3000", false),
            ("http://[::1]:*", "http://[::1]:3000", true),
            ("http://127.0.0.1:*", "http://127.0.0.1:3000", true),
            ("https://example.org", "null", false),
            ("null", "null", false),
            ("*", "https://example.org", false),
        ] {
            let matches = Url::parse(origin).ok().is_some_and(|origin| {
                Pattern::parse(pattern).is_some_and(|pattern| pattern.matches(&origin))
            });
            assert_eq!(matches, expected, "{pattern} {origin}");
        }
    }
}
