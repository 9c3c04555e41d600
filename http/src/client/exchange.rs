//! A request and its answer, over a separate connection.

use super::{Client, Request, authority};
use crate::body::{ACCEPT_ENCODING, Body};
use crate::limits::MAX_HEADERS;
use crate::{FetchError, Phase, Target, tls};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING as ACCEPT_ENCODING_NAME, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// An answer.
pub(super) enum Answer {
    /// A response to return.
    Whole { status: StatusCode, headers: HeaderMap, body: Vec<u8> },
    /// A redirect to follow: the headers. Its body is not read.
    Redirect(HeaderMap),
}

impl Client {
    /// Connects, sends the request and reads the answer.
    pub(super) async fn exchange(&self, request: &Request, target: &Target) -> Result<Answer, FetchError> {
        let connecting = async {
            let stream = self.guard.connect(target).await?;
            if target.is_secure() {
                return Ok::<_, FetchError>(Stream::Secure(Box::new(
                    tls::secure(self.tls.as_ref(), target, stream).await?,
                )));
            }
            Ok(Stream::Plain(stream))
        };
        match within(self.limits.connect, Phase::Connect, connecting).await? {
            Stream::Plain(stream) => self.speak(request, target, stream).await,
            Stream::Secure(stream) => self.speak(request, target, *stream).await,
        }
    }

    async fn speak<S>(&self, request: &Request, target: &Target, stream: S) -> Result<Answer, FetchError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limit = self.limits.header_bytes;
        let fault = |error: &hyper::Error| fault(error, limit);
        let (mut sender, connection) = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_header_size(limit)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| fault(&error))?;
        // Ends with this function, whether it returns or is dropped.
        let mut connections = JoinSet::new();
        connections.spawn(connection);
        let request = self.prepared(request, target)?;
        let (method, sending) = (request.method().clone(), sender.send_request(request));
        let sending = async { sending.await.map_err(|error| fault(&error)) };
        let response = within(self.limits.first_byte, Phase::FirstByte, sending).await?;
        let (parts, incoming) = response.into_parts();
        let is_redirect = matches!(parts.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        if is_redirect && method == Method::GET && self.limits.redirects > 0 {
            return Ok(Answer::Redirect(parts.headers));
        }
        let body = self.whole(&parts.headers, incoming).await?;
        Ok(Answer::Whole { status: parts.status, headers: parts.headers, body })
    }

    async fn whole(&self, headers: &HeaderMap, mut incoming: Incoming) -> Result<Vec<u8>, FetchError> {
        let limit = self.limits.body_bytes;
        let mut body = Body::new(headers, limit)?;
        let incomplete = |error: &hyper::Error| match fault(error, self.limits.header_bytes) {
            FetchError::Malformed(_) if !error.is_parse() => FetchError::Incomplete,
            error => error,
        };
        loop {
            let frame = async { Ok(incoming.frame().await) };
            let Some(frame) = within(self.limits.idle, Phase::Idle, frame).await? else { break };
            let frame = frame.map_err(|error| incomplete(&error))?;
            if let Some(bytes) = frame.data_ref() {
                body.push(bytes)?;
            }
        }
        body.finish()
    }

    fn prepared(&self, request: &Request, target: &Target) -> Result<http::Request<Full<Bytes>>, FetchError> {
        let url = target.url();
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let malformed = |_| FetchError::Refused(crate::Refused::Invalid("it is malformed"));
        let host = HeaderValue::from_str(&authority(target)).map_err(|error| malformed(error.into()))?;
        let mut prepared = http::Request::builder()
            .method(request.method.clone())
            .uri(path)
            .body(Full::new(request.body.clone()))
            .map_err(malformed)?;
        let headers = prepared.headers_mut();
        headers.insert(HOST, host);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.extend(request.headers.clone());
        headers.extend(request.credentials.clone());
        headers.insert(ACCEPT_ENCODING_NAME, HeaderValue::from_static(ACCEPT_ENCODING));
        Ok(prepared)
    }
}

enum Stream {
    Plain(tokio::net::TcpStream),
    Secure(Box<tokio_rustls::client::TlsStream<tokio::net::TcpStream>>),
}

async fn within<T>(
    limit: Duration,
    phase: Phase,
    work: impl Future<Output = Result<T, FetchError>>,
) -> Result<T, FetchError> {
    timeout(limit, work).await.unwrap_or(Err(FetchError::TimedOut { phase, within: limit }))
}

/// The fault of a server, without an address.
fn fault(error: &hyper::Error, limit: usize) -> FetchError {
    // The method for this check is only compiled with the server feature.
    if error.is_parse() && error.to_string().contains("too large") {
        return FetchError::HeadersTooLarge { limit };
    }
    if error.is_incomplete_message() {
        return FetchError::Incomplete;
    }
    if error.is_parse() {
        return FetchError::Malformed(format!("it is not valid HTTP/1.1 ({error})"));
    }
    FetchError::Malformed("the connection was lost".to_owned())
}
