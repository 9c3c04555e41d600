//! The client's roots, in the versions of the protocol that have them.
//!
//! The served workspace is within the boundary whatever the client's roots are: the user who started the server chose it, and clients often
//! name the directory that they were opened in. Of the additional directories, only those within the client's roots count.

use rmcp::RoleServer;
use rmcp::service::Peer;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;
use toolkit::{Caller, Toolkit};
use url::Url;

/// Time limit for a client to list its roots.
const ANSWER: Duration = Duration::from_secs(5);
/// Maximum number of roots that are checked.
const MAX_ROOTS: usize = 256;

/// The roots of one client.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// The client, if it supports roots.
    peer: Mutex<Option<Peer<RoleServer>>>,
    /// The caller restricted to the roots.
    bound: AsyncMutex<Option<Caller>>,
    /// True if the client has announced a change of its roots.
    is_stale: AtomicBool,
}

impl Roots {
    /// Takes note of the client.
    pub(super) fn of(&self, peer: &Peer<RoleServer>) {
        let has_roots = peer
            .peer_info()
            .is_some_and(|info| info.protocol_version.has_initialize() && info.capabilities.roots.is_some());
        if has_roots {
            *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(peer.clone());
        }
    }

    /// Records that the client has changed its roots.
    pub(super) fn changed(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// Returns the caller with the boundary restricted to the client's roots.
    pub(super) async fn bound(&self, toolkit: &Toolkit, caller: &Caller) -> Caller {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(peer) = peer else { return caller.clone() };
        let mut bound = self.bound.lock().await;
        let is_stale = self.is_stale.swap(false, Ordering::AcqRel);
        if let Some(bound) = bound.as_ref().filter(|_| !is_stale) {
            return bound.clone();
        }
        let made = match (asked(&peer).await, &*bound) {
            (Ok(Some(roots)), _) => Self::narrowed(toolkit, caller, roots).await,
            // A caller that was restricted stays so if the client fails to answer.
            (Err(()), Some(before)) => before.clone(),
            (Ok(None) | Err(()), _) => caller.clone(),
        };
        bound.insert(made).clone()
    }

    async fn narrowed(toolkit: &Toolkit, caller: &Caller, roots: Vec<PathBuf>) -> Caller {
        let (toolkit, own) = (toolkit.clone(), caller.clone());
        let narrowed = move || {
            let workspace = toolkit.workspace_of(&own);
            toolkit.narrowed(&own, roots.into_iter().chain([workspace]))
        };
        match tokio::task::spawn_blocking(narrowed).await {
            Ok(narrowed) => narrowed,
            Err(_) => {
                let mut nowhere = caller.clone();
                nowhere.within = Some(Vec::new());
                nowhere
            }
        }
    }
}

/// Asks the client for its roots; `None` if there are none, as for a client with no open directory.
#[expect(deprecated, reason = "the versions up to 2025-11-25 have roots")]
async fn asked(peer: &Peer<RoleServer>) -> Result<Option<Vec<PathBuf>>, ()> {
    let roots = match timeout(ANSWER, peer.list_roots()).await {
        Ok(Ok(answer)) => answer.roots,
        Ok(Err(error)) => {
            tracing::warn!("the client does not say what it works on: {error}");
            return Err(());
        }
        Err(_) => {
            tracing::warn!("the client does not say in time what it works on");
            return Err(());
        }
    };
    // One that cannot be read as a path of this machine is elsewhere.
    let path = |root: &rmcp::model::Root| Url::parse(&root.uri).ok()?.to_file_path().ok();
    let is_any = !roots.is_empty();
    Ok(is_any.then(|| roots.iter().take(MAX_ROOTS).filter_map(path).collect()))
}
