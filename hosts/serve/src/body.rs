//! Bodies of answers that a layer makes or adds something to.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
#[cfg(feature = "routes")]
use std::convert::Infallible;
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

/// Bytes of a piece of a body.
#[cfg(feature = "routes")]
const PIECE: usize = 64 << 10;

/// Returns a body that sends bytes in small pieces, of a known length. A connection takes only some pieces at a time and may copy them, so that the
/// bytes are dropped when a slow reader has read almost all of them, and not before.
#[cfg(feature = "routes")]
pub fn in_pieces(bytes: Bytes) -> axum::body::Body {
    axum::body::Body::new(Pieces(bytes))
}

/// The pieces that are not sent yet.
#[cfg(feature = "routes")]
struct Pieces(Bytes);

#[cfg(feature = "routes")]
impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.0.len().min(PIECE);
        let piece = self.0.split_to(length);
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
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

#[cfg(all(test, feature = "routes"))]
mod tests {
    use super::*;

    struct Owned(std::sync::Arc<Vec<u8>>);

    impl AsRef<[u8]> for Owned {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    #[tokio::test]
    async fn a_body_in_pieces_has_a_length_and_keeps_the_owner_of_its_bytes_to_the_last_piece() {
        let owner = std::sync::Arc::new(vec![7; 2 * PIECE + 1]);
        let mut body = in_pieces(Bytes::from_owner(Owned(std::sync::Arc::clone(&owner))));
        assert_eq!(body.size_hint().exact(), Some(owner.len() as u64));
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            let piece = frame.expect("a piece").into_data().expect("data");
            assert_eq!(std::sync::Arc::strong_count(&owner), 2);
            lengths.push(piece.len());
        }
        assert_eq!(lengths, [PIECE, PIECE, 1]);
        assert!(body.is_end_stream());
        assert_eq!(std::sync::Arc::strong_count(&owner), 1);
    }
}
