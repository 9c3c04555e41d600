//! Clients over HTTP, well-meaning and other ones.

#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod clients;
mod crowded;
mod ending;
mod outputs;
mod principals;
mod requests;
mod sessions;
mod use_of_sessions;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use toolkit::prelude::*;
use toolkit::{Ask, CancellationToken, tool_ref};
use toolkit_mcp::{Bearer, HttpBody, HttpOptions, HttpService, Principal, at_path, serve_http};
use tower_service::Service;

const TOKEN: &str = "0123456789abcdef";

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> String {
    (a + b).to_string()
}

/// Deploys the site.
#[tool(asks)]
async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("deploy", "Put the site online").with_pattern("site")).await?;
    Ok("deployed".to_owned())
}

struct Server {
    address: SocketAddr,
    shutdown: CancellationToken,
    ended: JoinHandle<std::io::Result<()>>,
}

/// A service that takes whom a header names for the principal.
#[derive(Clone)]
struct ByHeader(HttpService);

impl Service<Request<Incoming>> for ByHeader {
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        let name = request.headers().get("x-user").map(|name| name.to_str().unwrap().to_owned());
        if let Some(name) = name {
            request.extensions_mut().insert(Principal(name));
        }
        self.0.call(request)
    }
}

fn service(options: HttpOptions) -> HttpService {
    let toolkit = Toolkit::empty().tool(tool_ref!(add)).tool(tool_ref!(deploy)).build().unwrap();
    HttpService::new(toolkit, Caller::new(), options)
}

async fn serve<S>(service: S, shutdown: CancellationToken) -> Server
where
    S: Service<Request<Incoming>, Response = Response<HttpBody>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let ended = tokio::spawn(serve_http(listener, service, shutdown.clone()));
    Server { address, shutdown, ended }
}

async fn with_token(options: HttpOptions) -> Server {
    let shutdown = options.shutdown.clone();
    serve(at_path("/mcp", Bearer::new(service(options), TOKEN)), shutdown).await
}

async fn by_header(options: HttpOptions) -> Server {
    let shutdown = options.shutdown.clone();
    serve(ByHeader(service(options)), shutdown).await
}

/// An answer: its status, its session, and its text or the data of its events.
#[derive(Debug)]
struct Answered {
    status: StatusCode,
    session: Option<String>,
    text: String,
}

impl Answered {
    /// The message of the protocol in it.
    fn message(&self) -> Value {
        let data: Vec<Value> = self
            .text
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok())
            .collect();
        data.last().cloned().unwrap_or_else(|| panic!("no message: {self:?}"))
    }
}

impl Server {
    fn post(&self) -> http::request::Builder {
        Request::post(format!("http://{}/mcp", self.address))
            .header("host", self.address.to_string())
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
    }

    /// Sends a request by a connection of its own.
    async fn raw(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let response = sender.send_request(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body =
            tokio::time::timeout(Duration::from_secs(20), body.collect()).await.unwrap().unwrap().to_bytes();
        connection.abort();
        Response::from_parts(parts, body)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answered {
        let (parts, body) = self.raw(request).await.into_parts();
        let session = parts.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        Answered { status: parts.status, session, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    async fn message(&self, headers: &[(&str, &str)], message: Value) -> Answered {
        let request =
            headers.iter().fold(self.post(), |request, (name, value)| request.header(*name, *value));
        self.send(request.body(Full::new(message.to_string().into())).unwrap()).await
    }

    async fn initialize(&self, headers: &[(&str, &str)]) -> Answered {
        self.message(headers, initialize()).await
    }
}

fn initialize() -> Value {
    let client = json!({"name": "x", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn add_call() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}})
}

/// A request of the generation without sessions.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
}

const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef");

const MODERN: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
