//! Tools that come and go, as clients hear of it.

use super::{Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use std::sync::{Arc, PoisonError, Weak};
use tokio::task::JoinHandle;

/// A task that ends with its owner.
#[derive(Debug)]
pub(crate) struct Owned(JoinHandle<()>);

impl Owned {
    pub(crate) fn new(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Notifies the client of changes from now on, as long as the server exists.
pub(super) fn watch(server: &ToolServer, peer: Peer<RoleServer>) {
    let mut changes = server.0.toolkit.watch_tools();
    let shared: Weak<Shared> = Arc::downgrade(&server.0);
    let task = Owned::new(async move {
        while changes.changed().await {
            let Some(shared) = shared.upgrade() else { return };
            drop(shared);
            if peer.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    });
    *server.0.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
}

/// Notifies a subscribed client of changes until the subscription ends.
pub(super) async fn listen(server: &ToolServer, context: &SubscriptionContext) {
    // A change between the list and this point is announced too.
    let mut changes = server.changes();
    let telling =
        async { while changes.changed().await && context.sink().notify_tool_list_changed().await.is_ok() {} };
    tokio::select! {
        () = telling => {}
        () = context.cancelled() => {}
    }
}
