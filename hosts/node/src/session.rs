//! Pairing, and the connection over which a node serves.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_util::sync::CancellationToken;
use toolkit::{Caller, Toolkit};
use toolkit_mcp::{ServerOptions, serve_lines};

use crate::address::Address;
use crate::dial::{DialError, Socket, dial};
use crate::handshake::{End, FromGateway, Handshake, NodeHello};
use crate::key::{Identity, KeyError, Nonce, PublicKey};
use crate::seal::{Exchange, Opener, Sealer};

/// Time for each frame of the handshake.
const FRAME_WITHIN: Duration = Duration::from_secs(15);
/// Time without a frame of the gateway, which sends a ping each 30 seconds, after which the connection counts as dropped.
const SILENT_WITHIN: Duration = Duration::from_secs(100);
/// Time for the gateway to take a message.
const WRITE_WITHIN: Duration = Duration::from_secs(30);
/// The bytes between the MCP server and the socket.
const BUFFER: usize = 64 << 10;
/// The most bytes of a message for the gateway, which takes 4 MiB with what seals it.
const MAX_MESSAGE_BYTES: usize = (4 << 20) - (1 << 10);
/// The longest reason of a gateway that is shown, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The end of a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no connection.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The key of the gateway is not the one of the pairing.
    #[error(
        "the gateway has another key, with the fingerprint {found}, and the one of the pairing is {expected}: if it was set up anew, pair again; \
         otherwise somebody else answers at its address"
    )]
    OtherKey {
        /// The fingerprint that it shows.
        found: String,
        /// The fingerprint of the pairing.
        expected: String,
    },
    /// The gateway did not prove its key.
    #[error("the gateway did not prove that it has its key; somebody else may answer at its address")]
    NotProved,
    /// The node was revoked.
    #[error("this node was revoked at the gateway; `toolkit node pair` asks for another approval")]
    Revoked,
    /// The node is not approved.
    #[error("this node is not approved at the gateway: {0}")]
    NotApproved(String),
    /// The connection ended.
    #[error("the connection ended: {0}")]
    Ended(String),
    /// The other end speaks another protocol.
    #[error("the gateway does not speak the protocol of nodes: {0}")]
    Protocol(String),
    /// There are no random numbers.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl SessionError {
    /// Returns true if another connection will end in the same way until a person has done something on this device.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::OtherKey { .. } | Self::Revoked)
    }
}

/// A node that connects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connecting<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) address: &'a Address,
    pub(crate) name: &'a str,
    pub(crate) ca: Option<&'a std::path::Path>,
}

/// The answer to a node that asks for a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The owner approves it by this code, within these seconds.
    Code { code: String, expires_seconds: u64 },
    /// It is approved already.
    Approved,
}

/// Asks for a code, of the gateway with a key if one is given. Returns the key of the gateway, too.
pub(crate) async fn ask_for_code(
    connecting: Connecting<'_>,
    pinned: Option<PublicKey>,
) -> Result<(PublicKey, Answer), SessionError> {
    let Shaken { mut socket, key, mut opener, .. } = shake_hands(connecting, pinned, true).await?;
    let answer = match sealed_frame(&mut socket, &mut opener).await? {
        FromGateway::Pairing { code, expires_seconds } => {
            if code.len() > 32 || !code.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(SessionError::Protocol("its code is none".to_owned()));
            }
            Answer::Code { code, expires_seconds }
        }
        FromGateway::Welcome { .. } => Answer::Approved,
        FromGateway::Refused { is_revoked, reason } => return Err(refused(is_revoked, &reason)),
        FromGateway::Challenge { .. } => return Err(unexpected("challenge")),
    };
    let _ = timeout(FRAME_WITHIN, socket.close(None)).await;
    Ok((key, answer))
}

