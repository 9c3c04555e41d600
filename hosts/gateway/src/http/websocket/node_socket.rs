//! The socket of a node, from its hello to its end.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use toolkit_node::handshake::{FromGateway, NodeHello};
use toolkit_node::seal::{Opener, Sealer};
use toolkit_serve::websocket::{Message, WebSocket};

use super::closing::Closing;
use super::hello;
use super::{Opened, Sockets};
use crate::clients::ClientLimits;
use crate::nodes::{Nodes, Pairing, Present, Standing};
use crate::people::Window;
use crate::store::{CODE_WITHIN, NodeRecord};

/// The bytes between the MCP client and the socket.
const BUFFER: usize = 64 << 10;
/// The window in which frames are counted.
const WINDOW: Duration = Duration::from_secs(10);
/// Pings in a row without an answer, after which the socket ends.
const MAX_SILENT: u32 = 2;

/// The frames of a node after its hello.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
enum FromNode {
    /// Its signature.
    Proof { signature: String },
    /// A message of MCP.
    Mcp { message: Value },
}

/// Serves a node whose hello has come, until the socket is to be closed. `host` is the `Host` of the upgrade.
pub(super) async fn run(
    sockets: &Sockets,
    socket: &mut WebSocket,
    (opened, host): (Opened, Option<String>),
    hello: Value,
    shutdown: &CancellationToken,
) -> Closing {
    let Some(nodes) = &sockets.nodes else {
        return Closing::malformed("this gateway has no nodes");
    };
    if matches!(opened, Opened::By(_)) {
        return Closing::malformed("a node has a key, and no token: leave the header `Authorization` out");
    }
    let limits = sockets.clients.limits();
    let source = match &opened {
        Opened::ByUnknown(place) => place.network(),
        Opened::By(_) => None,
    };
    let handshake = async {
        let hello = read_hello(hello, host.as_deref())?;
        let (hello, mut sealed) = prove(sockets, nodes, socket, hello).await?;
        let record = admit(nodes, socket, &mut sealed, (hello, source), limits).await?;
        Ok(record.map(|record| (record, sealed)))
    };
    let late = || Closing::unauthorized("the handshake did not end in time");
    let lost = async {
        match &opened {
            Opened::ByUnknown(place) => place.lost().await,
            Opened::By(_) => std::future::pending().await,
        }
    };
    let admitted = tokio::select! {
        admitted = timeout(2 * limits.hello_within, handshake) => admitted.unwrap_or_else(|_| Err(late())),
        () = lost => Err(Closing::too_many("too many sockets are open whose owners are unknown")),
        () = shutdown.cancelled() => Err(Closing::stopping()),
    };
    let (record, sealed) = match admitted {
        Ok(Some(admitted)) => admitted,
        Ok(None) => return Closing::done(),
        Err(closing) => return closing,
    };
    // Its place is for those of whom nobody knows who they are.
    drop(opened);
    serve(sockets, nodes, (socket, sealed), &record, shutdown).await
}

/// Reads the hello, and compares the server name with the host of the upgrade: what a node signs for another server does not count here.
fn read_hello(hello: Value, host: Option<&str>) -> Result<NodeHello, Closing> {
    let none = |_| Closing::malformed("the member `node` of the first frame is none of the protocol");
    let hello: NodeHello = serde_json::from_value(hello).map_err(none)?;
    hello.check().map_err(Closing::malformed)?;
    if !host.is_some_and(|host| host.eq_ignore_ascii_case(&hello.server)) {
        return Err(Closing::malformed("the `server` of the node is not the host of this connection"));
    }
    Ok(hello)
}

/// Lets the node prove that it has its key. The nonces count for this connection alone.
async fn prove(
    sockets: &Sockets,
    nodes: &Nodes,
    socket: &mut WebSocket,
    hello: NodeHello,
) -> Result<(NodeHello, Sealed), Closing> {
    let (begun, signature) = nodes.challenge(hello).map_err(|error| Closing::failed(error.to_string()))?;
    let facts = begun.facts();
    let challenge = FromGateway::Challenge {
        key: facts.gateway_key,
        nonce: facts.gateway_nonce,
        exchange: facts.gateway_exchange,
        signature,
    };
    let challenge = text_of(&challenge)?;
    socket.send(Message::text(challenge)).await.map_err(|_| Closing::dropped())?;
    let text = hello::text(sockets, socket).await?;
    let Ok(FromNode::Proof { signature }) = serde_json::from_str(&text) else {
        return Err(Closing::malformed("the second frame of a node is `proof`"));
    };
    let wrong = || Closing::unauthorized("the signature is not that of the node for this connection");
    let (hello, sealer, opener) = begun.proved(&signature).ok_or_else(wrong)?;
    Ok((hello, Sealed { sealer, opener }))
}

