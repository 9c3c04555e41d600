//! A body that is read up to its end, and dropped there.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A frame of a body; `None` at its end.
pub(super) type Next = Option<Result<Frame<Bytes>, Infallible>>;

/// The body; `None` after its end.
pub(super) struct UntilEnd(Option<BoxBody<Bytes, Infallible>>);

impl UntilEnd {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>) -> Self {
        Self(Some(body))
    }

    pub(super) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Next> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(task);
        if matches!(polled, Poll::Ready(None)) {
            self.0 = None;
        }
        polled
    }

    /// Returns the body, unless it has ended; from now on it has.
    pub(super) fn take(&mut self) -> Option<BoxBody<Bytes, Infallible>> {
        self.0.take()
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}
