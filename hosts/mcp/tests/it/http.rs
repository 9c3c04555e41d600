//! Clients over HTTP, well-meaning and other ones.

#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use toolkit::prelude::*;
use toolkit::{Ask, CancellationToken, tool_ref};
use toolkit_mcp::{
    Bearer, ClientTokens, Cors, HttpBody, HttpOptions, HttpService, Principal, at_path, serve_http,
};
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

/// Takes a moment.
#[tool(read_only)]
async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_millis(300)).await;
    "done"
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
    let toolkit =
        Toolkit::empty().tool(tool_ref!(add)).tool(tool_ref!(deploy)).tool(tool_ref!(slow)).build().unwrap();
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

#[tokio::test]
async fn a_session_begins_is_used_and_ends() {
    let server = with_token(HttpOptions::new()).await;
    let begun = server.initialize(&[BEARER]).await;
    assert_eq!(begun.status, StatusCode::OK);
    assert_eq!(begun.message()["result"]["serverInfo"]["name"], "toolkit");
    let session = begun.session.unwrap();
    let headers = [BEARER, ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")];
    let ready =
        server.message(&headers, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!(ready.status, StatusCode::ACCEPTED);
    let sum = server.message(&headers, add_call()).await;
    assert_eq!(sum.message()["result"]["content"][0]["text"], "5", "{sum:?}");
    let end = Request::delete(format!("http://{}/mcp", server.address))
        .header("host", server.address.to_string())
        .header(BEARER.0, BEARER.1)
        .header("mcp-session-id", &*session)
        .body(Full::new(Bytes::new()))
        .unwrap();
    assert!(server.send(end).await.status.is_success());
    assert_eq!(server.message(&headers, add_call()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_the_token_there_is_nothing() {
    let server = with_token(HttpOptions::new()).await;
    for headers in [
        &[][..],
        &[("authorization", "Bearer 0123456789abcdeg")],
        &[("authorization", "Bearer")],
        &[("authorization", "Bearer ")],
        &[("authorization", "Basic 0123456789abcdef")],
        &[("authorization", "0123456789abcdef")],
        &[("x-authorization", "Bearer 0123456789abcdef")],
    ] {
        let refused = server.initialize(headers).await;
        assert_eq!((refused.status, refused.session), (StatusCode::UNAUTHORIZED, None), "{headers:?}");
        assert!(!refused.text.contains(TOKEN));
    }
    assert_eq!(
        server.initialize(&[("authorization", "bearer 0123456789abcdef")]).await.status,
        StatusCode::OK
    );
    for path in ["/", "/mcp/x", "/other"] {
        let elsewhere =
            server.post().uri(format!("http://{}{path}", server.address)).header(BEARER.0, BEARER.1);
        let refused = server.send(elsewhere.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn pages_of_others_cannot_call() {
    let server = with_token(HttpOptions::new().allow_origins(["https://friend.example:443"])).await;
    for (origin, is_let) in [
        ("http://evil.example", false),
        ("null", false),
        ("http://localhost.evil.example", false),
        ("http://localhost:5173", true),
        ("http://127.0.0.1:80", true),
        ("https://friend.example", true),
        ("http://friend.example", false),
    ] {
        let answered = server.initialize(&[BEARER, ("origin", origin)]).await;
        let expected = if is_let { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(answered.status, expected, "{origin}");
    }
    for (host, is_let) in [("evil.example", false), ("localhost:1", true), ("localhost.evil.example", false)]
    {
        let request = Request::post("/mcp").header("host", host).header(BEARER.0, BEARER.1);
        let request = request
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        let answered = server.send(request.body(Full::new(initialize().to_string().into())).unwrap()).await;
        let expected = if is_let { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(answered.status, expected, "{host}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_harms_nobody() {
    let mut options = HttpOptions::new();
    options.max_body = 10_000;
    let server = with_token(options).await;
    let large = format!("\"{}\"", "x".repeat(10_000));
    for (body, expected) in [
        ("", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("{", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("junk", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("[]", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("{\"jsonrpc\": \"2.0\"}", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (&*large, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let request = server.post().header(BEARER.0, BEARER.1);
        let answered = server.send(request.body(Full::new(body.to_owned().into())).unwrap()).await;
        let is_expected = answered.status == expected
            || expected != StatusCode::PAYLOAD_TOO_LARGE && answered.status.is_client_error();
        assert!(is_expected, "{body:.20}: {answered:?}");
    }
    assert_eq!(server.initialize(&[BEARER]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_body_that_dawdles_is_given_up() {
    let mut options = HttpOptions::new();
    options.body_within = Duration::from_millis(100);
    let server = with_token(options).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read =
        tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn so_many_sessions_and_no_more() {
    let mut options = HttpOptions::new();
    options.most_sessions = 2;
    let server = with_token(options).await;
    let one = server.initialize(&[BEARER]).await.session.unwrap();
    assert_eq!(server.initialize(&[BEARER]).await.status, StatusCode::OK);
    let busy = server.initialize(&[BEARER]).await;
    assert_eq!((busy.status, busy.session), (StatusCode::SERVICE_UNAVAILABLE, None), "{}", busy.text);
    // Those that are there go on.
    let headers = [BEARER, ("mcp-session-id", &*one), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(server.message(&headers, add_call()).await.message()["result"]["content"][0]["text"], "5");
    // A session that begins once more is none that is there.
    assert!(!server.initialize(&headers).await.status.is_success());
    let end =
        Request::delete(format!("http://{}/mcp", server.address)).header("host", server.address.to_string());
    let end = end.header(BEARER.0, BEARER.1).header("mcp-session-id", &*one);
    server.send(end.body(Full::new(Bytes::new())).unwrap()).await;
    for attempt in 0.. {
        if server.initialize(&[BEARER]).await.status == StatusCode::OK {
            break;
        }
        assert!(attempt < 100, "no room though one went");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_session_is_its_principals_alone() {
    let server = by_header(HttpOptions::new()).await;
    let session = server.initialize(&[("x-user", "ada")]).await.session.unwrap();
    let with = |user: &'static str| {
        [("x-user", user), ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")]
    };
    let own = server.message(&with("ada"), add_call()).await;
    assert_eq!(own.message()["result"]["content"][0]["text"], "5", "{own:?}");
    let other = server.message(&with("eve"), add_call()).await;
    assert!(other.message()["error"]["message"].as_str().unwrap().contains("another client"), "{other:?}");
    let nobody = server.message(&with("ada")[1..], add_call()).await;
    assert!(nobody.message()["error"].is_object(), "{nobody:?}");
}

#[tokio::test]
async fn a_call_that_asks_goes_on_for_its_principal_alone() {
    let server = by_header(HttpOptions::new()).await;
    let headers = |user: &'static str| {
        [
            ("x-user", user),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "deploy"),
        ]
    };
    let asked = server.message(&headers("ada"), stateless(json!({"name": "deploy", "arguments": {}}))).await;
    let asked = asked.message();
    let (state, requests) =
        (&asked["result"]["requestState"], asked["result"]["inputRequests"].as_object().unwrap());
    let (name, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asked}");
    let back = stateless(json!({
        "name": "deploy", "arguments": {}, "requestState": state, "inputResponses": {name: {"action": "accept", "content": {}}},
    }));
    let stolen = server.message(&headers("eve"), back.clone()).await.message();
    assert!(stolen["error"]["message"].as_str().unwrap().contains("no call waits"), "{stolen}");
    let done = server.message(&headers("ada"), back.clone()).await.message();
    assert_eq!(done["result"]["content"][0]["text"], "deployed", "{done}");
    let again = server.message(&headers("ada"), back).await.message();
    assert!(again["error"].is_object(), "{again}");
}

#[tokio::test]
async fn what_one_principal_allowed_for_the_session_is_not_allowed_to_another() {
    let server = by_header(HttpOptions::new()).await;
    let headers = |user: &'static str| {
        [
            ("x-user", user),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "deploy"),
        ]
    };
    let call = || stateless(json!({"name": "deploy", "arguments": {}}));
    let asked = server.message(&headers("ada"), call()).await.message();
    let name = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let back = stateless(json!({
        "name": "deploy", "arguments": {}, "requestState": asked["result"]["requestState"],
        "inputResponses": {name: {"action": "accept", "content": {"allow": "session"}}},
    }));
    assert_eq!(
        server.message(&headers("ada"), back).await.message()["result"]["content"][0]["text"],
        "deployed"
    );
    assert_eq!(
        server.message(&headers("ada"), call()).await.message()["result"]["content"][0]["text"],
        "deployed"
    );
    let other = server.message(&headers("eve"), call()).await.message();
    assert!(other["result"]["inputRequests"].is_object(), "{other}");
}

const MODERN: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let server = with_token(HttpOptions::new()).await;
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let of_session = [BEARER, ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")];
    let legacy =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    for (method, params, code, said) in [
        ("tools/call", json!({"name": 5}), -32602, "/name: invalid type: integer `5`"),
        ("tools/call", json!({"arguments": {}}), -32602, "missing field `name`"),
        ("resources/read", json!({"uri": []}), -32602, "/uri: invalid type: sequence"),
        ("tools/cal", json!({}), -32601, "there is no method `tools/cal`"),
    ] {
        let refused = server.message(&of_session, legacy(method, params)).await.message();
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &json!(7)), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(said), "{refused}");
    }
    // Without sessions.
    let mut call = stateless(json!({"name": "add", "arguments": "x"}));
    let headers = [BEARER, MODERN, ("mcp-method", "tools/call"), ("mcp-name", "add")];
    let refused = server.message(&headers, call.clone()).await.message();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("/arguments: invalid type"), "{refused}");
    call["method"] = json!("tools/cal");
    let headers = [BEARER, MODERN, ("mcp-method", "tools/cal")];
    let refused = server.message(&headers, call).await;
    assert_eq!(
        (refused.status, &refused.message()["error"]["code"]),
        (StatusCode::NOT_FOUND, &json!(-32601))
    );
    // What begins no session.
    let mut begin = initialize();
    begin["params"]["clientInfo"] = json!("me");
    let refused = server.message(&[BEARER], begin).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
    let message = refused.message();
    assert_eq!((&message["error"]["code"], &message["id"]), (&json!(-32602), &json!(1)), "{message}");
    assert!(message["error"]["message"].as_str().unwrap().contains("/clientInfo: invalid type"), "{message}");
}

#[tokio::test]
async fn an_unknown_version_is_answered_as_the_protocol_says() {
    let server = with_token(HttpOptions::new()).await;
    // `initialize`: with a version that the server has.
    let mut begin = initialize();
    for (asked, answered) in
        [("1999-01-01", "2025-11-25"), ("2099-01-01", "2025-11-25"), ("2025-06-18", "2025-06-18")]
    {
        begin["params"]["protocolVersion"] = json!(asked);
        let response = server.message(&[BEARER], begin.clone()).await;
        assert_eq!(response.message()["result"]["protocolVersion"], answered, "{response:?}");
    }
    // The header: 400, with a session and without.
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    for version in ["1999-01-01", "2099-01-01", "nonsense"] {
        let header = ("mcp-protocol-version", version);
        let refused = server.message(&[BEARER, ("mcp-session-id", &*session), header], add_call()).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        let refused = server.message(&[BEARER, header], add_call()).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        // In the request itself: 400, naming the versions that the server has.
        let mut call = stateless(json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
        call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let headers = [BEARER, header, ("mcp-method", "tools/call"), ("mcp-name", "add")];
        let refused = server.message(&headers, call).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{version}: {refused:?}");
        let error = refused.message()["error"].clone();
        assert_eq!(error["code"], -32022, "{error}");
        assert!(error["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")), "{error}");
    }
    let known = [BEARER, ("mcp-session-id", &*session), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(server.message(&known, add_call()).await.message()["result"]["content"][0]["text"], "5");
}

/// A connection that stays open, as a client keeps it between requests.
struct Kept {
    sender: hyper::client::conn::http1::SendRequest<Full<Bytes>>,
    connection: JoinHandle<hyper::Result<()>>,
}

impl Kept {
    async fn open(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        Self { sender, connection: tokio::spawn(connection) }
    }

    /// Calls a tool by the protocol without sessions.
    async fn call(&mut self, server: &Server, token: &str, params: Value) -> Value {
        let name = params["name"].as_str().unwrap().to_owned();
        let request = server
            .post()
            .header("authorization", format!("Bearer {token}"))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .body(Full::new(stateless(params).to_string().into()))
            .unwrap();
        let response = self.sender.send_request(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Answered { status, session: None, text: String::from_utf8(body.to_vec()).unwrap() }.message()
    }
}

/// Notes in which sessions it was called, and which of them have ended.
#[derive(Debug, Default)]
struct Ended(Mutex<Vec<String>>);

/// The state of one session, which says when it goes.
#[derive(Debug, Default)]
struct Job(Mutex<Option<(String, Arc<Ended>)>>);

impl Drop for Job {
    fn drop(&mut self) {
        if let Some((session, ended)) = self.0.lock().unwrap().take() {
            ended.0.lock().unwrap().push(session);
        }
    }
}

/// Starts something that lasts as long as the session.
#[tool(read_only)]
async fn begin(ctx: &ToolContext, ended: State<Arc<Ended>>) -> String {
    let session = ctx.session_id().unwrap().to_owned();
    *ctx.session_state::<Job>().0.lock().unwrap() = Some((session.clone(), Arc::clone(&ended)));
    session
}

/// A server whose tool starts something in its session, and the sessions that have ended.
async fn with_jobs(clients: ClientTokens) -> (Server, Arc<Ended>) {
    serve_jobs(clients, HttpOptions::new()).await
}

async fn serve_jobs(clients: ClientTokens, options: HttpOptions) -> (Server, Arc<Ended>) {
    let ended = Arc::new(Ended::default());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(begin))
        .tool(tool_ref!(deploy))
        .service(Arc::clone(&ended))
        .build()
        .unwrap();
    let shutdown = options.shutdown.clone();
    let service = Bearer::new(HttpService::new(toolkit, Caller::new(), options), TOKEN).clients(clients);
    (serve(at_path("/mcp", service), shutdown).await, ended)
}

impl Ended {
    async fn has(&self, session: &str) {
        for attempt in 0.. {
            if self.0.lock().unwrap().iter().any(|ended| ended == session) {
                return;
            }
            assert!(attempt < 200, "{session} goes on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn begin_call() -> Value {
    json!({"name": "begin", "arguments": {}})
}

fn text(message: &Value) -> String {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[tokio::test]
async fn clients_that_share_a_token_have_a_session_for_each_connection() {
    let directory = tempfile::tempdir().unwrap();
    let (server, ended) = with_jobs(ClientTokens::at(directory.path().join("clients"))).await;
    let (mut ada, mut eve) = (Kept::open(&server).await, Kept::open(&server).await);
    let of_ada = text(&ada.call(&server, TOKEN, begin_call()).await);
    assert_eq!(text(&ada.call(&server, TOKEN, begin_call()).await), of_ada, "one connection is one session");
    let of_eve = text(&eve.call(&server, TOKEN, begin_call()).await);
    assert_ne!(of_eve, of_ada);
    // What one allowed for the session does not hold for the other.
    let deploy = || json!({"name": "deploy", "arguments": {}});
    let asked = ada.call(&server, TOKEN, deploy()).await;
    let name = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut back = deploy();
    back["requestState"] = asked["result"]["requestState"].clone();
    back["inputResponses"] = json!({name: {"action": "accept", "content": {"allow": "session"}}});
    assert_eq!(text(&ada.call(&server, TOKEN, back).await), "deployed");
    assert_eq!(text(&ada.call(&server, TOKEN, deploy()).await), "deployed");
    let other = eve.call(&server, TOKEN, deploy()).await;
    assert!(other["result"]["inputRequests"].is_object(), "{other}");
    // A connection that goes away ends its session, and no other.
    ada.connection.abort();
    drop(ada);
    ended.has(&of_ada).await;
    assert!(!ended.0.lock().unwrap().contains(&of_eve));
    assert_eq!(text(&eve.call(&server, TOKEN, begin_call()).await), of_eve);
}

#[tokio::test]
async fn a_client_that_was_asked_comes_back_by_another_connection() {
    let directory = tempfile::tempdir().unwrap();
    let (server, _) = with_jobs(ClientTokens::at(directory.path().join("clients"))).await;
    let mut first = Kept::open(&server).await;
    let asked = first.call(&server, TOKEN, json!({"name": "deploy", "arguments": {}})).await;
    first.connection.abort();
    drop(first);
    let name = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let back = json!({
        "name": "deploy", "arguments": {}, "requestState": asked["result"]["requestState"],
        "inputResponses": {name: {"action": "accept", "content": {}}},
    });
    assert_eq!(text(&Kept::open(&server).await.call(&server, TOKEN, back).await), "deployed");
}

#[tokio::test]
async fn a_client_with_its_own_token_has_one_session_over_all_connections() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("clients");
    let (server, ended) = with_jobs(ClientTokens::at(&file)).await;
    // Made while the server runs, by another process.
    let tokens = ClientTokens::at(&file);
    let (ada, eve) = (tokens.add("ada").unwrap(), tokens.add("eve").unwrap());
    let of_ada = text(&Kept::open(&server).await.call(&server, &ada, begin_call()).await);
    let mut second = Kept::open(&server).await;
    assert_eq!(text(&second.call(&server, &ada, begin_call()).await), of_ada);
    assert_ne!(text(&second.call(&server, &eve, begin_call()).await), of_ada);
    assert!(ended.0.lock().unwrap().is_empty());
    tokens.remove("eve").unwrap();
    let refused = server.message(&[("authorization", &format!("Bearer {eve}"))], initialize()).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

/// Begins a session of the protocol and starts something in it; the names of both.
async fn started(server: &Server) -> (String, String) {
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let with = [BEARER, ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    server.message(&with, initialized).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": begin_call()});
    let own = text(&server.message(&with, call).await.message());
    (session, own)
}

#[tokio::test]
async fn a_session_that_is_deleted_ends_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let (server, ended) = with_jobs(ClientTokens::at(directory.path().join("clients"))).await;
    let (session, own) = started(&server).await;
    let (_, other) = started(&server).await;
    let request = Request::delete(format!("http://{}/mcp", server.address))
        .header("host", server.address.to_string())
        .header(BEARER.0, BEARER.1)
        .header("mcp-session-id", &session)
        .header("mcp-protocol-version", "2025-11-25");
    let deleted = server.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT, "{deleted:?}");
    ended.has(&own).await;
    assert!(!ended.0.lock().unwrap().contains(&other));
}

#[tokio::test]
async fn a_browser_is_told_which_pages_may_call() {
    let options = HttpOptions::new().allow_origins(["https://app.example"]);
    let (origins, shutdown) = (options.allowed_origins.clone(), options.shutdown.clone());
    let service = Cors::new(Bearer::new(service(options), TOKEN), origins);
    let server = serve(at_path("/mcp", service), shutdown).await;
    let preflight = |origin: &'static str| {
        Request::options(format!("http://{}/mcp", server.address))
            .header("host", server.address.to_string())
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, mcp-session-id")
            .body(Full::default())
            .unwrap()
    };
    for (origin, is_allowed) in
        [("https://app.example", true), ("http://localhost:5173", true), ("https://evil.example", false)]
    {
        let answered = server.raw(preflight(origin)).await;
        assert_eq!(answered.status() == StatusCode::NO_CONTENT, is_allowed, "{origin}: {answered:?}");
        let shared = answered.headers().get("access-control-allow-origin");
        assert_eq!(shared.is_some_and(|shared| shared == origin), is_allowed, "{origin}: {answered:?}");
        if is_allowed {
            let headers = answered.headers()["access-control-allow-headers"].to_str().unwrap();
            for header in ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version"] {
                assert!(headers.contains(header), "{header}: {headers}");
            }
        }
        let call = server.post().header("origin", origin).header(BEARER.0, BEARER.1);
        let answered = server.raw(call.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(answered.status() == StatusCode::OK, is_allowed, "{origin}: {answered:?}");
        let headers = answered.headers();
        assert_eq!(headers.get("access-control-allow-origin").is_some(), is_allowed, "{origin}");
        if is_allowed {
            let exposed = headers["access-control-expose-headers"].to_str().unwrap();
            assert!(exposed.contains("mcp-session-id"), "{exposed}");
        }
        assert_eq!(headers["vary"], "Origin");
    }
}

#[tokio::test]
async fn a_request_for_two_hosts_is_refused() {
    let server = with_token(HttpOptions::new()).await;
    let own = server.address.to_string();
    for other in ["evil.example", &own] {
        let request = server.post().header("host", other).header(BEARER.0, BEARER.1);
        let answered = server.raw(request.body(Full::new(initialize().to_string().into())).unwrap()).await;
        assert_eq!(answered.status(), StatusCode::BAD_REQUEST, "{other}");
    }
}

#[tokio::test]
async fn an_idle_session_ends_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = HttpOptions::new();
    options.idle = Duration::from_millis(200);
    let (server, ended) = serve_jobs(ClientTokens::at(directory.path().join("clients")), options).await;
    let (_, own) = started(&server).await;
    ended.has(&own).await;
}

#[tokio::test]
async fn at_the_end_answers_on_the_way_arrive() {
    let server = with_token(HttpOptions::new()).await;
    let headers =
        [BEARER, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "slow")];
    let call = server.message(&headers, stateless(json!({"name": "slow", "arguments": {}})));
    let (answered, ()) = tokio::join!(call, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.shutdown.cancel();
    });
    assert!(answered.status.is_success() || answered.status.is_server_error(), "{answered:?}");
    tokio::time::timeout(Duration::from_secs(10), server.ended).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}
