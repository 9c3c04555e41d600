//! A service at one path alone.

use super::layer::{Answering, Inner, answered};
use super::service::refusal;
use http::{Request, StatusCode};

/// A service at one path; see [`at_path`].
#[derive(Debug, Clone)]
pub struct AtPath<S> {
    path: &'static str,
    pub(super) inner: S,
}

/// Hands requests for `path` on to `inner`; all others are not found.
pub fn at_path<S>(path: &'static str, inner: S) -> AtPath<S> {
    AtPath { path, inner }
}

impl<S> AtPath<S> {
    pub(super) fn answer<B>(&mut self, request: Request<B>) -> Answering
    where
        S: Inner<B>,
    {
        if request.uri().path().trim_end_matches('/') == self.path {
            return Box::pin(self.inner.call(request));
        }
        let text = format!("not found; MCP is served at {}", self.path);
        answered(refusal(StatusCode::NOT_FOUND, text))
    }
}
