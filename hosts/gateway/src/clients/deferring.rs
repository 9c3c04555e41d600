//! Calls of a client's tools whose results come later.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
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

/// Notes a call. If nobody waits for that any more once it is stored, it is forgotten: its call was told that it had ended.
async fn begun(store: Store, call: NewClientCall) -> Result<(String, bool), ToolError> {
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        let begun = store.begin_client_call(call).await;
        if let Err(Ok((id, false))) = tell.send(begun)
            && let Err(error) = store.forget_client_call(id).await
        {
            tracing::error!(%error, "a deferred call that was cancelled cannot be forgotten");
        }
    });
    let ended = || ToolError::unavailable("the gateway stops");
    told.await.map_err(|_| ended())?.map_err(of_store)
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
}

impl fmt::Debug for Deferring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferring").field("client", &self.client_name).finish_non_exhaustive()
    }
}
