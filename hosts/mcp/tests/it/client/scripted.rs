//! A server over HTTP that answers as a test says.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: String,
    /// With its query.
    pub(super) path: String,
    /// In lower case, a line each.
    pub(super) headers: String,
    pub(super) message: Value,
}

/// The answer to a request.
pub(super) struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
    /// A further header.
    header: Option<(&'static str, String)>,
    /// Further parts of the body, until the other end of it is gone.
    stream: Option<mpsc::Receiver<Vec<u8>>>,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Self { status, ..Self::of("text/plain", Vec::new()) }
    }

    pub(super) fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, kind, body: body.into(), header: None, stream: None }
    }

    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) fn with_header(self, name: &'static str, value: String) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    pub(super) fn json(message: &Value) -> Self {
        Self::of("application/json", message.to_string())
    }

    /// Events, as they come.
    pub(super) fn events(first: String, stream: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { stream: Some(stream), ..Self::of("text/event-stream", first) }
    }
}

type Script = dyn Fn(&Request) -> Answer + Send + Sync;

/// The server. It ends when it is dropped, and so do its connections.
pub(super) struct Scripted {
    address: std::net::SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    _tasks: JoinSet<()>,
}

impl Scripted {
    pub(super) fn new(script: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, noted): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&requests));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&script), Arc::clone(&noted)));
            }
        });
        Self { address, requests, _tasks: tasks }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// One request a connection.
async fn serve(stream: TcpStream, script: Arc<Script>, noted: Arc<Mutex<Vec<Request>>>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = Vec::new();
        match stream.read_until(b'\n', &mut line).await {
            Ok(length) if length > 0 => {}
            _ => return,
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let (first, headers) = head.split_once('\n').unwrap_or_default();
    let headers = headers.to_lowercase();
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return };
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let message = serde_json::from_slice(&body).unwrap_or_default();
    let request = Request { method: method.to_owned(), path: path.to_owned(), headers, message };
    noted.lock().unwrap().push(request.clone());
    let Answer { status, kind, body, header, stream: events } = script(&request);
    let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
    let length = match &events {
        None => format!("content-length: {}\r\n", body.len()),
        Some(_) => String::new(),
    };
    let head =
        format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\n{header}{length}connection: close\r\n\r\n");
    if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
        return;
    }
    if let Some(mut events) = events {
        while let Some(event) = events.recv().await {
            if stream.write_all(&event).await.is_err() {
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
}
