//! The directories that a client works on, in the versions of the protocol where it says so: they only ever narrow the boundary of
//! file access.

use super::random;
use rmcp::RoleServer;
use rmcp::service::Peer;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;
use toolkit::{Caller, Toolkit};
use url::Url;

/// How long a client has to say what it works on.
const ANSWER: Duration = Duration::from_secs(5);
/// The most directories that are looked at.
const MOST: usize = 256;

/// What one client says of it.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// The client, if it is one that says so.
    peer: Mutex<Option<Peer<RoleServer>>>,
    /// The caller that comes of it.
    bound: AsyncMutex<Option<Caller>>,
    /// It has said that it is another by now.
    is_stale: AtomicBool,
    /// A directory with nothing in it, for a client that works on nothing that is served.
    nothing: Mutex<Option<Nothing>>,
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

    /// It works on something else now.
    pub(super) fn changed(&self) {
        self.is_stale.store(true, Ordering::Release);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// The caller with the boundary that the client's own leave.
    pub(super) async fn bound(&self, toolkit: &Toolkit, caller: &Caller) -> Caller {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(peer) = peer else { return caller.clone() };
        let mut bound = self.bound.lock().await;
        if self.is_stale.swap(false, Ordering::AcqRel) {
            *bound = None;
        }
        if let Some(bound) = &*bound {
            return bound.clone();
        }
        let made = match asked(&peer).await {
            Some(roots) => self.narrowed(toolkit, caller, roots).await,
            None => caller.clone(),
        };
        bound.insert(made).clone()
    }

    async fn narrowed(&self, toolkit: &Toolkit, caller: &Caller, roots: Vec<PathBuf>) -> Caller {
        let (toolkit, own) = (toolkit.clone(), caller.clone());
        let narrowed = tokio::task::spawn_blocking(move || toolkit.narrowed(&own, roots)).await;
        if let Ok(Some(narrowed)) = narrowed {
            return narrowed;
        }
        let mut nothing = self.nothing.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = nothing.get_or_insert_with(Nothing::make);
        tracing::warn!("the client works on nothing of what is served: its roots are elsewhere");
        let mut caller = caller.clone().with_workspace(&nothing.0);
        caller.further = Some(Vec::new());
        caller
    }
}

/// What the client says that it works on; `None` where it says nothing of use: no root at all is said by clients in which nothing is
/// open.
#[expect(deprecated, reason = "the versions up to 2025-11-25 have roots")]
async fn asked(peer: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
    let roots = match timeout(ANSWER, peer.list_roots()).await {
        Ok(Ok(answer)) => answer.roots,
        Ok(Err(error)) => {
            tracing::warn!("the client does not say what it works on: {error}");
            return None;
        }
        Err(_) => {
            tracing::warn!("the client does not say in time what it works on");
            return None;
        }
    };
    // One that cannot be read as a path of this machine is elsewhere.
    let path = |root: &rmcp::model::Root| Url::parse(&root.uri).ok()?.to_file_path().ok();
    let is_any = !roots.is_empty();
    is_any.then(|| roots.iter().take(MOST).filter_map(path).collect())
}

/// A directory of one's own, gone with its owner.
#[derive(Debug)]
struct Nothing(PathBuf);

impl Nothing {
    /// Where it cannot be made, it is not there, and holds nothing either.
    fn make() -> Self {
        let path = std::env::temp_dir().join(format!("toolkit-mcp-{}", random::<10>()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(&path) {
            tracing::warn!("{} cannot be made: {error}", path.display());
        }
        Self(path)
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        // What a tool left there is nobody's.
        let path: &Path = &self.0;
        let _ = std::fs::remove_dir_all(path);
    }
}
