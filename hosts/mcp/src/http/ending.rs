//! The end of a service: streams end in order, each that belongs to a request with its answer.

use super::until_end::{Next, UntilEnd};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit::CancellationToken;

/// The end of a service.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    shutdown: CancellationToken,
    /// Time for the calls that are cancelled at shutdown to answer.
    within: Duration,
}

impl Ending {
    pub(super) fn new(shutdown: CancellationToken, within: Duration) -> Self {
        Self { shutdown, within }
    }

    /// Waits until nothing more is answered.
    pub(super) async fn over(self) {
        self.shutdown.cancelled_owned().await;
        tokio::time::sleep(self.within).await;
    }

    /// Waits for the answer to a request. Returns an error of the request if there is none in time.
    pub(super) async fn answer<T>(
        self,
        request: Option<RequestId>,
        answer: impl Future<Output = T>,
    ) -> Result<T, ServerJsonRpcMessage> {
        tokio::select! {
            biased;
            answer = answer => Ok(answer),
            () = self.over() => Err(interrupted(request)),
        }
    }
}

/// The error of a request that has no answer at the end of the service.
fn interrupted(request: Option<RequestId>) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error("the server shuts down; the request was interrupted", None);
    ServerJsonRpcMessage::error(error, request)
}

/// A stream of events that ends with the service: one of a request with its answer or an error, any other at once.
pub(super) struct Ended {
    body: UntilEnd,
    request: Option<RequestId>,
    over: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

impl Ended {
    /// `request` is the one whose answer the stream is for. `resumes` is true if the stream is the rest of one of an earlier request, also
    /// of one that is answered.
    pub(super) fn new(
        body: BoxBody<Bytes, Infallible>,
        ending: Ending,
        request: Option<RequestId>,
        resumes: bool,
    ) -> Self {
        let over: Pin<Box<dyn Future<Output = ()> + Send + Sync>> = if request.is_some() || resumes {
            Box::pin(ending.over())
        } else {
            Box::pin(ending.shutdown.cancelled_owned())
        };
        Self { body: UntilEnd::new(body), request, over }
    }
}

impl Body for Ended {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Next> {
        if let ready @ Poll::Ready(_) = self.body.poll_frame(task) {
            return ready;
        }
        if self.over.as_mut().poll(task).is_pending() {
            return Poll::Pending;
        }
        drop(self.body.take());
        let error = self.request.take().map(|request| interrupted(Some(request)));
        let event = error.and_then(|error| serde_json::to_string(&error).ok());
        Poll::Ready(event.map(|event| Ok(Frame::data(format!("data: {event}\n\n").into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
