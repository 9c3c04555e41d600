//! The gateway over HTTP, on a real port.
#![allow(clippy::unwrap_used)]

mod access;
mod asks;
mod budgets;
mod console;
mod conversations;
mod isolation;
mod refusals;
mod schedules;
mod streams;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolkit_agent::Transcripts;
use toolkit_gateway::http::{About, AgentInfo, HttpState, asks, service_with};
use toolkit_gateway::{Agents, Clock, People, Questions, Sessions, SessionsOptions, Store, StoreOptions};
use toolkit_serve::axum::Router;

use crate::agents::{Ledger, agents, in_time, model};
use crate::common::START;

/// Requests of a person within ten seconds, where [`Gateway::serve_more`] serves.
const MAX_REQUESTS: u32 = 50;
/// Sessions of a person, there.
const MAX_SESSIONS: u64 = 2;

struct Gateway {
    address: SocketAddr,
    sessions: Sessions,
    state: HttpState,
    questions: Questions,
    ledger: Arc<Ledger>,
    clock: Clock,
    owner: String,
    shutdown: CancellationToken,
    served: JoinHandle<std::io::Result<()>>,
    directory: tempfile::TempDir,
}

impl Gateway {
    async fn start() -> Self {
        Self::at(tempfile::tempdir().unwrap(), SessionsOptions::new()).await
    }

    async fn at(directory: tempfile::TempDir, options: SessionsOptions) -> Self {
        let clock = Clock::standing(START);
        Self::with(directory, clock, options, |place, ledger, _| agents(place, ledger, &model())).await
    }

    /// With these agents, of the directory, the ledger and the questions.
    async fn with<A: Agents>(
        directory: tempfile::TempDir,
        clock: Clock,
        options: SessionsOptions,
        agents: impl FnOnce(&Path, &Arc<Ledger>, &Questions) -> A,
    ) -> Self {
        let stored = StoreOptions::new().with_clock(clock.clone()).with_max_queued(3);
        let store = Store::open(directory.path(), stored).await.unwrap();
        let people = People::open(store.clone(), "main").await.unwrap();
        let owner = std::fs::read_to_string(people.owner_token_file()).unwrap().trim().to_owned();
        let transcripts = Transcripts::new(directory.path().join("transcripts"));
        let questions = Questions::new(store.clone(), transcripts.clone());
        let ledger = Ledger::new(directory.path());
        let agents = agents(directory.path(), &ledger, &questions);
        let sessions = Sessions::start(store, agents, options).await.unwrap();
        let agent = |id: &str, model: Option<&str>| AgentInfo {
            id: id.to_owned(),
            description: None,
            model: model.map(str::to_owned),
        };
        let about = About {
            version: "1.2.3".to_owned(),
            agents: vec![agent("main", Some("scripted")), agent("other", None)],
            problems: Vec::new(),
        };
        let shutdown = CancellationToken::new();
        let state = HttpState::new(sessions.clone(), people, transcripts, about, shutdown.clone())
            .with_keep_alive(Duration::from_millis(50));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = service_with(state.clone(), asks(state.clone(), questions.clone()));
        let served = tokio::spawn(toolkit_serve::serve(listener, service, shutdown.clone()));
        Self { address, sessions, state, questions, ledger, clock, owner, shutdown, served, directory }
    }

    /// Serves further routes, at another port, to which requests go from then on.
    async fn serve_more(self, more: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let more = asks(self.state.clone(), self.questions.clone()).merge(more);
        let state = self.state.clone().with_max_requests(MAX_REQUESTS).with_max_sessions(MAX_SESSIONS);
        let service = service_with(state, more);
        tokio::spawn(toolkit_serve::serve(listener, service, self.shutdown.clone()));
        Self { address, ..self }
    }

    /// Stops, and starts again in the same directory.
    async fn restart(self) -> Self {
        let Self { sessions, state, questions, shutdown, served, directory, .. } = self;
        shutdown.cancel();
        in_time(served).await.unwrap().unwrap();
        in_time(sessions.stop(Duration::ZERO)).await.unwrap();
        sessions.store().close().await;
        drop((sessions, state, questions));
        Self::at(directory, SessionsOptions::new()).await
    }

