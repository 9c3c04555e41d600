//! Refusals as problem details (RFC 9457).

use crate::body::AnswerBody;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Map, Value};
use std::time::Duration;

/// The answer to a request that is refused or has failed: a JSON object with `type`, `title`, `status` and `detail`, of the media type
/// `application/problem+json`.
///
/// ```
/// use toolkit_serve::Problem;
///
/// let problem = Problem::new(http::StatusCode::NOT_FOUND, "there is no session `7`; GET /v1/sessions lists them");
/// assert_eq!(problem.to_json()["title"], "Not Found");
/// ```
#[derive(Debug, Clone)]
pub struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    status: StatusCode,
    detail: String,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// Creates a problem with a text for people: what is wrong, and what to do.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self(Box::new(Parts { status, detail, members: Map::new(), headers: Vec::new() }))
    }

    /// Adds a member of its own to the object. One of the names that the format itself has is ignored.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if !["type", "title", "status", "detail"].contains(&name) {
            self.0.members.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Says when to try again, rounded up to seconds.
    #[must_use]
    pub fn retry_after(self, time: Duration) -> Self {
        let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
        self.with_header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The text for people.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The object that is sent.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("type".to_owned(), "about:blank".into());
        object.insert("title".to_owned(), self.0.status.canonical_reason().unwrap_or("Error").into());
        object.insert("status".to_owned(), self.0.status.as_u16().into());
        object.insert("detail".to_owned(), self.0.detail.clone().into());
        object.extend(self.0.members.clone());
        Value::Object(object)
    }

    /// Returns the answer. Nothing stores it.
    pub fn into_response<B: AnswerBody>(self) -> Response<B> {
        let text = Bytes::from(format!("{:#}\n", self.to_json()));
        let mut response = Response::new(B::of(text));
        *response.status_mut() = self.0.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.0.headers);
        response
    }
}

#[cfg(feature = "routes")]
impl axum::response::IntoResponse for Problem {
    fn into_response(self) -> axum::response::Response {
        Self::into_response(self)
    }
}
