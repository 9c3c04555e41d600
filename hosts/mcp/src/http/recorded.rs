//! The stream of an answer, which is read to its end also if the client is gone, so that the client can resume it.

use super::sessions::{InUse, ProtocolSession};
use super::stored_answers::Events;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

/// The body of an event stream of a session: it counts as a use of the session, and its answer is kept.
pub(super) struct Recorded {
    /// `None` after the end.
    body: Option<BoxBody<Bytes, Infallible>>,
    record: Record,
    _in_use: InUse,
}

struct Record {
    session: Arc<ProtocolSession>,
    events: Events,
}

impl Record {
    /// Adds an event, and keeps the events of the stream if it is the answer.
    fn add(&mut self, event: &Bytes) {
        if let Some(answer) = self.events.add(event) {
            self.session.keep(answer);
        }
    }
}

impl Recorded {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, in_use: InUse) -> Self {
        let record = Record { session: Arc::clone(in_use.session()), events: Events::default() };
        Self { body: Some(body), record, _in_use: in_use }
    }
}

impl Body for Recorded {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(task);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(event) = frame.data_ref() {
                    let event = event.clone();
                    self.record.add(&event);
                }
            }
            Poll::Ready(None) => self.body = None,
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

/// Reads the rest of the stream of a request if the client is gone: its call goes on.
impl Drop for Recorded {
    fn drop(&mut self) {
        let (Some(mut body), Some(stream), Ok(runtime)) =
            (self.body.take(), self.record.events.stream(), Handle::try_current())
        else {
            return;
        };
        let session = Arc::clone(&self.record.session);
        let mut record =
            Record { session: Arc::clone(&session), events: std::mem::take(&mut self.record.events) };
        let reading = runtime.spawn(async move {
            while let Some(Ok(frame)) = body.frame().await {
                if let Some(event) = frame.data_ref() {
                    record.add(event);
                }
            }
        });
        session.reads_on(stream, reading);
    }
}
