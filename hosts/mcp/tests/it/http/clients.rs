//! Clients that keep connections, in both generations of the protocol, and a server with jobs, questions and calls that wait.

use super::sessions::Ended;
use super::{Answered, Server, TOKEN, deploy, serve, stateless};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use toolkit::prelude::*;
use toolkit::tool_ref;
use toolkit_mcp::{Bearer, ClientTokens, HttpOptions, HttpService, at_path};

/// Lets calls of `hold` end, and counts them.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) open: Semaphore,
    pub(super) started: AtomicUsize,
    pub(super) cancelled: AtomicUsize,
}

impl Gate {
    /// Waits until a count has a value.
    pub(super) async fn reaches(&self, count: impl Fn(&Self) -> &AtomicUsize, value: usize) {
        for attempt in 0.. {
            if count(self).load(Ordering::SeqCst) >= value {
                return;
            }
            assert!(attempt < 3000, "{self:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

struct Cancelled<'a>(Option<&'a Gate>);

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.0 {
            gate.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Waits until it is let go.
#[tool(read_only)]
async fn hold(gate: State<Gate>) -> &'static str {
    let mut cancelled = Cancelled(Some(&gate));
    gate.started.fetch_add(1, Ordering::SeqCst);
    gate.open.acquire().await.unwrap().forget();
    cancelled.0 = None;
    "held"
}

/// Changes something until it is let go.
#[tool(auto_execute)]
async fn alter(gate: State<Gate>) -> &'static str {
    gate.started.fetch_add(1, Ordering::SeqCst);
    gate.open.acquire().await.unwrap().forget();
    "altered"
}

/// Returns three pictures of 300,000 bytes.
#[tool(read_only)]
async fn pictures() -> Vec<Content> {
    (0..3).map(|number| Content::image(vec![number; 300_000], "image/png")).collect()
}

/// Returns control characters, which JSON escapes, and invalid UTF-8 would be no text.
#[tool(read_only)]
async fn controls() -> String {
    "\u{1}".repeat(3_000_000)
}

/// Returns the event that ends the session.
#[tool(read_only)]
async fn session_end(ctx: &ToolContext) -> String {
    ctx.caller().session_end.clone().unwrap_or_else(|| "nothing in particular".to_owned())
}

/// A server with clients that have tokens.
pub(super) struct House {
    pub(super) server: Server,
    pub(super) ended: Arc<Ended>,
    pub(super) gate: Arc<Gate>,
    pub(super) tokens: ClientTokens,
    pub(super) toolkit: Toolkit,
    _directory: tempfile::TempDir,
}

impl House {
    pub(super) async fn new(idle: Option<Duration>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("clients");
        let mut options = HttpOptions::new();
        options.idle = idle.unwrap_or(options.idle);
        let ended = Arc::new(Ended::default());
        let gate = Arc::new(Gate { open: Semaphore::new(0), started: 0.into(), cancelled: 0.into() });
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(super::sessions::begin))
            .tool(tool_ref!(deploy))
            .tool(tool_ref!(hold))
            .tool(tool_ref!(alter))
            .tool(tool_ref!(pictures))
            .tool(tool_ref!(controls))
            .tool(tool_ref!(session_end))
            .shared_service(Arc::clone(&ended))
            .shared_service(Arc::clone(&gate))
            .data_dir(directory.path().join("data"))
            .build()
            .unwrap();
        let shutdown = options.shutdown.clone();
        let service = Bearer::new(HttpService::new(toolkit.clone(), Caller::new(), options), TOKEN)
            .clients(ClientTokens::at(&file));
        let server = serve(at_path("/mcp", service), shutdown).await;
        Self { server, ended, gate, tokens: ClientTokens::at(&file), toolkit, _directory: directory }
    }

    /// A client that begins a session of the protocol, with or without elicitation.
    pub(super) async fn begin(&self, token: &str, asks: bool) -> Client {
        let mut client = Client::open(&self.server, token).await;
        let mut message = super::initialize();
        if asks {
            message["params"]["capabilities"] = json!({"elicitation": {}});
        }
        let begun = client.send("POST", None, &[], Some(message)).await;
        assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
        client.session = begun.session;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(ready).await.status, StatusCode::ACCEPTED);
        client
    }

    /// A client of the protocol without sessions.
    pub(super) async fn modern(&self, token: &str) -> Client {
        Client::open(&self.server, token).await
    }
}

/// A client with one connection, which it keeps between requests.
pub(super) struct Client {
    sender: hyper::client::conn::http1::SendRequest<Full<Bytes>>,
    pub(super) connection: JoinHandle<hyper::Result<()>>,
    address: std::net::SocketAddr,
    token: String,
    pub(super) session: Option<String>,
    next: u64,
}

