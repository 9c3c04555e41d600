//! The questions of a call in the store of the host.

use crate::approvals::Asker;
use crate::ask_store::{AskStore, KeptCall};
use crate::tool::Tool;
use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::ask::{PendingAsk, Question, Reply};
use toolkit_core::call::CallArguments;
use toolkit_core::caller::Caller;

/// One question of a call, in the store.
pub(super) struct KeptAsk {
    store: Arc<dyn AskStore>,
    digest: String,
}

impl KeptCall {
    /// Returns the call of this id; `None` in a session without a name, which no later call is in. It is of the same tool, of the same source,
    /// with the same arguments, and for the same asker and workspace as one that an answer is for.
    pub(super) fn new(
        store: &Arc<dyn AskStore>,
        caller: &Caller,
        tool: &Tool,
        id: &str,
        arguments: &CallArguments,
    ) -> Option<Self> {
        let session = caller.session_id.as_deref()?;
        let arguments = match arguments.as_text() {
            // Text that is not JSON may be repaired to arguments: it is taken as it is.
            Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| serde_json::json!([text])),
            Err(value) => value.clone(),
        };
        let arguments = sorted(arguments);
        let asker = serde_json::to_value(Asker::of(caller, tool)).ok()?;
        let workspace = caller.workspace.as_deref().map(Path::to_string_lossy);
        let identity = serde_json::json!([session, asker, workspace, id, arguments]).to_string();
        Some(Self { store: Arc::clone(store), identity: identity.into() })
    }

    /// Returns the place of a question of the call.
    pub(super) fn place(&self, question: &Question) -> KeptAsk {
        let text = format!("{}\n{}", question.digest(), self.identity);
        KeptAsk { store: Arc::clone(&self.store), digest: HEXLOWER.encode(&Hash::hash(text.as_bytes())) }
    }
}

fn sorted(mut arguments: Value) -> Value {
    arguments.sort_all_objects();
    arguments
}

impl KeptAsk {
    pub(super) async fn put(&self, ask: &PendingAsk) -> Result<Option<Reply>, String> {
        self.store.put(&self.digest, ask).await
    }

    pub(super) async fn answered(&self) -> Result<Reply, String> {
        self.store.answered(&self.digest).await
    }

    pub(super) async fn remove(&self) -> Result<bool, String> {
        self.store.remove(&self.digest).await
    }
}