/// The two directions of the connection of a node that has proved its key.
struct Sealed {
    sealer: Sealer,
    opener: Opener,
}

impl Sealed {
    /// Sends a frame of the handshake.
    async fn send(&mut self, socket: &mut WebSocket, frame: &FromGateway) -> Result<(), Closing> {
        let message = sealed(&mut self.sealer, &text_of(frame)?)?;
        socket.send(message).await.map_err(|_| Closing::dropped())
    }
}

fn sealed(sealer: &mut Sealer, frame: &str) -> Result<Message, Closing> {
    let bytes = sealer.seal(frame);
    bytes.map(Message::binary).ok_or_else(|| Closing::ended("too many messages were sent over it"))
}

fn text_of(frame: &FromGateway) -> Result<String, Closing> {
    serde_json::to_string(frame).map_err(|error| Closing::failed(error.to_string()))
}

/// Lets an approved node in. One that asks for a code gets it, and the connection ends.
async fn admit(
    nodes: &Nodes,
    socket: &mut WebSocket,
    sealed: &mut Sealed,
    (hello, source): (NodeHello, Option<IpAddr>),
    limits: &ClientLimits,
) -> Result<Option<NodeRecord>, Closing> {
    if hello.pair {
        let frame = match nodes.pair(hello, source).await.map_err(Closing::too_many)? {
            Pairing::Code(code) => FromGateway::Pairing { code, expires_seconds: CODE_WITHIN.as_secs() },
            Pairing::Approved(node) => FromGateway::Welcome { node },
        };
        sealed.send(socket, &frame).await?;
        return Ok(None);
    }
    let standing = nodes.standing(&hello.key).await;
    let record = match of_standing(standing.map_err(|error| Closing::of_problem(&error.into()))?) {
        Ok(record) => record,
        Err(refusal) => {
            let _ = timeout(limits.write_within, sealed.send(socket, &refusal)).await;
            return Err(closing_of(&refusal));
        }
    };
    let welcome = FromGateway::Welcome { node: record.id.clone() };
    let late = || Closing::late("the node did not take the welcome in time");
    timeout(limits.write_within, sealed.send(socket, &welcome)).await.map_err(|_| late())??;
    Ok(Some(record))
}

fn of_standing(standing: Standing) -> Result<NodeRecord, FromGateway> {
    match standing {
        Standing::Approved(record) => Ok(*record),
        Standing::Revoked => Err(revoked()),
        Standing::Unknown => {
            Err(FromGateway::Refused { is_revoked: false, reason: "this node is not approved".to_owned() })
        }
    }
}

fn revoked() -> FromGateway {
    FromGateway::Refused { is_revoked: true, reason: "this node was revoked".to_owned() }
}

fn closing_of(refusal: &FromGateway) -> Closing {
    match refusal {
        FromGateway::Refused { is_revoked: true, .. } => Closing::revoked(),
        _ => Closing::unauthorized("this node is not approved"),
    }
}

/// Speaks MCP with a node that is approved.
async fn serve(
    sockets: &Sockets,
    nodes: &Nodes,
    (socket, mut sealed): (&mut WebSocket, Sealed),
    record: &NodeRecord,
    shutdown: &CancellationToken,
) -> Closing {
    let limits = sockets.clients.limits();
    let present = nodes.connect(record, limits.node_call_within);
    let link = present.link().clone();
    let blocked = sockets.state.people().blocked(link.person());
    // Once more: a revocation may have come since, and has not found the link.
    match record.key.parse() {
        Ok(key) => match nodes.standing(&key).await.map(of_standing) {
            // Under another id, or for another person, it is another node.
            Ok(Ok(now)) if now.id == record.id && now.person == record.person => {}
            Ok(Ok(_)) => return Closing::replaced(),
            Ok(Err(refusal)) => {
                let _ = timeout(limits.write_within, sealed.send(socket, &refusal)).await;
                return closing_of(&refusal);
            }
            Err(error) => return Closing::of_problem(&error.into()),
        },
        Err(_) => return Closing::failed("the key of the node is damaged"),
    }
    tracing::info!(node = link.id(), "a node is connected");
    let (near, far) = tokio::io::duplex(BUFFER);
    let (from_client, to_node) = tokio::io::split(far);
    let (from_node, to_client) = tokio::io::split(near);
    let (mut sink, mut stream) = (&mut *socket).split();
    let exchanged = async {
        let exchanging = exchange(sockets, &mut sealed, (&mut stream, &mut sink), (from_node, to_client));
        let closing = exchanging.await;
        // Before the calls notice that nobody answers them.
        link.end(format!("the connection of the node ended ({})", closing.reason()));
        closing
    };
    let closing = tokio::select! {
        biased;
        () = shutdown.cancelled() => Closing::stopping(),
        () = link.ended() => if link.is_revoked() { Closing::revoked() } else { Closing::replaced() },
        () = blocked => {
            link.end("the person of the node was blocked");
            Closing::unauthorized("this node is not approved")
        }
        closing = attach(&present, limits, from_client, to_node) => closing,
        closing = exchanged => closing,
    };
    if link.is_revoked() {
        // Sealed, so that nobody else makes a node give up.
        if let Ok(message) = text_of(&revoked()).and_then(|text| self::sealed(&mut sealed.sealer, &text)) {
            let _ = timeout(limits.write_within, sink.send(message)).await;
        }
    }
    tracing::info!(node = link.id(), ?closing, "the connection of a node ends");
    closing
}

