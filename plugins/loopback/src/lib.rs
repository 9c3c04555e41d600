//! An HTTP server on loopback with answers set by a test, for the tests of plugins that communicate with a platform.
//!
//! It is as small as tests permit: HTTP/1.1, one request per connection, and answers that a well-behaved server would
//! not give.
//!
//! ```
//! use toolkit_loopback::{Answer, Loopback};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let server = Loopback::start(|request| match request.path.as_str() {
//!     "/ping" => Answer::json(200, &serde_json::json!({ "pong": true })),
//!     _ => Answer::json(404, &serde_json::json!({})),
//! })
//! .await;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # }
//! ```

#[cfg(target_os = "linux")]
pub mod alone;
pub mod bot_api;
pub mod dns;

use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Maximum number of bytes of a request's body.
const LONGEST_BODY: usize = 16 << 20;

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST`.
    pub method: String,
    /// Target of the request: the path, with the query if there is one.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The response of the server to a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Answers it.
    Give {
        /// The status code.
        status: u16,
        /// Headers beside the length.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// Never answers, and keeps the connection.
    Hang,
    /// Ends the connection without an answer.
    Close,
}

impl Answer {
    /// A status and a body of JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, body.to_string()).with_header("content-type", "application/json")
    }

    /// A status and any body.
    pub fn bytes(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Give { status, headers: Vec::new(), body: body.into() }
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Give { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// The server. It stops when it is dropped.
#[derive(Debug)]
pub struct Loopback {
    url: String,
    requests: watch::Receiver<Vec<Request>>,
    _serving: JoinSet<()>,
}

impl Loopback {
    /// Begins to serve.
    ///
    /// # Panics
    ///
    /// When there is no port to listen on.
    pub async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_at(([127, 0, 0, 1], 0).into(), answer).await
    }

    /// Begins to serve at an address of this machine.
    ///
    /// # Panics
    ///
    /// The address is in use, or not this machine's.
    pub async fn start_at(
        address: SocketAddr,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(address, move |request| Box::pin(std::future::ready(answer(&request)))).await
    }

    /// Begins to serve with answers that a function waits for. A client that disconnects ends the wait.
    ///
    /// # Panics
    ///
    /// When there is no port to listen on.
    pub async fn start_async<F>(answer: impl Fn(Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self::start_with(([127, 0, 0, 1], 0).into(), move |request| Box::pin(answer(request))).await
    }

    async fn start_with(
        address: SocketAddr,
        answer: impl Fn(Request) -> Pending + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.expect("an address of this machine that is free");
        let address = listener.local_addr().expect("a listener has an address");
        let (came, requests) = watch::channel(Vec::new());
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::new(answer), came));
        Self { url: format!("http://{address}"), requests, _serving: serving }
    }

    /// The scheme, the address and the port: `http://127.0.0.1:8080`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.borrow().clone()
    }

    /// Waits until this number of requests has arrived.
    pub async fn received(&self, number: usize) {
        let mut requests = self.requests.clone();
        // The sender lives as long as the server does.
        let _ = requests.wait_for(|requests| requests.len() >= number).await;
    }
}

/// An answer that is being made.
type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

type Answering = dyn Fn(Request) -> Pending + Send + Sync;

async fn serve(listener: TcpListener, answering: Arc<Answering>, came: watch::Sender<Vec<Request>>) {
    let mut connections = JoinSet::new();
    let came = Arc::new(came);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                let (answering, came) = (Arc::clone(&answering), Arc::clone(&came));
                connections.spawn(async move {
                    // A client that disconnects is not an error.
                    let _ = connection(stream, &*answering, &came).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(
    stream: TcpStream,
    answering: &Answering,
    came: &watch::Sender<Vec<Request>>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = read(&mut stream).await?;
    let mut answer = pin!(answering(request.clone()));
    came.send_modify(|requests| requests.push(request));
    let answer = tokio::select! {
        biased;
        answer = &mut answer => answer,
        more = stream.fill_buf() => {
            if more?.is_empty() {
                return Ok(());
            }
            answer.await
        }
    };
    match answer {
        Answer::Close => Ok(()),
        // Until the client disconnects.
        Answer::Hang => stream.read(&mut [0]).await.map(|_| ()),
        Answer::Give { status, headers, body } => {
            let mut head = format!(
                "HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {}\r\n",
                body.len()
            );
            for (name, value) in headers {
                head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
            }
            head.push_str("\r\n");
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&body).await?;
            stream.shutdown().await
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Request> {
    let first = line(stream).await?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let line = line(stream).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > LONGEST_BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    request.body = vec![0; length];
    stream.read_exact(&mut request.body).await?;
    Ok(request)
}

async fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    stream.take(64 << 10).read_line(&mut line).await?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
