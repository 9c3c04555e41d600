//! The editor, as the agent calls it.

use super::lines::Outbox;
use super::rpc::Fault;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The editor. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Client(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    outbox: Outbox,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Fault>>>>,
    abilities: Mutex<Abilities>,
}

/// The methods that the editor offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    pub(super) read_text_file: bool,
    pub(super) elicit_forms: bool,
}

impl Abilities {
    /// Reads `clientCapabilities`.
    pub(super) fn of(capabilities: &Value) -> Self {
        let is_true = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool) == Some(true);
        Self {
            read_text_file: is_true("/fs/readTextFile"),
            elicit_forms: capabilities.pointer("/elicitation/form").is_some_and(|form| !form.is_null()),
        }
    }
}

impl Client {
    pub(super) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    pub(super) fn abilities(&self) -> Abilities {
        *self.0.abilities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_abilities(&self, abilities: Abilities) {
        *self.0.abilities.lock().unwrap_or_else(PoisonError::into_inner) = abilities;
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.0.outbox.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request. Dropping the answer forgets it.
    pub(super) fn request(&self, method: &str, params: &Value) -> Waiting {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting().insert(id, sender);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.0.outbox.send(message.to_string());
        Waiting { client: self.clone(), id, answer }
    }

    /// Takes the answer to a request. One to a request that nobody waits for any more is ignored.
    pub(super) fn answered(&self, id: &Value, outcome: Result<Value, Fault>) {
        let sender = id.as_u64().and_then(|id| self.waiting().remove(&id));
        if let Some(sender) = sender {
            // Whoever asked may just have gone.
            let _ = sender.send(outcome);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Result<Value, Fault>>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its answer.
pub(super) struct Waiting {
    client: Client,
    id: u64,
    answer: oneshot::Receiver<Result<Value, Fault>>,
}

impl Waiting {
    /// Waits for the answer, for ever if the editor is gone: that is no answer of a person, and what waits is interrupted.
    pub(super) async fn answer(mut self) -> Result<Value, Fault> {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    }

    /// Takes the answer if it is there.
    pub(super) fn try_answer(&mut self) -> Option<Result<Value, Fault>> {
        self.answer.try_recv().ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.client.waiting().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn an_editor_that_is_gone_answers_nothing() {
        let client = Client::default();
        let waiting = client.request("session/request_permission", &json!({}));
        client.outbox().closed().cancel();
        tokio::time::timeout(Duration::ZERO, waiting.answer()).await.unwrap_err();
        let waiting = client.request("session/request_permission", &json!({}));
        client.answered(&json!(waiting.id), Ok(json!("yes")));
        assert_eq!(waiting.answer().await.unwrap(), json!("yes"));
    }
}
