//! HTTP/1.1 on loopback, as little of it as is needed: one request for each connection, and answers in chunks that end as a test says.

use serde_json::Value;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Each is sent by itself.
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) end: End,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// As it should.
    Whole,
    /// The connection ends, and the answer has not.
    Cut,
    /// Nothing more comes, and the connection stays.
    Stall,
    /// The connection ends without an answer.
    Refuse,
}

impl Reply {
    pub(crate) fn stream(text: &str) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            pieces: vec![text.as_bytes().to_vec()],
            end: End::Whole,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            pieces: vec![body.to_string().into_bytes()],
            end: End::Whole,
        }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// The same bytes in pieces that end at these places.
    pub(crate) fn cut_at(mut self, cuts: &[usize]) -> Self {
        let bytes = self.pieces.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        self.pieces = cuts.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect();
        self
    }
}

/// The server. It ends when it is dropped.
pub(crate) struct Server {
    url: String,
    requests: watch::Receiver<Vec<Received>>,
    /// Told when a client ends a connection on which an answer stalls.
    left: Arc<Notify>,
    _serving: JoinSet<()>,
}

type Handler = dyn FnMut(&Received) -> Reply + Send;

impl Server {
    pub(crate) async fn start(handler: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
        let url = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(handler));
        let (came, requests) = watch::channel(Vec::new());
        let (came, left) = (Arc::new(came), Arc::new(Notify::new()));
        let told = Arc::clone(&left);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (handler, came, told) = (Arc::clone(&handler), Arc::clone(&came), Arc::clone(&told));
                connections.spawn(async move {
                    // A client that goes away is what some tests are about.
                    let _ = serve(stream, &handler, &came, &told).await;
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { url, requests, left, _serving: serving }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.borrow().clone()
    }

    pub(crate) async fn received(&self, number: usize) {
        let _ = self.requests.clone().wait_for(|requests| requests.len() >= number).await;
    }

    /// Waits until a client has ended a connection on which an answer stalls.
    pub(crate) async fn left(&self) {
        self.left.notified().await;
    }
}

async fn serve(
    mut stream: TcpStream,
    handler: &Mutex<Handler>,
    came: &watch::Sender<Vec<Received>>,
    left: &Notify,
) -> io::Result<()> {
    let received = receive(&mut stream).await?;
    let reply = handler.lock().expect("no test panics in a handler")(&received);
    // So many are not kept for the properties, which look at none.
    came.send_modify(|requests| {
        if requests.len() < 1000 {
            requests.push(received);
        }
    });
    if reply.end == End::Refuse {
        return Ok(());
    }
    let mut head =
        format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    stream.set_nodelay(true)?;
    stream.write_all(head.as_bytes()).await?;
    for piece in reply.pieces.iter().filter(|piece| !piece.is_empty()) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk).await?;
        stream.flush().await?;
        tokio::task::yield_now().await;
    }
    match reply.end {
        End::Whole => stream.write_all(b"0\r\n\r\n").await?,
        End::Cut | End::Refuse => {}
        End::Stall => {
            // The client's end of the connection is the end of its input.
            let mut rest = [0; 64];
            while stream.read(&mut rest).await? > 0 {}
            left.notify_one();
        }
    }
    stream.shutdown().await
}

async fn receive(stream: &mut TcpStream) -> io::Result<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16384];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..read]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = bytes.split_off(end + 4);
    while body.len() < length.unwrap_or(0) {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        body.extend_from_slice(&buffer[..read]);
    }
    Ok(Received {
        method: first.next().unwrap_or_default(),
        path: first.next().unwrap_or_default(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
