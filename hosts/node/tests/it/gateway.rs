//! A gateway by hand: its end of the handshake.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_async};
use toolkit_node::handshake::{End, Handshake, NodeHello};
use toolkit_node::seal::{Exchange, Opener, Sealer};
use toolkit_node::{Identity, Nonce};

pub(crate) struct Gateway {
    listener: TcpListener,
    pub(crate) identity: Identity,
    /// The server name that nodes sign.
    pub(crate) server: String,
}

/// The socket of a node.
pub(crate) struct Socket {
    socket: WebSocketStream<TcpStream>,
    /// Once the node has proved its key.
    sealed: Option<(Sealer, Opener)>,
}

impl Gateway {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap().to_string();
        Self { listener, identity: Identity::unstored().unwrap(), server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Waits for a node, and sends it a challenge that another key has signed.
    pub(crate) async fn challenge_by(&self, signer: &Identity) -> (Socket, (Handshake, Exchange), bool) {
        let stream = self.listener.accept().await.unwrap().0;
        let socket = accept_async(stream).await.unwrap();
        let mut socket = Socket { socket, sealed: None };
        let mut hello = socket.read().await.unwrap();
        let hello: NodeHello = serde_json::from_value(hello["node"].take()).unwrap();
        hello.check().unwrap();
        assert_eq!(hello.server, self.server);
        let exchange = Exchange::random().unwrap();
        let facts = Handshake {
            gateway_nonce: Nonce::random().unwrap(),
            node_nonce: hello.nonce,
            gateway_key: self.identity.public_key(),
            node_key: hello.key,
            gateway_exchange: exchange.public_key(),
            node_exchange: hello.exchange,
            server: hello.server,
        };
        let challenge = json!({
            "type": "challenge",
            "key": facts.gateway_key,
            "nonce": facts.gateway_nonce,
            "exchange": facts.gateway_exchange,
            "signature": facts.sign(End::Gateway, signer),
        });
        socket.send(&challenge).await;
        (socket, (facts, exchange), hello.pair)
    }

    /// Waits for a node, and checks its proof. Returns its socket, and true if it asks for a code.
    pub(crate) async fn accept(&self) -> (Socket, bool) {
        let (mut socket, (facts, exchange), pair) = self.challenge_by(&self.identity).await;
        let proof = socket.read().await.unwrap();
        assert_eq!(proof["type"], "proof");
        assert!(facts.is_signed(End::Node, proof["signature"].as_str().unwrap()));
        socket.sealed = exchange.agree(End::Gateway, &facts);
        (socket, pair)
    }
}

impl Socket {
    pub(crate) async fn send(&mut self, frame: &Value) {
        let message = match &mut self.sealed {
            Some((sealer, _)) => Message::binary(sealer.seal(&frame.to_string()).unwrap()),
            None => Message::text(frame.to_string()),
        };
        self.socket.send(message).await.unwrap();
    }

    /// Sends a message of MCP.
    pub(crate) async fn mcp(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.send(&json!({ "type": "mcp", "message": message })).await;
    }

    /// Reads a frame; `None` once the node has gone.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await? {
                Ok(Message::Binary(bytes)) => {
                    let (_, opener) = self.sealed.as_mut().unwrap();
                    return Some(serde_json::from_str(&opener.open(bytes.into()).unwrap()).unwrap());
                }
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                _ => return None,
            }
        }
    }

    /// Sends a request of MCP, and returns the answer.
    pub(crate) async fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.mcp(json!({ "id": id, "method": method, "params": params })).await;
        loop {
            let mut frame = self.read().await.unwrap();
            if frame["message"]["id"] == id {
                return frame["message"].take();
            }
        }
    }

    pub(crate) async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "by hand".into() };
        self.socket.close(Some(frame)).await.unwrap();
        while self.read().await.is_some() {}
    }
}
