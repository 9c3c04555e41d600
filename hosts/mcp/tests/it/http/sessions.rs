//! Sessions: whose they are, how many there are, and their end.

use super::clients::House;
use super::{
    Answered, BEARER, Server, TOKEN, add_call, by_header, deploy, initialize, serve, stateless, with_token,
};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use toolkit::prelude::*;
use toolkit::tool_ref;
use toolkit_mcp::{Bearer, ClientTokens, HttpOptions, HttpService, at_path};

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
async fn a_session_that_begins_once_more_is_the_same() {
    let server = with_token(HttpOptions::new()).await;
    let one = server.initialize(&[BEARER]).await.session.unwrap();
    let headers = [BEARER, ("mcp-session-id", &*one), ("mcp-protocol-version", "2025-11-25")];
    let again = server.initialize(&headers).await;
    assert!(again.session.as_ref().is_none_or(|session| *session == one), "{again:?}");
    assert_eq!(server.message(&headers, add_call()).await.message()["result"]["content"][0]["text"], "5");
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
    assert_eq!(other.status, StatusCode::NOT_FOUND, "{other:?}");
    let nobody = server.message(&with("ada")[1..], add_call()).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND, "{nobody:?}");
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
pub(super) struct Ended(Mutex<Vec<String>>);

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
pub(super) async fn begin(ctx: &ToolContext, ended: State<Ended>) -> String {
    let session = ctx.session_id().unwrap().to_owned();
    *ctx.session_state::<Job>().0.lock().unwrap() = Some((session.clone(), Arc::clone(&ended.0)));
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
        .shared_service(Arc::clone(&ended))
        .build()
        .unwrap();
    let shutdown = options.shutdown.clone();
    let service = Bearer::new(HttpService::new(toolkit, Caller::new(), options), TOKEN).clients(clients);
    (serve(at_path("/mcp", service), shutdown).await, ended)
}

impl Ended {
    pub(super) fn contains(&self, session: &str) -> bool {
        self.0.lock().unwrap().iter().any(|ended| ended == session)
    }

    pub(super) async fn has(&self, session: &str) {
        for attempt in 0.. {
            if self.contains(session) {
                return;
            }
            assert!(attempt < 3000, "{session} goes on");
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
    // An approval of one client for the session does not hold for the other.
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
async fn an_idle_session_ends_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = HttpOptions::new();
    options.idle = Duration::from_secs(2);
    let file = directory.path().join("clients");
    let (server, ended) = serve_jobs(ClientTokens::at(&file), options).await;
    let (_, own) = started(&server).await;
    ended.has(&own).await;
    // A session without a session of the protocol, of a client with its own token.
    let token = ClientTokens::at(&file).add("ada").unwrap();
    let mut kept = Kept::open(&server).await;
    let own = text(&kept.call(&server, &token, begin_call()).await);
    ended.has(&own).await;
    assert_ne!(text(&kept.call(&server, &token, begin_call()).await), own);
}

#[tokio::test]
async fn at_the_end_answers_on_the_way_arrive() {
    let house = House::new(None).await;
    let headers =
        [BEARER, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "hold")];
    let call = house.server.message(&headers, stateless(json!({"name": "hold", "arguments": {}})));
    let (answered, ()) = tokio::join!(call, async {
        house.gate.reaches(|gate| &gate.started, 1).await;
        house.server.shutdown.cancel();
        house.gate.open.add_permits(1);
    });
    assert!(answered.status.is_success() || answered.status.is_server_error(), "{answered:?}");
    tokio::time::timeout(Duration::from_mins(1), house.server.ended).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(house.server.address).await.is_err());
}
