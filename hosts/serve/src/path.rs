//! A service at one path alone.

use crate::body::AnswerBody;
use crate::layer::{Answering, Inner, answered, layer};
use crate::problem::Problem;
use http::{Request, StatusCode};

/// A service at one path; see [`at_path`].
#[derive(Debug, Clone)]
pub struct AtPath<S> {
    path: &'static str,
    inner: S,
}

/// Hands requests for `path` on to `inner`; all others are not found.
pub fn at_path<S>(path: &'static str, inner: S) -> AtPath<S> {
    AtPath { path, inner }
}

impl<S> AtPath<S> {
    fn answer<B, A: AnswerBody>(&mut self, request: Request<B>) -> Answering<A>
    where
        S: Inner<B, A>,
    {
        if request.uri().path().trim_end_matches('/') == self.path {
            return Box::pin(self.inner.call(request));
        }
        let text = format!("there is nothing at this path; this server answers at {}", self.path);
        answered(Problem::new(StatusCode::NOT_FOUND, text).into_response())
    }
}

layer!(AtPath);
