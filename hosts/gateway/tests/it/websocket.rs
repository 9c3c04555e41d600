//! Clients over a WebSocket, in a whole gateway on a real port.
#![allow(clippy::unwrap_used)]

mod client;
mod deferred;
mod events;
mod hostile;
mod javascript;
mod kills;
pub(crate) mod model;
mod nodes;
mod resumption;
mod tools;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolkit::config::LoadOptions;
use toolkit::{Caller, ToolCall, ToolResult, Toolkit};
use toolkit_gateway::{ClientLimits, Gateway, GatewayOptions, Role, SessionKey, caller_in};
use toolkit_host::Host;

use crate::agents::in_time;
use client::Client;
pub(crate) use model::Model;

/// A gateway in a directory of its own, with a scripted model.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    model: Model,
    pub(crate) gateway: Gateway,
    pub(crate) owner: String,
    /// The address of the next start; a free one by default.
    address: Option<SocketAddr>,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(ClientLimits::default()).await
    }

    async fn with(limits: ClientLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let model = Model::start().await;
        let gateway = start(directory.path(), &model, &limits).await;
        let owner = std::fs::read_to_string(gateway.owner_token_file()).unwrap().trim().to_owned();
        let store = gateway.state().store();
        store.add_person("ada".to_owned(), Role::User, "main".to_owned()).await.unwrap();
        store.open_session(main(), None, None).await.unwrap();
        store.open_session(of_ada(), Some("ada".to_owned()), None).await.unwrap();
        Self { directory, model, gateway, owner, address: None }
    }

    /// Stops the gateway, and starts it again with other limits.
    async fn restart(self, limits: ClientLimits) -> Self {
        let Self { directory, model, gateway, owner, address } = self;
        in_time(gateway.stop(Duration::ZERO)).await.unwrap();
        let gateway = start_at(directory.path(), &model, &limits, address).await;
        Self { directory, model, gateway, owner, address }
    }

    pub(crate) async fn stop(self) {
        in_time(self.gateway.stop(Duration::ZERO)).await.unwrap();
    }

    fn toolkit(&self) -> Toolkit {
        self.gateway.host().toolkit().clone()
    }

    /// Makes a token of Ada.
    pub(crate) async fn ada(&self, name: &str) -> String {
        let wanted = json!({ "name": name, "person": "ada" });
        let (status, made) = self.http("POST", "/v1/tokens", &self.owner, Some(wanted)).await;
        assert_eq!(status, 201, "{made}");
        made["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn http(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        http(self.gateway.address(), method, path, token, body).await
    }

    /// Waits for an event of a kind after those up to a number, and returns it.
    async fn event(&self, after: i64, kind: &str) -> toolkit_gateway::Event {
        let store = self.gateway.state().store();
        let mut last = store.last_event();
        in_time(async {
            loop {
                let events =
                    store.events(after, toolkit_gateway::EventFilter::default(), 1_000).await.unwrap();
                if let Some(event) = events.into_iter().find(|event| event.kind == kind) {
                    return event;
                }
                last.changed().await.unwrap();
            }
        })
        .await
    }

    /// Waits for the one result of a deferred call, and returns its text and how the call ended.
    async fn result(&self, call: &str) -> (String, String) {
        let store = self.gateway.state().store();
        let event = self.event(0, "call.ended").await;
        assert_eq!(event.data["call"], call);
        let id = toolkit_gateway::MessageId(event.data["message"].as_i64().unwrap());
        let message = store.message(id).await.unwrap().unwrap();
        assert_eq!((message.body["call"].as_str(), &message.external_id[..]), (Some(call), call));
        let text = message.body["text"].as_str().unwrap().to_owned();
        (text, message.body["outcome"].as_str().unwrap().to_owned())
    }

    /// The numbers of messages that came from calls.
    async fn results(&self) -> usize {
        let store = self.gateway.state().store();
        let events = store.events(0, toolkit_gateway::EventFilter::default(), 1_000).await.unwrap();
        events
            .iter()
            .filter(|event| event.kind == "message.accepted" && event.data["kind"] == "result")
            .count()
    }
}

async fn start(directory: &Path, model: &Model, limits: &ClientLimits) -> Gateway {
    start_at(directory, model, limits, None).await
}

async fn start_at(
    directory: &Path,
    model: &Model,
    limits: &ClientLimits,
    address: Option<SocketAddr>,
) -> Gateway {
    let load = LoadOptions::new()
        .data_dir(directory)
        .set("gateway.address='127.0.0.1:0'")
        .set("permission={ client: 'allow', node: 'allow' }")
        // The tools of this program are those of a plugin.
        .set("gateway.othersMayUse=['plugins']")
        // Tests say by a header where a request comes from.
        .set("gateway.proxies=['127.0.0.1']")
        .set("tools.deny=['client:owner.denied']")
        .set(format!(
            "models={{ local: {{ baseUrl: '{}', model: 'm', apiKey: 'sk-of-the-test', contextTokens: 1000000 }} }}",
            model.url
        ));
    // Tools of other tests need what is not here.
    let host = |load| Host::builder(load).with_toolkit(toolkit::Builder::leave_out_incomplete);
    let options = GatewayOptions::new().address(address).clients(limits.clone());
    Gateway::start(load, host, options).await.unwrap()
}

/// Sends a request, and returns the status and the body of the answer.
pub(crate) async fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: Option<Value>,
) -> (u16, Value) {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (head, body) = exchange(address, &request).await;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// Sends the bytes of a request, and returns the head and the body of the answer.
pub(crate) async fn exchange(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    in_time(stream.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn main() -> SessionKey {
    SessionKey::main("main").unwrap()
}

/// The key of the owner's session.
pub(crate) fn owners_session() -> String {
    main().to_string()
}

fn of_ada() -> SessionKey {
    SessionKey::person("main", "ada").unwrap()
}

/// The tools of clients that a session has.
async fn names(toolkit: &Toolkit, session: &SessionKey) -> Vec<String> {
    let toolbox = toolkit.toolbox(&caller_in(Caller::new().with_session("s"), session)).await;
    let of_clients = toolbox.definitions().into_iter().map(|tool| tool.name.clone());
    of_clients.filter(|name| name.starts_with("page_")).collect()
}

async fn call(toolkit: Toolkit, session: SessionKey, tool: &'static str, arguments: Value) -> ToolResult {
    let toolbox = toolkit.toolbox(&caller_in(Caller::new().with_session("s"), &session)).await;
    in_time(toolbox.call(ToolCall::new("1", tool, arguments))).await
}

/// A tool as a client lists it.
fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does something on the page.", "inputSchema": { "type": "object" } })
}

fn deferred(name: &str) -> Value {
    let mut tool = tool(name);
    tool["_meta"] = json!({ "toolkit/deferred": true });
    tool
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}