impl Client {
    pub(super) async fn open(server: &Server, token: &str) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let token = token.to_owned();
        Self { sender, connection, address: server.address, token, session: None, next: 2 }
    }

    /// Sends a request, whose answer is a stream.
    pub(super) async fn start(
        &mut self,
        method: &str,
        session: Option<&str>,
        headers: &[(&str, &str)],
        message: Option<Value>,
    ) -> Stream {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}/mcp", self.address))
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        let accepted =
            if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" };
        request = request.header("accept", accepted);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
        }
        request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let body = message.map(|message| message.to_string()).unwrap_or_default();
        let response = self.sender.send_request(request.body(Full::new(body.into())).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let session = parts.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        Stream { status: parts.status, session, body, text: String::new() }
    }

    /// Sends a request with another session than the client's, and reads the whole answer.
    pub(super) async fn send(
        &mut self,
        method: &str,
        session: Option<&str>,
        headers: &[(&str, &str)],
        message: Option<Value>,
    ) -> Answered {
        self.start(method, session, headers, message).await.whole().await
    }

    /// Sends a message in the session.
    pub(super) async fn post(&mut self, message: Value) -> Answered {
        let session = self.session.clone();
        self.send("POST", session.as_deref(), &[], Some(message)).await
    }

    /// Starts a call of a tool without arguments, in the session or without one.
    pub(super) async fn start_call(&mut self, name: &str) -> Stream {
        self.next += 1;
        match self.session.clone() {
            Some(session) => {
                let call = call(self.next, name);
                self.start("POST", Some(&session), &[], Some(call)).await
            }
            None => self.start_modern(name, json!({})).await,
        }
    }

    /// Starts a call with further parameters, by the protocol without sessions.
    async fn start_modern(&mut self, name: &str, mut params: Value) -> Stream {
        params["name"] = name.into();
        params["arguments"] = json!({});
        let headers = [super::MODERN, ("mcp-method", "tools/call"), ("mcp-name", name)];
        self.start("POST", None, &headers, Some(stateless(params))).await
    }

    /// Calls a tool without arguments, and returns the message.
    pub(super) async fn call(&mut self, name: &str) -> Value {
        self.start_call(name).await.whole().await.message()
    }

    /// Calls `begin`; returns the session of the toolkit.
    pub(super) async fn job(&mut self) -> String {
        text(&self.call("begin").await)
    }

    /// Calls `deploy`, and approves it for the session if it asks.
    pub(super) async fn approve(&mut self) {
        let done = match self.session.clone() {
            Some(session) => {
                let mut stream = self.start_call("deploy").await;
                let question = stream.message_with("\"id\"").await;
                if question["method"] != "elicitation/create" {
                    return assert_eq!(text(&question), "deployed");
                }
                let mut other = Client { session: Some(session), ..self.again().await };
                let answered = other.post(accept(&question["id"])).await;
                assert_eq!(answered.status, StatusCode::ACCEPTED, "{answered:?}");
                stream.whole().await.message()
            }
            None => {
                let asked = self.call("deploy").await;
                if asked["result"]["requestState"].is_null() {
                    return assert_eq!(text(&asked), "deployed");
                }
                self.come_back(&asked, "accept").await
            }
        };
        assert_eq!(text(&done), "deployed");
    }

    /// Answers a question of a call of `deploy`, by the protocol without sessions.
    pub(super) async fn come_back(&mut self, asked: &Value, action: &str) -> Value {
        self.start_modern("deploy", back(asked, action)).await.whole().await.message()
    }

    /// Opens another connection with the same token.
    pub(super) async fn again(&self) -> Self {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let (token, session) = (self.token.clone(), self.session.clone());
        Self { sender, connection, address: self.address, token, session, next: 1_000 }
    }
}

/// The answer to a request as it arrives.
pub(super) struct Stream {
    pub(super) status: StatusCode,
    session: Option<String>,
    body: Incoming,
    text: String,
}

impl Stream {
    /// Reads until the text contains a word.
    pub(super) async fn until(&mut self, word: &str) -> &str {
        while !self.text.contains(word) {
            let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame()).await;
            let frame = frame.unwrap_or_else(|_| panic!("no {word} in {}", self.text));
            let data = frame.unwrap_or_else(|| panic!("no {word} in {}", self.text)).unwrap();
            self.text.push_str(std::str::from_utf8(&data.into_data().unwrap()).unwrap());
        }
        &self.text
    }

    /// Reads the first event, and returns the number of the stream of a request.
    pub(super) async fn number(&mut self) -> String {
        let text = self.until("\n\n").await;
        text.lines().find_map(|line| line.strip_prefix("id: 0/")).unwrap().to_owned()
    }

    /// Reads until a message contains a word, and returns the message.
    pub(super) async fn message_with(&mut self, word: &str) -> Value {
        let text = self.until(word).await;
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| data.contains(word)).find_map(|data| serde_json::from_str(data).ok()).unwrap()
    }

    /// Reads to the end.
    pub(super) async fn whole(mut self) -> Answered {
        let rest = tokio::time::timeout(Duration::from_secs(20), self.body.collect()).await;
        self.text.push_str(std::str::from_utf8(&rest.unwrap().unwrap().to_bytes()).unwrap());
        Answered { status: self.status, session: self.session, text: self.text }
    }

    /// Returns true if the answer ends, or its connection, within a time.
    pub(super) async fn ends_within(&mut self, time: Duration) -> bool {
        let end = async { while let Some(Ok(_)) = self.body.frame().await {} };
        tokio::time::timeout(time, end).await.is_ok()
    }
}

/// A call of a tool without arguments, in a session of the protocol.
pub(super) fn call(id: u64, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {}}})
}

/// The client's consent for the session to a question in a session of the protocol.
pub(super) fn accept(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"allow": "session"}}})
}

/// The parameters with which a client comes back to a call that asked.
fn back(asked: &Value, action: &str) -> Value {
    let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let name = requests.keys().next().unwrap();
    let mut answer = json!({"action": action});
    if action == "accept" {
        answer["content"] = json!({"allow": "session"});
    }
    json!({"requestState": asked["result"]["requestState"], "inputResponses": {name: answer}})
}

pub(super) fn text(message: &Value) -> String {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
}