async fn attach(
    present: &Present,
    limits: &ClientLimits,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> Closing {
    Closing::ended(present.attach(limits.max_message, read, write).await)
}

/// Passes messages in both directions.
async fn exchange(
    sockets: &Sockets,
    Sealed { sealer, opener }: &mut Sealed,
    (stream, sink): (&mut SplitStream<&mut WebSocket>, &mut SplitSink<&mut WebSocket, Message>),
    (from_gateway, to_gateway): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
) -> Closing {
    let silent = AtomicU32::new(0);
    tokio::select! {
        closing = pass_in(sockets, (stream, opener), to_gateway, &silent) => closing,
        closing = pass_out(sockets.clients.limits(), (sink, sealer), from_gateway, &silent) => closing,
    }
}

/// Passes messages of the node on. `silent` counts the pings since the last message or answer.
async fn pass_in(
    sockets: &Sockets,
    (stream, opener): (&mut SplitStream<&mut WebSocket>, &mut Opener),
    mut to: impl AsyncWrite + Unpin,
    silent: &AtomicU32,
) -> Closing {
    let limits = sockets.clients.limits();
    let mut window = Window::new(WINDOW);
    loop {
        let message = match stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Closing::of_error(&error, limits.max_message),
            None => return Closing::dropped(),
        };
        silent.store(0, Ordering::Relaxed);
        let count = window.note(sockets.state.store().clock().now()).0;
        if count >= limits.max_frames {
            let max = limits.max_frames;
            return Closing::too_many(format!("{max} frames within ten seconds are the limit"));
        }
        let text = match message {
            Message::Binary(bytes) => match opener.open(bytes.into()) {
                Some(text) => text,
                None => return Closing::malformed("a frame is not the next one that the node has sealed"),
            },
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return Closing::by_client(None),
            Message::Text(_) | Message::Frame(_) => return Closing::malformed("frames are sealed"),
        };
        let Ok(FromNode::Mcp { message }) = serde_json::from_str(&text) else {
            return Closing::malformed("the frame of a node is a message of MCP: `mcp` with `message`");
        };
        drop(text);
        let line = format!("{message}\n");
        if to.write_all(line.as_bytes()).await.is_err() {
            return Closing::ended("MCP with the node ended");
        }
    }
}

/// Passes messages for the node on, and asks it for a sign of life.
async fn pass_out(
    limits: &ClientLimits,
    (sink, sealer): (&mut SplitSink<&mut WebSocket, Message>, &mut Sealer),
    from: impl AsyncRead + Unpin,
    silent: &AtomicU32,
) -> Closing {
    let mut lines = BufReader::new(from).lines();
    let mut ping = interval_at(Instant::now() + limits.ping_every, limits.ping_every);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            line = lines.next_line() => match line {
                Ok(Some(line)) => match serde_json::from_str::<Value>(&line) {
                    Ok(message) => {
                        let frame = json!({ "type": "mcp", "message": message }).to_string();
                        match sealed(sealer, &frame) {
                            Ok(message) => message,
                            Err(closing) => return closing,
                        }
                    }
                    Err(error) => return Closing::failed(error.to_string()),
                },
                _ => return Closing::ended("MCP with the node ended"),
            },
            _ = ping.tick() => {
                if silent.fetch_add(1, Ordering::Relaxed) > MAX_SILENT {
                    return Closing::late("the node answers no pings");
                }
                Message::Ping(Vec::new().into())
            }
        };
        match timeout(limits.write_within, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Closing::dropped(),
            Err(_) => {
                let within = limits.write_within;
                return Closing::late(format!("the node did not take a message within {within:?}"));
            }
        }
    }
}
