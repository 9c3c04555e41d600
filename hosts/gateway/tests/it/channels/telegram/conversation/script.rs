//! A model that gives the answers of a script, one for each request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit_serve::Addressed;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::response::IntoResponse;
use toolkit_serve::axum::routing::post;

use crate::websocket::model::{calling, events};

/// An answer of the model.
pub(super) enum Reply {
    Text(String),
    Call(&'static str, Value),
}

pub(super) fn say(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

pub(super) fn call(tool: &'static str, arguments: &Value) -> Reply {
    Reply::Call(tool, arguments.clone())
}

#[derive(Clone)]
struct Pending {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    /// How many are left.
    left: watch::Sender<usize>,
    /// How many were given.
    given: Arc<Mutex<usize>>,
}

pub(super) struct Script {
    pub(super) url: String,
    pending: Pending,
    _shutdown: DropGuard,
}

impl Script {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let pending = Pending { replies: Arc::default(), left: watch::channel(0).0, given: Arc::default() };
        let router = Router::new().route("/v1/chat/completions", post(answer)).with_state(pending.clone());
        let shutdown = CancellationToken::new();
        tokio::spawn(toolkit_serve::serve(listener, Addressed::local(router), shutdown.clone()));
        Self { url, pending, _shutdown: shutdown.drop_guard() }
    }

    /// Adds the answers to what comes next.
    pub(super) fn expect(&self, replies: Vec<Reply>) {
        let mut all = self.pending.replies.lock().unwrap();
        all.extend(replies);
        self.pending.left.send_replace(all.len());
    }

    /// Waits until all answers were given.
    pub(super) async fn is_done(&self) {
        self.pending.left.subscribe().wait_for(|left| *left == 0).await.unwrap();
    }
}

async fn answer(State(pending): State<Pending>) -> impl IntoResponse {
    let reply = {
        let mut replies = pending.replies.lock().unwrap();
        let reply = replies.pop_front();
        pending.left.send_replace(replies.len());
        reply
    };
    let number = {
        let mut given = pending.given.lock().unwrap();
        *given += 1;
        *given
    };
    match reply {
        Some(Reply::Call(tool, arguments)) => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            events(&calling(&format!("call-{number}"), &function), "tool_calls").into_response()
        }
        Some(Reply::Text(text)) => {
            events(&json!({ "role": "assistant", "content": text }), "stop").into_response()
        }
        None => events(&json!({ "role": "assistant", "content": "The script has nothing more." }), "stop")
            .into_response(),
    }
}
