//! A model behind an OpenAI-compatible server on loopback that says what a test has written down.
//!
//! It is as strict as the real ones: a request whose tools are not defined as the platform documents, or whose tool calls are not each
//! answered by a message with its id, is refused with status 400 and remembered as a fault.

mod check;
mod reply;

pub use reply::{Call, Turn};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// The key that requests have to carry.
pub const API_KEY: &str = "test-key";

/// The longest request that is read, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// A server that is there as long as this is.
#[derive(Debug)]
pub struct ScriptedModel {
    base_url: String,
    script: Arc<Mutex<Script>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Script {
    turns: Vec<Turn>,
    requests: Vec<Value>,
    faults: Vec<String>,
}

impl ScriptedModel {
    /// Starts a model that answers the first request with the first turn, and so on.
    ///
    /// # Errors
    ///
    /// When there is no port on loopback.
    pub async fn start(turns: impl IntoIterator<Item = Turn>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let turns = turns.into_iter().collect();
        let script = Arc::new(Mutex::new(Script { turns, ..Script::default() }));
        let server = tokio::spawn(serve(listener, Arc::clone(&script)));
        Ok(Self { base_url, script, server })
    }

    /// Where it is, up to and with `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.script).requests.clone()
    }

    /// The texts of the tool messages of the last request, by the ids of their calls.
    ///
    /// # Panics
    ///
    /// When there was no request.
    pub fn results(&self) -> Vec<(String, Value)> {
        let requests = self.requests();
        let last = requests.last().expect("there was a request");
        let messages = last["messages"].as_array().cloned().unwrap_or_default();
        let tools = messages.into_iter().filter(|message| message["role"] == "tool");
        tools
            .map(|mut message| (text(&message["tool_call_id"]).to_owned(), message["content"].take()))
            .collect()
    }

    /// Checks that every turn was asked for, and that no request was faulty.
    ///
    /// # Panics
    ///
    /// When that is not so.
    pub fn assert_done(&self) {
        let script = lock(&self.script);
        assert!(script.faults.is_empty(), "{:#?}", script.faults);
        assert_eq!(script.requests.len(), script.turns.len(), "requests, and turns written down");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

async fn serve(listener: TcpListener, script: Arc<Mutex<Script>>) {
    // They end with this task.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let script = Arc::clone(&script);
        let service = service_fn(move |request| answer(Arc::clone(&script), request));
        connections.spawn(async move {
            // A client that goes away is none of the model's business.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    script: Arc<Mutex<Script>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let authorised =
        head.headers.get(AUTHORIZATION).is_some_and(|value| *value == format!("Bearer {API_KEY}"));
    let found = head.method == Method::POST && head.uri.path() == "/v1/chat/completions";
    let body = Limited::new(body, MAX_BYTES).collect().await;
    let parsed = body.ok().and_then(|body| serde_json::from_slice::<Value>(&body.to_bytes()).ok());
    let mut script = lock(&script);
    let problem = match &parsed {
        _ if !authorised => Some((StatusCode::UNAUTHORIZED, "the key is another".to_owned())),
        _ if !found => {
            Some((StatusCode::NOT_FOUND, format!("there is no {} {}", head.method, head.uri.path())))
        }
        None => Some((StatusCode::BAD_REQUEST, "the body is no JSON".to_owned())),
        Some(body) => check::fault(body).map(|fault| (StatusCode::BAD_REQUEST, fault)),
    };
    let (status, content_type, body) = match (problem, parsed) {
        (None, Some(body)) => {
            let number = script.requests.len();
            let streams = body["stream"] == true;
            script.requests.push(body);
            match script.turns.get(number) {
                Some(turn) if streams => (StatusCode::OK, "text/event-stream", turn.streamed(number)),
                Some(turn) => (StatusCode::OK, "application/json", turn.whole(number).to_string()),
                None => {
                    refused(&mut script, StatusCode::BAD_REQUEST, "nothing more was written down".to_owned())
                }
            }
        }
        (problem, _) => {
            let (status, fault) = problem.expect("a request without a body is a problem");
            refused(&mut script, status, fault)
        }
    };
    let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
    Ok(response.body(Full::from(body)).expect("the parts are valid"))
}

fn refused(script: &mut Script, status: StatusCode, fault: String) -> (StatusCode, &'static str, String) {
    let error =
        json!({"error": {"message": fault, "type": "invalid_request_error", "param": null, "code": null}});
    script.faults.push(fault);
    (status, "application/json", error.to_string())
}
