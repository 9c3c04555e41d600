//! Calls of a client's tools whose results come later.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use toolkit::{ToolContext, ToolError};
use toolkit_mcp::{DeferredCall, DeferredCalls};

use super::Clients;
use super::link::Link;
use crate::session_tools::{call_origin, calling, calling_job, of_store, reply_target};
use crate::store::{NewClientCall, Store};

/// Notes the deferred calls of one client in the store.
pub(super) struct Deferring {
    store: Store,
    client: String,
    client_name: String,
    person: String,
    within: Duration,
    deferred: Arc<Notify>,
}

impl Deferring {
    pub(super) fn new(clients: &Clients, link: &Link) -> Self {
        Self {
            store: clients.0.store.clone(),
            client: link.digest().to_owned(),
            client_name: link.name().to_owned(),
            person: link.person().to_owned(),
            within: clients.limits().deferred_within,
            deferred: Arc::clone(&clients.0.deferred),
        }
    }

    async fn note(
        &self,
        ctx: &ToolContext,
        tool: &str,
        arguments: &Value,
    ) -> Result<DeferredCall, ToolError> {
        let session = calling(&self.store, ctx).await?;
        let origin = call_origin(&self.store, ctx, &session, &(tool, arguments)).await?;
        let reply_to = reply_target(&self.store, ctx, &session.key).await?;
        let call = NewClientCall {
            origin,
            client: self.client.clone(),
            client_name: self.client_name.clone(),
            person: self.person.clone(),
            session: session.key,
            tool: tool.to_owned(),
            reply_to,
            within: self.within,
            job: calling_job(ctx),
        };
        let (id, is_known) = begun(self.store.clone(), call).await?;
        self.deferred.notify_one();
        Ok(DeferredCall { id, is_known })
    }
}

/// Notes a call. If nobody waits for that any more once it is stored, it is taken back: its caller was told that it had ended.
async fn begun(store: Store, call: NewClientCall) -> Result<(String, bool), ToolError> {
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        let begun = store.begin_client_call(call).await;
        let _ = tell.send(begun.map(|(id, is_known)| Unheard { store, id, is_known, is_heard: false }));
    });
    let ended = || ToolError::unavailable("the gateway stops");
    let unheard = told.await.map_err(|_| ended())?.map_err(of_store)?;
    Ok(unheard.heard())
}

/// A call that is noted, of which its caller has not heard yet. Dropped before that, in whichever task, it is taken back.
struct Unheard {
    store: Store,
    id: String,
    is_known: bool,
    is_heard: bool,
}

impl Unheard {
    /// Returns the id, and true if the call was noted before.
    fn heard(mut self) -> (String, bool) {
        self.is_heard = true;
        (std::mem::take(&mut self.id), self.is_known)
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        if self.is_heard || self.is_known {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let (store, id) = (self.store.clone(), std::mem::take(&mut self.id));
        runtime.spawn(async move { abandon(&store, id).await });
    }
}

async fn abandon(store: &Store, id: String) {
    if let Err(error) = store.abandon_client_call(id).await {
        tracing::error!(%error, "a deferred call that was cancelled cannot be taken back");
    }
}

impl DeferredCalls for Deferring {
    fn begin<'a>(
        &'a self,
        context: &'a ToolContext,
        tool: &'a str,
        arguments: &'a Value,
    ) -> Pin<Box<dyn Future<Output = Result<DeferredCall, ToolError>> + Send + 'a>> {
        Box::pin(self.note(context, tool, arguments))
    }

    fn forget<'a>(&'a self, id: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            match self.store.forget_client_call(id.to_owned()).await {
                Ok(is_forgotten) => is_forgotten,
                Err(error) => {
                    tracing::error!(%error, "a deferred call that failed cannot be forgotten");
                    false
                }
            }
        })
    }

    fn abandon<'a>(&'a self, id: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(abandon(&self.store, id.to_owned()))
    }
}

impl fmt::Debug for Deferring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferring").field("client", &self.client_name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;
    use crate::{EventFilter, SessionKey, StoreOptions};

    #[tokio::test]
    async fn a_call_whose_caller_goes_before_it_is_noted_is_taken_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path(), StoreOptions::new()).await.expect("a store");
        let session = SessionKey::main("main").expect("a key");
        store.open_session(session.clone(), None, None).await.expect("a session");
        let call = NewClientCall {
            origin: "transcript/answer/1".to_owned(),
            client: "digest".to_owned(),
            client_name: "tab".to_owned(),
            person: "owner".to_owned(),
            session,
            tool: "page_later".to_owned(),
            reply_to: None,
            within: Duration::from_mins(1),
            job: None,
        };
        let mut events = store.last_event();
        let before = *events.borrow();
        let mut begun = Box::pin(begun(store.clone(), call));
        assert!(begun.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // Dropped with the answer in it, which it has not read.
        events.wait_for(|last| *last > before).await.expect("noted");
        tokio::task::yield_now().await;
        drop(begun);
        loop {
            let seen = store.events(0, EventFilter::default(), 100).await.expect("events");
            if seen.iter().any(|event| event.kind == "call.ended" && event.data["outcome"] == "refused") {
                break;
            }
            events.changed().await.expect("open");
        }
        assert!(store.client_calls(None).await.expect("read").is_empty());
    }
}