/// Connects, and serves the tools of a toolkit until the connection ends. `connected` is called with the id of the node once it is approved.
pub(crate) async fn serve(
    connecting: Connecting<'_>,
    gateway: PublicKey,
    toolkit: &Toolkit,
    shutdown: &CancellationToken,
    connected: impl FnOnce(&str),
) -> Result<(), SessionError> {
    let Shaken { mut socket, mut sealer, mut opener, .. } =
        shake_hands(connecting, Some(gateway), false).await?;
    match sealed_frame(&mut socket, &mut opener).await? {
        FromGateway::Welcome { node } => connected(&node),
        FromGateway::Pairing { .. } => return Err(unexpected("pairing")),
        FromGateway::Refused { is_revoked, reason } => return Err(refused(is_revoked, &reason)),
        FromGateway::Challenge { .. } => return Err(unexpected("challenge")),
    }
    let (near, far) = tokio::io::duplex(BUFFER);
    let (from_server, to_server) = tokio::io::split(far);
    let (read, write) = tokio::io::split(near);
    let options = ServerOptions::new()
        .named("toolkit-node", env!("CARGO_PKG_VERSION"))
        .shutdown(shutdown.child_token());
    let serving = serve_lines(toolkit.clone(), Caller::new(), options, read, write);
    let (mut sink, mut stream) = socket.split();
    let ended = tokio::select! {
        biased;
        () = shutdown.cancelled() => Ok(()),
        error = pass_in(&mut stream, &mut opener, to_server) => Err(error),
        error = pass_out(&mut sink, &mut sealer, from_server) => Err(error),
        served = serving => Err(match served {
            Ok(()) => SessionError::Ended("MCP with the gateway ended".to_owned()),
            Err(error) => SessionError::Protocol(error.to_string()),
        }),
    };
    if ended.is_ok() {
        let _ = timeout(Duration::from_secs(1), sink.close()).await;
    }
    ended
}

/// A connection whose ends have proved their keys.
struct Shaken {
    socket: Socket,
    /// The key of the gateway.
    key: PublicKey,
    sealer: Sealer,
    opener: Opener,
}

/// Proves the keys of both ends.
async fn shake_hands(
    Connecting { identity, address, name, ca }: Connecting<'_>,
    pinned: Option<PublicKey>,
    pair: bool,
) -> Result<Shaken, SessionError> {
    let mut socket = dial(address, ca).await?;
    let exchange = Exchange::random()?;
    let hello = NodeHello {
        key: identity.public_key(),
        nonce: Nonce::random()?,
        exchange: exchange.public_key(),
        server: address.server(),
        name: name.to_owned(),
        platform: platform(),
        pair,
    };
    send(&mut socket, &json!({ "type": "hello", "node": hello })).await?;
    let FromGateway::Challenge { key, nonce, exchange: gateway_exchange, signature } =
        frame(&mut socket).await?
    else {
        return Err(SessionError::Protocol("its first frame is no `challenge`".to_owned()));
    };
    if let Some(pinned) = pinned.filter(|pinned| *pinned != key) {
        return Err(SessionError::OtherKey { found: key.fingerprint(), expected: pinned.fingerprint() });
    }
    let facts = Handshake {
        gateway_nonce: nonce,
        node_nonce: hello.nonce,
        gateway_key: key,
        node_key: hello.key,
        gateway_exchange,
        node_exchange: hello.exchange,
        server: hello.server,
    };
    if !facts.is_signed(End::Gateway, &signature) {
        return Err(SessionError::NotProved);
    }
    let proof = json!({ "type": "proof", "signature": facts.sign(End::Node, identity) });
    send(&mut socket, &proof).await?;
    let (sealer, opener) = exchange.agree(End::Node, &facts).ok_or(SessionError::NotProved)?;
    Ok(Shaken { socket, key, sealer, opener })
}

/// The platform of this device.
pub(crate) fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

async fn send(socket: &mut Socket, frame: &Value) -> Result<(), SessionError> {
    let sending = timeout(WRITE_WITHIN, socket.send(Message::text(frame.to_string()))).await;
    match sending {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(SessionError::Ended(error.to_string())),
        Err(_) => Err(SessionError::Ended("the gateway takes no message".to_owned())),
    }
}

