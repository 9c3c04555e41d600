//! A connection to a server.

use super::spawn::LastWords;
use rmcp::model::ServerPeerInfo;
use rmcp::service::{Peer, RunningService};
use rmcp::{RoleClient, Service};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit::text::escape_line;
use toolkit_sandbox::Job;

/// Time for a server to exit by itself after its input is closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Time for a server to exit after the termination request that follows.
const GRACE: Duration = Duration::from_secs(2);

/// A connection. Dropped, it ends, and with it a server that is a command.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) about: Arc<About>,
    ended: CancellationToken,
    _closing: DropGuard,
}

impl Connection {
    /// Spawns a task that ends the connection once the guard is dropped.
    pub(super) fn of<S: Service<RoleClient>>(
        running: RunningService<RoleClient, S>,
        said: LastWords,
        job: Option<Arc<Job>>,
        guard: DropGuard,
    ) -> Self {
        let peer = running.peer().clone();
        let ended = CancellationToken::new();
        let closing = guard.disarm();
        let guard = closing.clone().drop_guard();
        let task = {
            let ended = ended.clone();
            let token = running.cancellation_token();
            tokio::spawn(async move {
                let mut waiting = std::pin::pin!(running.waiting());
                tokio::select! {
                    _ = &mut waiting => {}
                    () = closing.cancelled() => {
                        token.cancel();
                        let _ = tokio::time::timeout(FAREWELL, &mut waiting).await;
                    }
                }
                ended.cancel();
                if let Some(job) = job
                    && tokio::time::timeout(FAREWELL, job.gone()).await.is_err()
                {
                    job.stop(GRACE).await;
                }
            })
        };
        let about = About { info: peer.peer_info(), said, finished: Mutex::new(Some(task)) };
        Self { peer, about: Arc::new(about), ended, _closing: guard }
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// Information about a connected server.
#[derive(Debug)]
pub(super) struct About {
    info: Option<Arc<ServerPeerInfo>>,
    said: LastWords,
    /// The task that ends the connection.
    finished: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl About {
    pub(super) fn last_words(&self) -> String {
        self.said.tell()
    }

    pub(super) fn has_tools(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.capabilities.tools.is_some())
    }

    pub(super) fn has_resources(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.resources.is_some())
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// Returns true if the server announces changes of its lists only to clients that send a subscription request.
    pub(super) fn has_subscriptions(&self) -> bool {
        let has = |info: &Arc<ServerPeerInfo>| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        };
        self.info.as_ref().is_some_and(has)
    }

    /// Returns true if the server speaks a version of the protocol that begins with `initialize`.
    pub(super) fn is_older(&self) -> bool {
        self.info.as_ref().is_none_or(|info| info.protocol_version.has_initialize())
    }

    /// Returns what the server says about the use of its tools.
    pub(super) fn instructions(&self) -> Option<&str> {
        let said = self.info.as_ref()?.instructions.as_deref()?;
        Some(said).filter(|said| !said.trim().is_empty())
    }

    /// Returns the server's name, its version and the version of the protocol.
    pub(super) fn shown(&self) -> String {
        let Some(info) = &self.info else { return "no server information".to_owned() };
        let server = match &info.server_info {
            Some(server) => format!("{} {}", server.name, server.version),
            None => "a server without a name".to_owned(),
        };
        escape_line(&format!("{server}, protocol {}", info.protocol_version)).into_owned()
    }

    /// The task that ends with the connection.
    pub(super) fn take_finished(&self) -> Option<tokio::task::JoinHandle<()>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
