//! Bodies of answers that a layer makes or adds something to.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body of answers that a layer can make from bytes, and that can hold a value until it is dropped.
pub trait AnswerBody: Body<Data = Bytes> + Send + 'static {
    /// Returns a body of these bytes.
    fn of(bytes: Bytes) -> Self;

    /// Returns the body with a value that is dropped with it.
    #[must_use]
    fn holding(self, value: impl Send + Sync + Unpin + 'static) -> Self;
}

impl<E: Send + Sync + 'static> AnswerBody for BoxBody<Bytes, E> {
    fn of(bytes: Bytes) -> Self {
        Full::new(bytes).map_err(|never| match never {}).boxed()
    }

    fn holding(self, value: impl Send + Sync + Unpin + 'static) -> Self {
        Holding { body: self, _value: value }.boxed()
    }
}

#[cfg(feature = "routes")]
impl AnswerBody for axum::body::Body {
    fn of(bytes: Bytes) -> Self {
        Self::from(bytes)
    }

    fn holding(self, value: impl Send + Sync + Unpin + 'static) -> Self {
        Self::new(Holding { body: self, _value: value })
    }
}

/// A body and a value that is dropped with it.
struct Holding<B, V> {
    body: B,
    _value: V,
}

impl<B: Body + Unpin, V: Unpin> Body for Holding<B, V> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(task)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
