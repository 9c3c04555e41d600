//! Answers of the proxy: its own texts, and what a server sends.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// The body of an answer.
pub(super) enum Answer {
    /// A text of the proxy's own.
    Text(Full<Bytes>),
    /// The answer of a server. The task of its connection ends with it.
    Server { body: Incoming, _connection: JoinSet<()> },
}

impl Body for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Text(text) => Pin::new(text).poll_frame(context).map_err(|never| match never {}),
            Self::Server { body, .. } => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Text(text) => text.is_end_stream(),
            Self::Server { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text(text) => text.size_hint(),
            Self::Server { body, .. } => body.size_hint(),
        }
    }
}

/// An answer of the proxy itself.
pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Response<Answer> {
    let mut response = Response::new(Answer::Text(Full::new(Bytes::from(text.into()))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// An answer without a body, as a tunnel begins with.
pub(super) fn empty(status: StatusCode) -> Response<Answer> {
    let mut response = Response::new(Answer::Text(Full::default()));
    *response.status_mut() = status;
    response
}

/// Asks for the password.
pub(super) fn unknown_client() -> Response<Answer> {
    let mut response = text(
        StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        "this proxy serves one program, which knows its password",
    );
    let challenge = HeaderValue::from_static("Basic realm=\"toolkit\"");
    response.headers_mut().insert(PROXY_AUTHENTICATE, challenge);
    response
}
