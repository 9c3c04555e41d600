//! A client by hand.

use std::collections::VecDeque;
use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Place;
use crate::agents::in_time;

pub(super) type Socket = WebSocketStream<TcpStream>;

/// The code and the reason with which a socket was closed; 1006 if it ended without a word.
pub(super) type Closed = (u16, String);

pub(super) struct Client {
    pub(super) socket: Socket,
    pub(super) welcome: Value,
    sent: u64,
    pub(super) received: u64,
    /// Frames that came before the one that was waited for.
    others: VecDeque<Value>,
}

pub(super) fn request(place: &Place) -> Request<()> {
    request_to(place.gateway.address())
}

pub(super) fn request_to(address: SocketAddr) -> Request<()> {
    format!("ws://{address}/ws").into_client_request().unwrap()
}

pub(super) async fn open_with(place: &Place, request: Request<()>) -> Result<Socket, Error> {
    open_at(place.gateway.address(), request).await
}

pub(super) async fn open_at(address: SocketAddr, request: Request<()>) -> Result<Socket, Error> {
    let stream = TcpStream::connect(address).await.unwrap();
    in_time(client_async(request, stream)).await.map(|(socket, _)| socket)
}

pub(super) async fn open(place: &Place) -> Socket {
    open_with(place, request(place)).await.unwrap()
}

/// Waits for the next frame of a socket.
pub(super) async fn frame(socket: &mut Socket) -> Result<Value, Closed> {
    loop {
        match in_time(socket.next()).await {
            Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(Some(frame)))) => {
                return Err((frame.code.into(), frame.reason.to_string()));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            _ => return Err((1006, String::new())),
        }
    }
}

pub(super) async fn send(socket: &mut Socket, frame: &Value) {
    in_time(socket.send(Message::text(frame.to_string()))).await.unwrap();
}

impl Client {
    /// Says hello, with more fields.
    pub(super) async fn hello(place: &Place, token: &str, more: Value) -> Result<Self, Closed> {
        Self::hello_over(open(place).await, token, more).await
    }

    /// Says hello over a socket.
    pub(super) async fn hello_over(mut socket: Socket, token: &str, more: Value) -> Result<Self, Closed> {
        let mut hello = json!({ "type": "hello", "token": token });
        for (key, value) in more.as_object().unwrap() {
            hello[key] = value.clone();
        }
        send(&mut socket, &hello).await;
        let welcome = frame(&mut socket).await?;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        Ok(Self { socket, welcome, sent: 0, received: 0, others: VecDeque::new() })
    }

    /// Attaches to a session, and serves these tools. Returns the client once they are there.
    pub(super) async fn serving(place: &Place, token: &str, more: Value, tools: Value) -> Self {
        let mut client = Self::hello(place, token, more).await.unwrap();
        client.begin(tools).await;
        client
    }

    /// Answers the requests with which MCP begins.
    pub(super) async fn begin(&mut self, tools: Value) -> Value {
        let initialize = self.request("initialize").await;
        let capabilities = json!({ "tools": { "listChanged": true } });
        let about = json!({ "name": "by hand", "version": "1" });
        let version = initialize["params"]["protocolVersion"].clone();
        let result = json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": about });
        self.answer(&initialize, result).await;
        self.list(tools).await
    }

    /// Answers a request for the tools, and returns what the gateway says of them.
    pub(super) async fn list(&mut self, tools: Value) -> Value {
        let list = self.request("tools/list").await;
        self.answer(&list, json!({ "tools": tools })).await;
        self.wait("tools").await
    }

    /// Comes back over another socket, without a word over the one before.
    pub(super) async fn come_back(self, place: &Place, token: &str, sessions: Value) -> Self {
        let hello =
            json!({ "sessions": sessions, "resume": self.welcome["resume"], "received": self.received });
        let Self { socket, sent, received, others, .. } = self;
        drop(socket);
        let client = Self::hello(place, token, hello).await.unwrap();
        let (sent, received) = if client.welcome["resumed"] == true { (sent, received) } else { (0, 0) };
        Self { sent, received, others, ..client }
    }

    pub(super) async fn send(&mut self, frame: Value) {
        send(&mut self.socket, &frame).await;
    }

    /// Sends a message of MCP.
    pub(super) async fn mcp(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.sent += 1;
        let frame = json!({ "type": "mcp", "n": self.sent, "ack": self.received, "message": message });
        self.send(frame).await;
    }

    pub(super) async fn answer(&mut self, request: &Value, result: Value) {
        self.mcp(json!({ "id": request["id"], "result": result })).await;
    }

    /// The next frame.
    pub(super) async fn next(&mut self) -> Result<Value, Closed> {
        let frame = frame(&mut self.socket).await?;
        if frame["type"] == "mcp" {
            self.received += 1;
            assert_eq!(frame["n"], self.received, "each message comes once, in order");
        }
        Ok(frame)
    }

    /// Waits for a frame that is wanted; others stay.
    pub(super) async fn find(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.others.iter().position(&is_wanted) {
            return self.others.remove(at).unwrap();
        }
        loop {
            let frame = self.next().await.unwrap();
            // A method of a later version of the protocol.
            if frame["message"]["method"] == "server/discover" {
                let error = json!({ "code": -32601, "message": "no such method" });
                self.mcp(json!({ "id": frame["message"]["id"], "error": error })).await;
                continue;
            }
            if is_wanted(&frame) {
                return frame;
            }
            self.others.push_back(frame);
        }
    }

    /// Waits for a frame of a type.
    pub(super) async fn wait(&mut self, kind: &str) -> Value {
        self.find(|frame| frame["type"] == kind).await
    }

    /// Waits for a message of MCP with a method.
    pub(super) async fn request(&mut self, method: &str) -> Value {
        self.find(|frame| frame["message"]["method"] == method).await["message"].take()
    }

    /// Waits until the gateway closes the socket.
    pub(super) async fn closed(mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    /// Closes the socket, and does not come back.
    pub(super) async fn close(mut self) {
        in_time(self.socket.close(None)).await.unwrap();
        while in_time(self.socket.next()).await.is_some_and(|message| message.is_ok()) {}
    }
}
