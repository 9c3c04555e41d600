//! A service at one path alone.

use super::service::{HttpBody, refusal};
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

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

impl<S, B> Service<Request<B>> for AtPath<S>
where
    S: Service<Request<B>, Response = Response<HttpBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if request.uri().path().trim_end_matches('/') == self.path {
            return Box::pin(self.inner.call(request));
        }
        let text = format!("nothing is here; the protocol is at {}", self.path);
        Box::pin(std::future::ready(Ok(refusal(StatusCode::NOT_FOUND, text))))
    }
}
