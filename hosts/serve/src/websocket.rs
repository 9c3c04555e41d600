//! WebSockets on a connection that began with HTTP.

mod counted;

pub use counted::{Counted, Received};

use crate::body::AnswerBody;
use crate::connection::Connection;
use crate::problem::Problem;
use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_util::sync::CancellationToken;

pub use futures_util::{Sink, Stream};
pub use tokio_tungstenite::tungstenite::{
    Error, Message, protocol::CloseFrame, protocol::frame::coding::CloseCode,
};

/// A WebSocket: a stream and a sink of [`Message`]s. Pings are answered while it is read.
pub type WebSocket = WebSocketStream<Counted>;

/// Limits of a WebSocket.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WebSocketOptions {
    /// Maximum number of bytes of a message that is received; 4 MiB by default. A longer one is an error of reading, and the connection ends.
    pub max_message: usize,
    /// Maximum number of bytes that wait to be sent, beside one message; 16 MiB by default. Sending fails beyond.
    pub max_unsent: usize,
    /// The protocol that is spoken over it, which the client may ask for.
    pub protocol: Option<&'static str>,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self { max_message: 4 << 20, max_unsent: 16 << 20, protocol: None }
    }
}

/// Accepts a WebSocket: returns the answer to `request`, and runs `run` with the socket once the client has got it.
///
/// It runs as [`Connection::run_upgraded`] says: it counts as a connection of the server, ends at once if the token of the connection is revoked, and has some seconds
/// to say goodbye once the token that it gets is cancelled.
///
/// # Errors
///
/// A problem with status 400 if the request is no handshake, 426 if it is one of another version.
pub fn accept<B, A, F>(
    mut request: Request<B>,
    options: WebSocketOptions,
    run: impl FnOnce(WebSocket, CancellationToken) -> F + Send + 'static,
) -> Result<Response<A>, Problem>
where
    A: AnswerBody,
    F: Future<Output = ()> + Send,
{
    let key = handshake(&request)?;
    let protocol =
        options.protocol.filter(|protocol| has_word(request.headers(), &SEC_WEBSOCKET_PROTOCOL, protocol));
    let connection = request.extensions().get::<Connection>().cloned().unwrap_or_default();
    let upgrading = hyper::upgrade::on(&mut request);
    let config = WebSocketConfig::default()
        .max_message_size(Some(options.max_message))
        .max_frame_size(Some(options.max_message))
        .max_write_buffer_size(options.max_unsent.max(WebSocketConfig::default().write_buffer_size + 1));
    connection.run_upgraded(async move |shutdown| match upgrading.await {
        Ok(upgraded) => {
            let io = Counted::new(upgraded);
            run(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await, shutdown).await;
        }
        Err(error) => tracing::debug!(%error, "a connection did not become a WebSocket"),
    });
    let mut answer = Response::new(A::of(Bytes::new()));
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, key);
    if let Some(protocol) = protocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    }
    Ok(answer)
}

/// Checks the request of a handshake, and returns the value that accepts its key.
fn handshake<B>(request: &Request<B>) -> Result<HeaderValue, Problem> {
    let headers = request.headers();
    let is_upgrade = request.method() == Method::GET
        && request.version() == Version::HTTP_11
        && has_word(headers, &CONNECTION, "upgrade")
        && has_word(headers, &UPGRADE, "websocket");
    if !is_upgrade {
        let text =
            "this address is a WebSocket: connect with GET, `Connection: upgrade` and `Upgrade: websocket`";
        return Err(Problem::new(StatusCode::BAD_REQUEST, text));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let problem = Problem::new(
            StatusCode::UPGRADE_REQUIRED,
            "this server speaks version 13 of the WebSocket protocol",
        );
        return Err(problem.with_header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let key = key.filter(|key| BASE64.decode(key).is_ok_and(|key| key.len() == 16));
    let accepted = key.and_then(|key| HeaderValue::from_str(&derive_accept_key(key)).ok());
    accepted.ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "`Sec-WebSocket-Key` must be 16 bytes in Base64")
    })
}

/// Returns true if a header lists a word, in any case.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
}