    /// Makes a token.
    async fn token(&self, wanted: Value) -> String {
        let (status, made) = self.call("POST", "/v1/tokens", &self.owner, Some(wanted)).await;
        assert_eq!(status, 201, "{made}");
        made["token"].as_str().unwrap().to_owned()
    }

    /// Makes a token of a person with the same name.
    async fn person(&self, name: &str) -> String {
        self.token(json!({ "name": name })).await
    }

    async fn call(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("authorization", format!("Bearer {token}"));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let answer = self.send(request.body(body.into()).unwrap()).await;
        let (head, body) = answer.into_parts();
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        if head.status.as_u16() >= 400 {
            assert_eq!(head.headers["content-type"], "application/problem+json", "{path}: {body}");
            assert_eq!(body["status"], head.status.as_u16());
        }
        (head.status.as_u16(), body)
    }

    async fn get(&self, path: &str, token: &str) -> Value {
        let (status, answer) = self.call("GET", path, token, None).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Sends a message, and returns its number.
    async fn message(&self, session: &str, token: &str, text: &str) -> i64 {
        let path = format!("/v1/sessions/{session}/messages");
        let (status, sent) = self.call("POST", &path, token, Some(json!({ "text": text }))).await;
        assert_eq!(status, 202, "{sent}");
        sent["id"].as_i64().unwrap()
    }

    /// Waits until a message is answered, or not.
    async fn outcome(&self, session: &str, token: &str, message: i64) -> Value {
        in_time(async {
            loop {
                let path = format!("/v1/sessions/{session}/inbox/{message}?waitSeconds=60");
                let outcome = self.get(&path, token).await;
                if !["queued", "running", "waiting"].contains(&outcome["state"].as_str().unwrap()) {
                    return outcome;
                }
            }
        })
        .await
    }

    async fn open(&self, mut request: Request<Full<Bytes>>) -> Response<Incoming> {
        let host = self.address.to_string().parse().unwrap();
        request.headers_mut().entry("host").or_insert(host);
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        in_time(sender.send_request(request)).await.unwrap()
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        let (head, body) = self.open(request).await.into_parts();
        Response::from_parts(head, in_time(body.collect()).await.unwrap().to_bytes())
    }

    async fn events(&self, query: &str, token: &str, last: Option<&str>) -> Events {
        let mut request = Request::builder()
            .uri(format!("/v1/events{query}"))
            .header("authorization", format!("Bearer {token}"))
            .header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = self.open(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events { body: answer.into_body(), text: String::new(), last_id: String::new() }
    }
}

/// A stream of events, as a client reads it.
struct Events {
    body: Incoming,
    text: String,
    last_id: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Event {
    id: Option<i64>,
    kind: String,
    data: Value,
}

impl Events {
    /// Waits for the next event; `None` if the stream ended.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            if let Some(event) = self.dispatch(&block) {
                return Some(event);
            }
        }
    }

    /// Passes one event, or a comment, which is none.
    async fn pass(&mut self) -> Option<Event> {
        let block = self.block().await.expect("the stream goes on");
        self.dispatch(&block)
    }

    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let frame = in_time(self.body.frame()).await?.ok()?;
            self.text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// Reads the lines of one event, of which a comment or a number alone is none.
    fn dispatch(&mut self, block: &str) -> Option<Event> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        if let Some(id) = field("id") {
            id.clone_into(&mut self.last_id);
        }
        Some(Event {
            data: serde_json::from_str(field("data")?).unwrap(),
            id: field("id").map(|id| id.parse().unwrap()),
            kind: field("event").unwrap().to_owned(),
        })
    }

    /// Returns events up to the first one of a kind, which is included.
    async fn until(&mut self, kind: &str) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().await.expect("the stream goes on"));
            if events.last().unwrap().kind == kind {
                return events;
            }
        }
    }
}
