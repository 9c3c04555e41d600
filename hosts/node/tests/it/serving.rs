//! A node that serves.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolkit_node::{Device, NodeDirectory, NodeError, NodeSettings, SessionError, Step, pair, run};

use crate::gateway::{Gateway, Socket};

/// Time that no test takes.
const WITHIN: Duration = Duration::from_mins(1);

/// A node that runs.
struct Running {
    ended: JoinHandle<Result<(), NodeError>>,
    stop: CancellationToken,
    steps: mpsc::UnboundedReceiver<String>,
}

/// Pairs a node with a gateway.
async fn paired(gateway: &Gateway, place: &Path) -> NodeDirectory {
    let directory = NodeDirectory::open(place).unwrap();
    let address = gateway.address().to_string().parse().unwrap();
    let answering = async {
        let mut socket = gateway.accept().await.0;
        socket.send(&json!({ "type": "welcome", "node": "desk-1" })).await;
        socket
    };
    let (paired, _socket) = tokio::join!(pair(&directory, address, "desk".to_owned(), None), answering);
    assert_eq!(paired.unwrap().code, None, "it is approved already");
    directory
}

fn start(directory: NodeDirectory, settings: Value) -> Running {
    let settings: NodeSettings = serde_json::from_value(settings).unwrap();
    let stop = CancellationToken::new();
    let (told, steps) = mpsc::unbounded_channel();
    let stopping = stop.clone();
    let ended = tokio::spawn(async move {
        let device = Device::new("desk", settings, None);
        run(&directory, device, stopping, |now| {
            let text = match now {
                Step::Connected(id) => format!("connected {id}"),
                _ => format!("{now:?}"),
            };
            told.send(text).unwrap();
        })
        .await
    });
    Running { ended, stop, steps }
}

impl Running {
    async fn step(&mut self) -> String {
        timeout(WITHIN, self.steps.recv()).await.unwrap().unwrap()
    }

    async fn ended(self) -> Result<(), NodeError> {
        timeout(WITHIN, self.ended).await.unwrap().unwrap()
    }
}

/// Lets a node in.
async fn welcome(gateway: &Gateway) -> Socket {
    let (mut socket, is_pairing) = gateway.accept().await;
    assert!(!is_pairing);
    socket.send(&json!({ "type": "welcome", "node": "desk-1" })).await;
    socket
}

/// Begins MCP with a node, and returns the names of its tools.
async fn listed(socket: &mut Socket) -> Vec<String> {
    let about = json!({ "name": "by hand", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
    let answer = socket.request(1, "initialize", params).await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "toolkit-node");
    socket.mcp(json!({ "method": "notifications/initialized" })).await;
    let answer = socket.request(2, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn called(socket: &mut Socket, name: &str) -> (bool, String) {
    let answer = socket.request(3, "tools/call", json!({ "name": name, "arguments": {} })).await;
    let result = &answer["result"];
    (result["isError"] == true, result["content"][0]["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_node_serves_what_can_work_and_ends_when_it_is_asked_to() {
    let place = tempfile::tempdir().unwrap();
    let gateway = Gateway::start().await;
    let directory = paired(&gateway, place.path()).await;
    let location = json!({ "latitude": 52.5, "longitude": 13.25, "label": "the desk" });
    // Without a toolkit for commands, `run` alone does not serve any.
    let settings = json!({ "run": true, "screenshot": false, "notify": false, "location": location });
    let mut running = start(directory, settings);
    let mut socket = timeout(WITHIN, welcome(&gateway)).await.unwrap();
    assert_eq!(running.step().await, "connected desk-1");
    let mut names = listed(&mut socket).await;
    names.sort();
    assert_eq!(names, ["describe", "location"]);
    let (is_error, text) = called(&mut socket, "location").await;
    assert!(!is_error && text.contains("52.5") && text.contains("the desk"), "{text}");
    let (is_error, text) = called(&mut socket, "describe").await;
    assert!(!is_error && text.contains("desk") && text.contains("location"), "{text}");
    running.stop.cancel();
    running.ended().await.unwrap();
}

#[tokio::test]
async fn a_directory_is_of_one_process_that_runs_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let gateway = Gateway::start().await;
    let directory = paired(&gateway, place.path()).await;
    let mut running = start(directory.clone(), json!({}));
    let _socket = timeout(WITHIN, welcome(&gateway)).await.unwrap();
    assert_eq!(running.step().await, "connected desk-1");
    let error = start(directory.clone(), json!({})).ended().await.unwrap_err();
    let text = error.to_string();
    assert!(!error.is_final() && text.contains(&place.path().display().to_string()), "{text}");
    assert!(text.contains(&format!("the process {}", std::process::id())), "{text}");
    running.stop.cancel();
    running.ended().await.unwrap();
    let mut next = start(directory, json!({}));
    let _socket = timeout(WITHIN, welcome(&gateway)).await.unwrap();
    assert_eq!(next.step().await, "connected desk-1");
}

#[tokio::test]
async fn a_place_that_is_not_configured_is_an_error_that_says_how() {
    let place = tempfile::tempdir().unwrap();
    let gateway = Gateway::start().await;
    let directory = paired(&gateway, place.path()).await;
    let _running = start(directory, json!({}));
    let mut socket = timeout(WITHIN, welcome(&gateway)).await.unwrap();
    listed(&mut socket).await;
    let (is_error, text) = called(&mut socket, "location").await;
    assert!(is_error && text.contains("node.location"), "{text}");
}

#[tokio::test]
async fn a_node_connects_again_and_ends_once_it_is_revoked() {
    let place = tempfile::tempdir().unwrap();
    let gateway = Gateway::start().await;
    let directory = paired(&gateway, place.path()).await;
    let mut running = start(directory, json!({}));
    // A connection that drops, one that is not approved yet, and one that was revoked.
    drop(timeout(WITHIN, welcome(&gateway)).await.unwrap());
    assert_eq!(running.step().await, "connected desk-1");
    assert!(running.step().await.starts_with("Waiting"));
    let refused =
        |is_revoked: bool| json!({ "type": "refused", "isRevoked": is_revoked, "reason": "by hand" });
    timeout(WITHIN, gateway.accept()).await.unwrap().0.send(&refused(false)).await;
    let step = running.step().await;
    assert!(step.contains("NotApproved"), "{step}");
    // The code of a close is not sealed, so that it decides nothing.
    timeout(WITHIN, gateway.accept()).await.unwrap().0.close(4403).await;
    let step = running.step().await;
    assert!(step.contains("Ended"), "{step}");
    timeout(WITHIN, gateway.accept()).await.unwrap().0.send(&refused(true)).await;
    let error = running.ended().await.unwrap_err();
    assert!(error.is_final() && matches!(error, NodeError::Session(SessionError::Revoked)), "{error:?}");
}

#[tokio::test]
async fn a_gateway_with_another_key_gets_no_proof() {
    let place = tempfile::tempdir().unwrap();
    let mut gateway = Gateway::start().await;
    let directory = paired(&gateway, place.path()).await;
    gateway.identity = toolkit_node::Identity::unstored().unwrap();
    let running = start(directory, json!({}));
    let (mut socket, ..) = timeout(WITHIN, gateway.challenge_by(&gateway.identity)).await.unwrap();
    assert_eq!(socket.read().await, None, "it hears nothing more");
    let error = running.ended().await.unwrap_err();
    assert!(
        error.is_final() && matches!(error, NodeError::Session(SessionError::OtherKey { .. })),
        "{error:?}"
    );
}
