//! The stream of an answer, which is read to its end also if the client is gone, so that the client can resume it.

use super::sessions::{InUse, ProtocolSession};
use super::stored_answers::Events;
use super::until_end::{Next, UntilEnd};
use bytes::Bytes;
use http_body::{Body, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use rmcp::model::RequestId;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

/// The body of an event stream of a session: it counts as a use of the session, and its answer is kept.
pub(super) struct Recorded {
    body: UntilEnd,
    record: Record,
    _in_use: InUse,
}

struct Record {
    session: Arc<ProtocolSession>,
    /// The request that the stream is for, until the number of the stream is known.
    request: Option<RequestId>,
    events: Events,
}

impl Record {
    /// Adds an event, and keeps the events of the stream if it is the answer.
    fn add(&mut self, event: &Bytes) {
        if let Some(answer) = self.events.add(event) {
            self.session.keep(answer);
        } else if let Some(stream) = self.events.stream()
            && let Some(request) = self.request.take()
        {
            self.session.answers_by(&request, stream);
        }
    }
}

impl Recorded {
    /// `request` is the one that the stream was begun for.
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, in_use: InUse, request: Option<RequestId>) -> Self {
        let record = Record { session: Arc::clone(in_use.session()), request, events: Events::default() };
        Self { body: UntilEnd::new(body), record, _in_use: in_use }
    }
}

impl Body for Recorded {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Next> {
        let polled = self.body.poll_frame(task);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(event) = frame.data_ref()
        {
            self.record.add(event);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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
        let (request, events) = (self.record.request.take(), std::mem::take(&mut self.record.events));
        let mut record = Record { session: Arc::clone(&session), request, events };
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
