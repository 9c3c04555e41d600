//! A server on loopback that sends exactly the bytes that a test says, and remembers the requests.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use toolkit_http::{AddressRange, Client, Guard, GuardSettings, Limits};

/// Bytes to send, or a pause.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    /// Sends the bytes again and again, until the client is gone.
    Forever(Vec<u8>),
    /// Sends nothing, until the client is gone.
    Hang,
    Pause(Duration),
}

pub(super) fn send(bytes: impl Into<Vec<u8>>) -> Step {
    Step::Send(bytes.into())
}

/// A response with a length.
pub(super) fn ok(body: &str) -> Vec<Step> {
    response("200 OK", &[], body)
}

pub(super) fn response(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let mut all =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    all.extend_from_slice(body);
    vec![Step::Send(all)]
}

pub(super) fn redirect(to: &str) -> Vec<Step> {
    response("302 Found", &[("Location", to)], "")
}

/// The server. It ends when it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Server {
    pub(super) async fn start(script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1".parse().unwrap(), 0, script).await
    }

    pub(super) async fn at(
        ip: IpAddr,
        port: u16,
        script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                connections.spawn(async move {
                    let _ = answer(stream, &*script, &seen).await;
                });
            }
        });
        Self { address, requests, _serving: serving }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, each with its headers.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(
    mut stream: TcpStream,
    script: &(dyn Fn(&str) -> Vec<Step> + Send + Sync),
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    seen.lock().unwrap().push(request.clone());
    for step in script(&request) {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Forever(bytes) => loop {
                stream.write_all(&bytes).await?;
            },
            Step::Hang => {
                let _ = stream.read_u8().await;
            }
            Step::Pause(pause) => tokio::time::sleep(pause).await,
        }
    }
    stream.shutdown().await
}

/// A client that may reach these ranges.
pub(super) fn client(ranges: &[&str], limits: Limits) -> Client {
    Client::new(guard(ranges), limits)
}

pub(super) fn guard(ranges: &[&str]) -> Guard {
    Guard::new(settings(ranges))
}

pub(super) fn settings(ranges: &[&str]) -> GuardSettings {
    let mut settings = GuardSettings::default();
    settings.allowed_ranges = ranges.iter().map(|range| range.parse::<AddressRange>().unwrap()).collect();
    settings
}
