//! Tools whose results come later than the answers to their calls.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Waker};
use toolkit::{ToolContext, ToolError, ToolOutput};

/// The key in `_meta` of a tool with which a client declares that results come later: `true`.
pub(super) const DEFERRED: &str = "toolkit/deferred";
/// The key in `_meta` of a call, under which the client gets the id of a deferred call.
pub(super) const CALL: &str = "toolkit/call";

/// Keeps the calls whose results come later, for [`SessionServer::deferred`](super::SessionServer::deferred).
///
/// A tool with `"_meta": { "toolkit/deferred": true }` is such a one. Its call is noted, and sent with the id of the note in `_meta` under
/// `toolkit/call`; once the client has answered that it took the call, which it says by any result that is no error, the model gets
/// `{ "status": "pending", "call": ID }`. How the result comes later, and that it comes once, is up to the host.
pub trait DeferredCalls: fmt::Debug + Send + Sync {
    /// Notes a call before the client hears of it.
    ///
    /// # Errors
    ///
    /// The call cannot be deferred. It is not sent then.
    fn begin<'a>(
        &'a self,
        context: &'a ToolContext,
        tool: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<DeferredCall, ToolError>>;

    /// Forgets a call that ends with an error, since the client did not take it, or not in time. Returns false if it has a result
    /// already, or is about to have one: its answer is that it is pending then.
    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, bool>;

    /// Takes back a call whose caller is gone, and has been told that the call ended: neither the note stays, nor a result that came before and
    /// that nobody has read. The first poll of the future puts it before all that the caller does next.
    fn abandon<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()>;
}

/// A deferred call that is noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredCall {
    /// Its id.
    pub id: String,
    /// True if this very call was noted and sent before, so that it is not sent again.
    pub is_known: bool,
}

/// Takes back a call of which nobody learns that it is pending.
pub(super) struct Noted {
    calls: Arc<dyn DeferredCalls>,
    /// Taken once the call has its answer.
    id: Option<String>,
}

impl Noted {
    pub(super) fn new(calls: &Arc<dyn DeferredCalls>, id: &str) -> Self {
        Self { calls: Arc::clone(calls), id: Some(id.to_owned()) }
    }

    /// Keeps the note.
    pub(super) fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) {
            let calls = Arc::clone(&self.calls);
            let mut abandoning = Box::pin(async move { calls.abandon(&id).await });
            // Polled here, so that nothing that follows the end of the call comes before it.
            let is_pending = abandoning.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
            if is_pending {
                runtime.spawn(abandoning);
            }
        }
    }
}

/// Returns the answer to a call whose result comes later.
pub(super) fn pending(id: &str) -> ToolOutput {
    let state = json!({ "status": "pending", "call": id });
    let output =
        ToolOutput::text(format!("{state}\nThe result comes later, as a message that names this call."));
    output.with_details(state)
}
