//! CORS: headers with which a browser lets pages of other origins call.

use crate::body::AnswerBody;
use crate::layer::{Answering, Inner, answered, layer};
use crate::origin::Pattern;
use crate::problem::Problem;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use std::sync::Arc;
use url::Url;

/// Headers of requests that a token, a body and a stream need.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, last-event-id";
/// Headers of answers that a page may read.
const ANSWER_HEADERS: &str = "www-authenticate, retry-after";
/// Time for which a browser caches the answer to a preflight, in seconds.
const MAX_AGE: &str = "600";

/// Lets pages of some origins call a service, by cross-origin resource sharing.
///
/// It answers preflights itself, since browsers send them without a token: put it around [`Bearer`](crate::Bearer). Requests of other
/// origins pass without the headers that a page needs to read the answer; [`Addressed`](crate::Addressed) refuses them.
#[derive(Debug, Clone)]
pub struct Cors<S> {
    inner: S,
    shared: Arc<Shared>,
}

#[derive(Debug, Clone)]
struct Shared {
    origins: Vec<Pattern>,
    methods: HeaderValue,
    request_headers: HeaderValue,
    answer_headers: HeaderValue,
}

impl<S> Cors<S> {
    /// Lets pages of these origins call `inner`: `https://name:port`, or `*` for the port. An invalid origin is ignored.
    pub fn new(inner: S, origins: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let origins = origins.into_iter().filter_map(|origin| Pattern::parse(origin.as_ref())).collect();
        let shared = Shared {
            origins,
            methods: HeaderValue::from_static("GET, POST, DELETE"),
            request_headers: HeaderValue::from_static(REQUEST_HEADERS),
            answer_headers: HeaderValue::from_static(ANSWER_HEADERS),
        };
        Self { inner, shared: Arc::new(shared) }
    }

    /// Lets pages send these methods instead of GET, POST and DELETE.
    #[must_use]
    pub fn methods(mut self, methods: &[Method]) -> Self {
        let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
        // A method has no character that a header cannot have.
        if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
            Arc::make_mut(&mut self.shared).methods = value;
        }
        self
    }

    /// Lets pages send these headers too, beside `Authorization`, `Content-Type`, `Accept` and `Last-Event-ID`.
    #[must_use]
    pub fn request_headers(mut self, names: &[HeaderName]) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        shared.request_headers = with(&shared.request_headers, names);
        self
    }

    /// Lets pages read these headers of answers too, beside `WWW-Authenticate` and `Retry-After`.
    #[must_use]
    pub fn answer_headers(mut self, names: &[HeaderName]) -> Self {
        let shared = Arc::make_mut(&mut self.shared);
        shared.answer_headers = with(&shared.answer_headers, names);
        self
    }

    /// The origin of a request, as it was sent, if its pages may call.
    fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = headers.get(ORIGIN)?;
        let origin = Url::parse(value.to_str().ok()?).ok()?;
        self.shared.origins.iter().any(|pattern| pattern.matches(&origin)).then(|| value.clone())
    }

    fn answer<B, A: AnswerBody>(&mut self, request: Request<B>) -> Answering<A>
    where
        S: Inner<B, A>,
    {
        let headers = request.headers();
        let origin = self.allowed(headers);
        let is_preflight =
            request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_preflight {
            let mut answer = match origin {
                None => {
                    let text = "pages of this origin may not call; allow the origin with `--allow-origin`";
                    Problem::new(StatusCode::FORBIDDEN, text).into_response()
                }
                Some(origin) => self.preflight(origin),
            };
            answer.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
            return answered(answer);
        }
        let answering = self.inner.call(request);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let mut answer = answering.await?;
            if let Some(origin) = origin {
                shared.share(answer.headers_mut(), origin);
            }
            answer.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
            Ok(answer)
        })
    }

    /// The answer to a preflight of a page that may call.
    fn preflight<A: AnswerBody>(&self, origin: HeaderValue) -> Response<A> {
        let mut answer = Response::new(A::of(Bytes::new()));
        *answer.status_mut() = StatusCode::NO_CONTENT;
        let headers = answer.headers_mut();
        self.shared.share(headers, origin);
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, self.shared.methods.clone());
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, self.shared.request_headers.clone());
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        answer
    }
}

impl Shared {
    fn share(&self, headers: &mut HeaderMap, origin: HeaderValue) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.answer_headers.clone());
    }
}

/// Returns a list of names with further ones.
fn with(list: &HeaderValue, names: &[HeaderName]) -> HeaderValue {
    let all = list.to_str().into_iter().chain(names.iter().map(HeaderName::as_str));
    // A name has no character that a header cannot have.
    HeaderValue::from_str(&all.collect::<Vec<_>>().join(", ")).unwrap_or_else(|_| list.clone())
}

layer!(Cors);
