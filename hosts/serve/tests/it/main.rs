//! A server with routes, tokens, limits and WebSockets, and its clients.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod limits;
mod refusals;
mod tls;
mod websockets;

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolkit_serve::axum;
use toolkit_serve::websocket::{self, WebSocketOptions};
use toolkit_serve::{Problem, ServeOptions, serve_with};
use tower_service::Service;

const TOKEN: &str = "0123456789abcdef";

struct Server {
    address: SocketAddr,
    shutdown: CancellationToken,
    ended: JoinHandle<io::Result<()>>,
}

impl Server {
    async fn start<S>(service: S, options: ServeOptions) -> Self
    where
        S: Service<Request<hyper::body::Incoming>, Response = Response<Body>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
        let ended = tokio::spawn(serve_with(listener, service, shutdown.clone(), options));
        Self { address, shutdown, ended }
    }

    async fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        Client(sender, self.address)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> (StatusCode, Response<Bytes>) {
        self.connect().await.send(request).await
    }
}

struct Client(SendRequest<Full<Bytes>>, SocketAddr);

impl Client {
    async fn open(&mut self, mut request: Request<Full<Bytes>>) -> Response<hyper::body::Incoming> {
        let host = self.1.to_string().parse().unwrap();
        request.headers_mut().entry("host").or_insert(host);
        self.0.ready().await.unwrap();
        self.0.send_request(request).await.unwrap()
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> (StatusCode, Response<Bytes>) {
        let (head, body) = self.open(request).await.into_parts();
        (head.status, Response::from_parts(head, body.collect().await.unwrap().to_bytes()))
    }
}

/// Routes: `/size` answers with the length of a body, `/events` with a stream that does not end, `/ws` with an echo.
fn routes() -> Router {
    Router::new()
        .route("/size", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/events", get(|| async { events() }))
        .route("/ws", get(|request: Request<Body>| async move { echo(request) }))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here") })
}

fn events() -> Response<Body> {
    let first = futures_util::stream::once(async { Ok::<_, Infallible>(Bytes::from("data: 1\n\n")) });
    let all = futures_util::StreamExt::chain(first, futures_util::stream::pending());
    Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(all)).unwrap()
}

fn echo(request: Request<Body>) -> Result<Response<Body>, Problem> {
    use futures_util::{SinkExt as _, StreamExt as _};
    let mut options = WebSocketOptions::default();
    options.max_message = 1_000;
    options.protocol = Some("echo");
    websocket::accept(request, options, async |mut socket, shutdown| {
        loop {
            tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(message)) if !message.is_close() => {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                    _ => return,
                },
                () = shutdown.cancelled() => {
                    let _ = socket.send("bye".into()).await;
                    let _ = socket.close(None).await;
                    return;
                }
            }
        }
    })
}

fn get_of(path: &str) -> http::request::Builder {
    Request::builder().uri(path)
}

fn empty() -> Full<Bytes> {
    Full::default()
}

fn problem(answer: &Response<Bytes>) -> Value {
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let problem: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(problem["status"], answer.status().as_u16());
    problem
}