/// Reads a frame of the handshake.
async fn frame(socket: &mut Socket) -> Result<FromGateway, SessionError> {
    let late = |_| SessionError::Ended("the gateway did not answer in time".to_owned());
    loop {
        match timeout(FRAME_WITHIN, socket.next()).await.map_err(late)? {
            Some(Ok(Message::Text(text))) => {
                return parsed(&text);
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return Err(end(other)),
        }
    }
}

/// Reads a frame after the proof.
async fn sealed_frame(socket: &mut Socket, opener: &mut Opener) -> Result<FromGateway, SessionError> {
    let late = |_| SessionError::Ended("the gateway did not answer in time".to_owned());
    loop {
        match timeout(FRAME_WITHIN, socket.next()).await.map_err(late)? {
            Some(Ok(Message::Binary(bytes))) => {
                return parsed(&opener.open(bytes.into()).ok_or(SessionError::NotProved)?);
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => return Err(end(other)),
        }
    }
}

fn parsed(text: &str) -> Result<FromGateway, SessionError> {
    // It may have words of the other end.
    let none = |error: serde_json::Error| {
        SessionError::Protocol(toolkit::text::escape_line(&error.to_string()).into_owned())
    };
    serde_json::from_str(text).map_err(none)
}

fn refused(is_revoked: bool, reason: &str) -> SessionError {
    if is_revoked { SessionError::Revoked } else { SessionError::NotApproved(shown(reason)) }
}

/// A reason of the gateway, in one line.
fn shown(reason: &str) -> String {
    let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
    toolkit::text::escape_line(&reason).into_owned()
}

fn unexpected(kind: &str) -> SessionError {
    SessionError::Protocol(format!("`{kind}` was not expected"))
}

/// The reason for which a socket has ended.
fn end(message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) -> SessionError {
    match message {
        Some(Ok(Message::Close(Some(frame)))) => of_close(&frame),
        Some(Ok(Message::Close(None))) | None => SessionError::Ended("the gateway closed it".to_owned()),
        Some(Ok(_)) => SessionError::Protocol("a frame is of another kind".to_owned()),
        Some(Err(error)) => SessionError::Ended(error.to_string()),
    }
}

/// The reason of a close is not sealed, so that it decides nothing.
fn of_close(frame: &CloseFrame) -> SessionError {
    SessionError::Ended(format!("{} (code {})", shown(&frame.reason), u16::from(frame.code)))
}

/// Passes messages of the gateway on.
async fn pass_in(
    stream: &mut SplitStream<Socket>,
    opener: &mut Opener,
    mut to: impl AsyncWrite + Unpin,
) -> SessionError {
    loop {
        let Ok(message) = timeout(SILENT_WITHIN, stream.next()).await else {
            return SessionError::Ended(format!("nothing came within {SILENT_WITHIN:?}"));
        };
        let text = match message {
            Some(Ok(Message::Binary(bytes))) => match opener.open(bytes.into()) {
                Some(text) => text,
                None => return SessionError::NotProved,
            },
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            other => return end(other),
        };
        let mut frame: Value = match serde_json::from_str(&text) {
            Ok(frame) => frame,
            Err(error) => return SessionError::Protocol(error.to_string()),
        };
        if frame["type"] == "refused" {
            let reason = frame["reason"].as_str().unwrap_or_default();
            return refused(frame["isRevoked"] == true, reason);
        }
        if frame["type"] != "mcp" {
            // Of a later version.
            continue;
        }
        let line = format!("{}\n", frame["message"].take());
        if to.write_all(line.as_bytes()).await.is_err() {
            return SessionError::Ended("MCP with the gateway ended".to_owned());
        }
    }
}

/// Passes messages for the gateway on.
async fn pass_out(
    sink: &mut SplitSink<Socket, Message>,
    sealer: &mut Sealer,
    from: impl AsyncRead + Unpin,
) -> SessionError {
    let mut lines = BufReader::new(from).lines();
    loop {
        let Ok(Some(line)) = lines.next_line().await else {
            return SessionError::Ended("MCP with the gateway ended".to_owned());
        };
        let Some(line) = fitting(line) else { continue };
        // The line is JSON already.
        let frame = format!(r#"{{"type":"mcp","message":{line}}}"#);
        let Some(bytes) = sealer.seal(&frame) else {
            return SessionError::Ended("too many messages were sent over it".to_owned());
        };
        match timeout(WRITE_WITHIN, sink.send(Message::binary(bytes))).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return SessionError::Ended(error.to_string()),
            Err(_) => return SessionError::Ended("the gateway takes no message".to_owned()),
        }
    }
}

/// Returns a message that the gateway takes. In place of an answer that is too long there is an error; other messages are left out then.
fn fitting(line: String) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<Value>,
    }

    if line.len() <= MAX_MESSAGE_BYTES {
        return Some(line);
    }
    let Message { id } = serde_json::from_str(&line).ok()?;
    let message = format!("the answer has {} bytes, and {MAX_MESSAGE_BYTES} are the limit", line.len());
    let error = json!({ "code": -32603, "message": message });
    Some(json!({ "jsonrpc": "2.0", "id": id?, "error": error }).to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_the_gateway_would_not_take_is_an_error() {
        let answer = |text: &str| json!({ "jsonrpc": "2.0", "id": 7, "result": text }).to_string();
        assert_eq!(fitting(answer("short")), Some(answer("short")));
        let long = "x".repeat(MAX_MESSAGE_BYTES);
        let error: Value = serde_json::from_str(&fitting(answer(&long)).unwrap()).unwrap();
        let told = error["error"]["message"].as_str().unwrap();
        assert!(error["id"] == 7 && told.contains("are the limit"), "{error}");
        let notification = json!({ "jsonrpc": "2.0", "method": "log", "params": { "text": long } });
        assert_eq!(fitting(notification.to_string()), None);
    }
}
