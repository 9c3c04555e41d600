//! A gateway that is killed while a call waits for its result.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit_gateway::{ClientLimits, EventFilter, Gateway};

use super::client::{Client, open_at, request_to};
use super::model::Model;
use super::{deferred, http, main, start, text};
use crate::agents::in_time;
use crate::process;

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_CLIENTS";

/// Points, each with a pass that every process comes to.
const POINTS: [&str; 9] = [
    "after_client_call:1",
    "after_client_result:1",
    "after_accept:1",
    "after_claim:1",
    "after_claim:2",
    "after_end_before_commit:1",
    "transcript_line:3",
    "transcript_line:4",
    "transcript_line:5",
];

/// Works until the agent has called the tool, and has its one result.
async fn work(directory: &Path) {
    let model = Model::start().await;
    let gateway = start(&directory.join("data"), &model, &ClientLimits::default()).await;
    let owner = fs::read_to_string(gateway.owner_token_file()).unwrap().trim().to_owned();
    let mut hello = json!({ "sessions": ["main"] });
    if let Ok(resume) = fs::read_to_string(directory.join("resume")) {
        hello["resume"] = resume.into();
    }
    let socket = open_at(gateway.address(), request_to(gateway.address())).await.unwrap();
    let mut client = Client::hello_over(socket, &owner, hello).await.unwrap();
    fs::write(directory.join("resume"), client.welcome["resume"].as_str().unwrap()).unwrap();
    client.begin(json!([deferred("page_later")])).await;
    // The request of a call that waits may have been lost with the process: the client answers for it as well.
    for call in client.welcome["calls"].as_array().unwrap().clone() {
        client.send(json!({ "type": "result", "call": call, "result": text("grown") })).await;
    }
    client.send(json!({ "type": "send", "text": "call page_later {}", "id": "1" })).await;
    let mut events = gateway.state().store().last_event();
    in_time(async {
        while !is_done(&gateway).await {
            tokio::select! {
                frame = client.next() => serve(&mut client, &frame.unwrap()).await,
                changed = events.changed() => changed.unwrap(),
            }
        }
    })
    .await;
    check(&gateway, &owner).await;
    in_time(gateway.stop(Duration::ZERO)).await.unwrap();
}

/// Takes a call, and sends its result.
async fn serve(client: &mut Client, frame: &Value) {
    let request = &frame["message"];
    if request["method"] == "tools/call" {
        client.answer(request, json!({ "content": [] })).await;
        let call = &request["params"]["_meta"]["toolkit/call"];
        client.send(json!({ "type": "result", "call": call, "result": text("grown") })).await;
    }
}

async fn is_done(gateway: &Gateway) -> bool {
    let store = gateway.state().store();
    let last = store.last_event();
    let before = *last.borrow();
    let session = store.session(main()).await.unwrap();
    let is_at_rest = session.is_some_and(|session| session.transcript.is_some())
        && store.client_calls(None).await.unwrap().is_empty()
        && store.queued(main()).await.unwrap().is_empty()
        && store.runs_in_flight().await.unwrap().is_empty();
    // Each look is at another time.
    is_at_rest && *last.borrow() == before
}

/// The agent called once. A call that is pending has one message with its result, and one that has another answer has none.
async fn check(gateway: &Gateway, owner: &str) {
    let path = "/v1/sessions/main/messages?includeTools=true&limit=500";
    let (status, shown) = http(gateway.address(), "GET", path, owner, None).await;
    assert_eq!(status, 200, "{shown}");
    let messages = shown["messages"].as_array().unwrap();
    let answers: Vec<&str> = messages
        .iter()
        .flat_map(|message| message["toolResults"].as_array().into_iter().flatten())
        .map(|result| result["text"].as_str().unwrap())
        .collect();
    let [answer] = answers[..] else { panic!("one call has one answer: {shown}") };
    let events = gateway.state().store().events(0, EventFilter::default(), 1_000).await.unwrap();
    let accepted =
        events.iter().filter(|event| event.kind == "message.accepted" && event.data["kind"] == "result");
    let expected = usize::from(answer.contains("pending"));
    assert_eq!(accepted.count(), expected, "{shown}");
    assert_eq!(shown.to_string().contains("grown"), expected == 1, "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        work(Path::new(&directory)).await;
    }
}

#[test]
fn whatever_point_a_gateway_is_killed_at_a_deferred_call_has_one_result() {
    const TEST: &str = "websocket::kills::process_to_be_killed";
    for point in POINTS {
        let directory = tempfile::tempdir().unwrap();
        let is_whole = process::run(TEST, PLACE, directory.path(), Some(point));
        assert!(!is_whole, "the process was not killed at {point}");
        assert!(process::run(TEST, PLACE, directory.path(), None), "it does not end after {point}");
    }
}
