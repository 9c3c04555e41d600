//! Tools over HTTP, and their clients: each module is one subject.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod asks;
mod calls;
mod clients;
mod console;
mod console_forms;
mod console_page;
mod description;
mod files;
mod guide;
mod keys;
mod other_programs;
mod requests;
mod room;
mod streams;
mod tools;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use toolkit::{CancellationToken, Toolkit};
use toolkit_serve::axum::http::{HeaderMap, Request, Response, StatusCode};
use toolkit_web::{ClientTokens, ServeError, Tokens, Web, WebOptions};

const TOKEN: &str = "0123456789abcdef";

/// A server with one shared token, and tokens of clients.
struct Server {
    address: SocketAddr,
    web: Web,
    shutdown: CancellationToken,
    ended: JoinHandle<Result<(), ServeError>>,
    clients: ClientTokens,
    _directory: tempfile::TempDir,
}

/// An answer, with its body.
#[derive(Debug)]
struct Answered {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The problem in it, whose status is that of the answer.
    fn problem(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{self:?}");
        problem
    }

    fn detail(&self) -> String {
        self.problem()["detail"].as_str().unwrap().to_owned()
    }

    /// The result of a call.
    fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }
}

impl Server {
    async fn start(toolkit: Toolkit) -> Self {
        Self::with(toolkit, |options| options).await
    }

    async fn with(toolkit: Toolkit, change: impl FnOnce(WebOptions) -> WebOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clients = ClientTokens::at(directory.path().join("clients.json"));
        let shutdown = CancellationToken::new();
        let web = Web::new(toolkit, change(WebOptions::new().shutdown(shutdown.clone())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tokens = Tokens::shared(TOKEN).clients(ClientTokens::at(clients.path()));
        let serving = web.clone();
        let ended = tokio::spawn(async move { serving.serve(tokens, listener).await });
        Self { address, web, shutdown, ended, clients, _directory: directory }
    }

    /// Returns a new token of a client.
    fn token(&self, name: &str) -> String {
        self.clients.add(name).unwrap()
    }

    fn request(&self, method: &str, path: &str) -> toolkit_serve::axum::http::request::Builder {
        self.request_of(TOKEN, method, path)
    }

    fn request_of(
        &self,
        token: &str,
        method: &str,
        path: &str,
    ) -> toolkit_serve::axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {token}"))
    }

    async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    async fn open(&self, request: Request<Full<Bytes>>) -> (SendRequest<Full<Bytes>>, Response<Incoming>) {
        let mut sender = self.connect().await;
        let response = sender.send_request(request).await.unwrap();
        (sender, response)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answered {
        let (_sender, response) = self.open(request).await;
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answered { status: head.status.as_u16(), headers: head.headers, text }
    }

    async fn get(&self, path: &str) -> Answered {
        self.send(self.request("GET", path).body(Full::default()).unwrap()).await
    }

    async fn get_of(&self, token: &str, path: &str) -> Answered {
        self.send(self.request_of(token, "GET", path).body(Full::default()).unwrap()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answered {
        self.post_of(TOKEN, path, body).await
    }

    async fn post_of(&self, token: &str, path: &str, body: &Value) -> Answered {
        self.send(json_body(self.request_of(token, "POST", path), body)).await
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Answered {
        self.post(&format!("/v1/tools/{tool}/call"), arguments).await
    }

    async fn keyed(&self, token: &str, key: &str, tool: &str, arguments: &Value) -> Answered {
        let path = format!("/v1/tools/{tool}/call");
        let request = self.request_of(token, "POST", &path).header("idempotency-key", key);
        self.send(json_body(request, arguments)).await
    }

    /// Begins a call whose events are read one after the other.
    async fn stream(&self, tool: &str, arguments: &Value) -> Stream {
        let path = format!("/v1/tools/{tool}/call");
        let request = self.request("POST", &path).header("accept", "text/event-stream");
        let (sender, response) = self.open(json_body(request, arguments)).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { _sender: sender, response, text: String::new() }
    }
}

fn json_body(request: toolkit_serve::axum::http::request::Builder, body: &Value) -> Request<Full<Bytes>> {
    request.header("content-type", "application/json").body(Full::from(body.to_string())).unwrap()
}

/// The events of a call.
struct Stream {
    _sender: SendRequest<Full<Bytes>>,
    response: Response<Incoming>,
    text: String,
}

impl Stream {
    /// Returns the next event, its kind and its data; `None` at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                // A comment shows that the stream is alive.
                let Some(kind) = field("event: ") else { continue };
                return Some((kind.to_owned(), serde_json::from_str(field("data: ").unwrap()).unwrap()));
            }
            let frame = self.response.body_mut().frame().await?.unwrap();
            self.text.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap_or_default()));
        }
    }

    async fn rest(mut self) -> Vec<(String, Value)> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn names(list: &Answered) -> Vec<String> {
    let list = list.result();
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}
