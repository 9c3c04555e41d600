//! The connection of one node.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use toolkit_mcp::{AttachedCalls, SessionServer};

use super::Nodes;
use crate::store::NodeRecord;

/// The reason of the end of a node that is revoked.
pub(super) const REVOKED: &str = "the node was revoked";
/// The reason of the end of a connection in whose place another one came.
pub(super) const REPLACED: &str = "the node has connected anew";

/// The connection of one node, as long as it is there.
pub(crate) struct NodeLink {
    id: String,
    name: String,
    platform: String,
    person: String,
    key: String,
    /// Time limit of a call.
    call_within: Duration,
    served: Mutex<Served>,
    ended: CancellationToken,
    why: OnceLock<String>,
}

/// The tools of a node.
#[derive(Default)]
struct Served {
    actions: Vec<String>,
    calls: Option<AttachedCalls>,
}

impl NodeLink {
    pub(super) fn new(record: &NodeRecord, call_within: Duration) -> Self {
        Self {
            id: record.id.clone(),
            name: record.name.clone(),
            platform: record.platform.clone(),
            person: record.person.clone().unwrap_or_default(),
            key: record.key.clone(),
            call_within,
            served: Mutex::default(),
            ended: CancellationToken::new(),
            why: OnceLock::new(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn platform(&self) -> &str {
        &self.platform
    }

    pub(crate) fn person(&self) -> &str {
        &self.person
    }

    pub(super) fn call_within(&self) -> Duration {
        self.call_within
    }

    /// The names of the tools that it serves.
    pub(super) fn actions(&self) -> Vec<String> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).actions.clone()
    }

    pub(super) fn calls(&self) -> Option<AttachedCalls> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).calls.clone()
    }

    /// Ends the connection, and each call that waits for it. The first reason counts.
    pub(crate) fn end(&self, why: impl Into<String>) {
        let _ = self.why.set(why.into());
        self.ended.cancel();
    }

    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    pub(crate) fn why(&self) -> String {
        self.why.get().cloned().unwrap_or_default()
    }

    /// Returns true if the node may not come back.
    pub(crate) fn is_revoked(&self) -> bool {
        self.why.get().is_some_and(|why| why == REVOKED)
    }
}

/// A node that is connected, until this is dropped.
pub(crate) struct Present {
    pub(super) nodes: Nodes,
    pub(super) link: Arc<NodeLink>,
}

impl Present {
    pub(crate) fn link(&self) -> &Arc<NodeLink> {
        &self.link
    }

    /// Speaks MCP with the node over two streams, and keeps what it serves, until the connection ends. Returns the reason. The time limits of
    /// calls are those of the callers.
    pub(crate) async fn attach(
        &self,
        max_message: usize,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> String {
        let Some(at_work) = self.nodes.0.at_work.get() else { return "the gateway begins".to_owned() };
        // For no session: the tools are behind `nodes`.
        let mut server = SessionServer::new(self.link.id(), [] as [String; 0])
            .identity(format!("the node with the key {}", self.link.key))
            // A device of one person asks no other, and shows what it has to say itself.
            .may_ask(false);
        server.max_message_bytes = max_message;
        let attaching = self.nodes.0.servers.attach_lines(&at_work.toolkit, server, read, write);
        let attached = tokio::select! {
            attached = attaching => attached,
            () = at_work.shutdown.cancelled() => return "the gateway stops".to_owned(),
        };
        let mut attached = match attached {
            Ok(attached) => attached,
            Err(why) => return why,
        };
        loop {
            {
                let mut known = self.link.served.lock().unwrap_or_else(PoisonError::into_inner);
                *known = Served { actions: attached.tools(), calls: Some(attached.calls()) };
            }
            at_work.toolkit.announce_tools();
            if !attached.changed().await {
                return attached.ended().await;
            }
        }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.link.end("the connection of the node ended");
        {
            let mut links = self.nodes.links();
            if links.get(&self.link.id).is_some_and(|other| Arc::ptr_eq(other, &self.link)) {
                links.remove(&self.link.id);
            }
        }
        if let Some(at_work) = self.nodes.0.at_work.get() {
            at_work.toolkit.announce_tools();
        }
    }
}
