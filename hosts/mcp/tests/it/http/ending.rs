//! The end of the service: requests that are in progress get an answer.

use super::clients::{Client, call};
use super::{BEARER, MODERN, Server, TOKEN, serve, stateless};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use toolkit::prelude::*;
use toolkit::tool_ref;
use toolkit_mcp::{Bearer, HttpOptions, HttpService, at_path};

/// Calls that have begun, and whether those that cannot be cancelled may end.
#[derive(Debug)]
struct Calls {
    begun: Semaphore,
    may_end: AtomicBool,
}

/// Waits until it is cancelled.
#[tool(read_only)]
async fn patient(calls: State<Calls>) -> String {
    calls.begun.add_permits(1);
    std::future::pending().await
}

/// Blocks a thread, whoever cancels it.
#[tool(read_only)]
#[allow(clippy::needless_pass_by_value, reason = "a tool is given its services by value")]
fn stubborn(calls: State<Calls>) -> String {
    calls.begun.add_permits(1);
    while !calls.may_end.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5));
    }
    "late".to_owned()
}

/// A handler whose calls never end.
struct Deaf(Arc<Calls>);

impl ServerHandler for Deaf {
    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.begun.add_permits(1);
        std::future::pending().await
    }
}

fn no_calls() -> Arc<Calls> {
    Arc::new(Calls { begun: Semaphore::new(0), may_end: AtomicBool::new(false) })
}

async fn server(options: HttpOptions) -> (Arc<Server>, Arc<Calls>) {
    let calls = no_calls();
    let toolkit = Toolkit::empty().tool(tool_ref!(patient)).tool(tool_ref!(stubborn));
    let toolkit = toolkit.shared_service(Arc::clone(&calls)).build().unwrap();
    let shutdown = options.shutdown.clone();
    let service = Bearer::new(HttpService::new(toolkit, Caller::new(), options), TOKEN);
    (Arc::new(serve(at_path("/mcp", service), shutdown).await), calls)
}

async fn deaf_server(options: HttpOptions) -> (Arc<Server>, Arc<Calls>) {
    let (calls, shutdown) = (no_calls(), options.shutdown.clone());
    let (toolkit, deaf) = (Toolkit::empty().build().unwrap(), Arc::clone(&calls));
    let service =
        HttpService::with_handler(toolkit, Caller::new(), options, move |_| Deaf(Arc::clone(&deaf)));
    let service = Bearer::new(service, TOKEN);
    (Arc::new(serve(at_path("/mcp", service), shutdown).await), calls)
}

/// Returns the answers to calls of a tool, of both generations of the protocol, during which the service ends.
async fn answers(options: HttpOptions, tool: &'static str, number: u32) -> Vec<Value> {
    let (server, calls) = server(options).await;
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let mut asking = tokio::task::JoinSet::new();
    for id in 10..10 + number {
        let (server, session) = (Arc::clone(&server), session.clone());
        asking.spawn(async move {
            let params = json!({"name": tool, "arguments": {}});
            if id % 2 == 0 {
                let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                server.message(&[BEARER, ("mcp-session-id", &session)], call).await
            } else {
                let mut call = stateless(params);
                call["id"] = id.into();
                let headers = [BEARER, MODERN, ("mcp-method", "tools/call"), ("mcp-name", tool)];
                server.message(&headers, call).await
            }
        });
    }
    calls.begun.acquire_many(number).await.unwrap().forget();
    server.shutdown.cancel();
    let answers = asking.join_all().await;
    calls.may_end.store(true, Ordering::SeqCst);
    let mut answers: Vec<Value> = answers.iter().map(super::Answered::message).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, (10..10 + number).collect::<Vec<_>>(), "{answers:?}");
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_run_at_shutdown_are_cancelled_and_answered() {
    for answer in answers(HttpOptions::new(), "patient", 8).await {
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(text.contains("cancelled"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_cannot_be_cancelled_gets_an_error_at_shutdown() {
    let mut options = HttpOptions::new();
    options.end_within = Duration::from_millis(100);
    for answer in answers(options, "stubborn", 4).await {
        let is_told = answer["error"]["message"].as_str().is_some_and(|text| text.contains("shuts down"));
        assert!(is_told || answer["result"]["isError"] == true, "{answer}");
    }
}

/// Returns the answer by a stream that is resumed, to a call during which the service ends. The first connection of the client has ended
/// before, or is still open.
async fn resumed_answer((server, calls): (Arc<Server>, Arc<Calls>), has_ended: bool) -> Value {
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let mut client = Client::open(&server, TOKEN).await;
    let mut stream = client.start("POST", Some(&session), &[], Some(call(7, "patient"))).await;
    let number = stream.number().await;
    calls.begun.acquire().await.unwrap().forget();
    let mut other = client.again().await;
    let earlier = if has_ended {
        client.connection.abort();
        None
    } else {
        Some((client, stream))
    };
    let last = [("last-event-id", &*format!("0/{number}"))];
    let resumed = other.start("GET", Some(&session), &last, None).await;
    server.shutdown.cancel();
    let answer = resumed.whole().await.message();
    drop(earlier);
    assert_eq!(answer["id"], 7, "{answer}");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_was_resumed_ends_with_the_answer_or_an_error() {
    for has_ended in [false, true] {
        let answer = resumed_answer(server(HttpOptions::new()).await, has_ended).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(text.contains("cancelled"), "{answer}");
        let mut options = HttpOptions::new();
        options.end_within = Duration::from_millis(100);
        let answer = resumed_answer(deaf_server(options).await, has_ended).await;
        let is_told = answer["error"]["message"].as_str().is_some_and(|text| text.contains("shuts down"));
        assert!(is_told, "{answer}");
    }
}

#[tokio::test]
async fn a_stream_without_a_request_ends_with_the_service() {
    let (server, _calls) = server(HttpOptions::new()).await;
    let session = server.initialize(&[BEARER]).await.session.unwrap();
    let mut client = Client::open(&server, TOKEN).await;
    // The head of the answer has arrived.
    let stream = client.start("GET", Some(&session), &[], None).await;
    server.shutdown.cancel();
    assert_eq!(stream.whole().await.status, 200);
}
