//! Recalls the earlier approvals of one asker, and remembers new ones.

use super::place::Place;
use super::session;
use super::session_file::SessionPlace;
use super::store::Approvals;
use super::{Asker, Grounds};
use crate::session::Session;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::runtime::Handle;
use toolkit_core::ask::{AllowScope, Ask};

/// The remembered approvals of one asker, in one session and workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    asker: Arc<Asker>,
    session: Arc<Session>,
    store: Approvals,
    /// The directory of the workspace.
    workspace: Option<Arc<str>>,
    /// The place of approvals that are always valid, or the reason why there is none.
    place: Result<Arc<Place>, String>,
}

/// An approval that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Allowed for the session.
    Session,
    /// Always allowed, by the approvals with these ids.
    Always(Vec<String>),
}

impl Memory {
    pub(crate) fn new(asker: Asker, session: Arc<Session>, store: Approvals, workspace: &Path) -> Self {
        let place = store.place(workspace).map(Arc::new);
        let workspace = identity(workspace).map(Arc::from);
        Self { asker: Arc::new(asker), session, store, workspace, place }
    }

    /// Returns true if both remember the same approvals.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.session.id() == other.session.id()
            && self.asker == other.asker
            && self.workspace == other.workspace
            && self.place == other.place
    }

    /// Returns the real path of the workspace, if approvals can be remembered for it.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.place.as_ref().ok().map(|place| place.workspace.as_str())
    }

    /// Returns an earlier approval for the question. The error says why approvals cannot be read or remembered.
    ///
    /// Reads a small file, so it blocks.
    pub(crate) fn recall(&self, ask: &Ask) -> Result<Option<Allowed>, String> {
        if ask.longest() == AllowScope::Once {
            return Ok(None);
        }
        let grounds = Grounds::of(&self.asker, ask, self.workspace.as_deref());
        let in_session = self.session.state_if_made::<session::Allowed>();
        if in_session.is_some_and(|allowed| allowed.covers(&grounds, ask))
            || self.was_kept_for_session(&grounds, ask)
        {
            return Ok(Some(Allowed::Session));
        }
        if ask.longest() < AllowScope::Always {
            return Ok(None);
        }
        let place = self.place.as_ref().map_err(Clone::clone)?;
        let approved = self.store.read(place)?;
        let ids = ask.patterns.iter().map(|pattern| {
            let same = |stored: &&super::file::Stored| stored.pattern == *pattern && stored.of == grounds;
            approved.iter().find(same).map(|stored| stored.id.clone())
        });
        Ok(ids.collect::<Option<Vec<String>>>().map(Allowed::Always))
    }

    /// Returns the askers with an approval, in this session or always in this workspace. Unreadable approvals are skipped.
    ///
    /// Reads small files, so it blocks.
    pub(crate) fn askers(session: &Arc<Session>, store: &Approvals, workspace: &Path) -> Vec<Asker> {
        let mut askers: Vec<Asker> =
            session.state_if_made::<session::Allowed>().map(|allowed| allowed.askers()).unwrap_or_default();
        let Ok(place) = store.place(workspace) else { return askers };
        let approved = store.read(&place).unwrap_or_default();
        askers.extend(approved.into_iter().map(|stored| stored.of.asker));
        if session.is_named()
            && let (Some(place), Some(lifetime)) =
                (store.session_place(&place, session.id()), store.session_lifetime())
            && let Ok(file) = store.read_session(&place)
        {
            askers.extend(file.askers(lifetime));
        }
        askers
    }

    /// Remembers an approval. If it cannot be remembered always, it is at least remembered for the session.
    pub(crate) async fn keep(&self, ask: &Ask, scope: AllowScope) {
        if scope == AllowScope::Once {
            return;
        }
        let grounds = Grounds::of(&self.asker, ask, self.workspace.as_deref());
        if scope == AllowScope::Always {
            match self.keep_always(&grounds, ask).await {
                Ok(()) => return,
                Err(reason) => {
                    tracing::warn!("approvals for the workspace are kept for this session only: {reason}");
                }
            }
        }
        self.session.state::<session::Allowed>().add(&grounds, ask);
        if let Some(place) = self.session_place() {
            let (store, ask) = (self.store.clone(), ask.clone());
            let kept = off_thread(move || store.add_to_session(&place, &grounds, &ask)).await;
            if let Err(reason) = kept {
                tracing::warn!("approvals for the session end with the process: {reason}");
            }
        }
    }

    /// Returns the longest time for which an approval for the session is valid, if such approvals outlive the process.
    pub(crate) fn session_lifetime(&self) -> Option<Duration> {
        self.session_place().and_then(|_| self.store.session_lifetime())
    }

    /// Returns the place where approvals for the session are kept; `None` if they end with the process.
    fn session_place(&self) -> Option<SessionPlace> {
        if !self.session.is_named() {
            return None;
        }
        self.store.session_place(self.place.as_ref().ok()?, self.session.id())
    }

    /// Returns true if an earlier process kept an approval for the session. An unreadable file allows nothing.
    fn was_kept_for_session(&self, grounds: &Grounds, ask: &Ask) -> bool {
        let (Some(place), Some(lifetime)) = (self.session_place(), self.store.session_lifetime()) else {
            return false;
        };
        match self.store.read_session(&place) {
            Ok(session) => session.covers(grounds, ask, lifetime),
            Err(reason) => {
                tracing::warn!("approvals for the session are ignored: {reason}");
                false
            }
        }
    }

    async fn keep_always(&self, grounds: &Grounds, ask: &Ask) -> Result<(), String> {
        let place = Arc::clone(self.place.as_ref().map_err(Clone::clone)?);
        let (store, grounds, patterns) = (self.store.clone(), grounds.clone(), ask.patterns.clone());
        off_thread(move || store.add(&place, &grounds, &patterns)).await
    }
}

/// Returns a text for this directory that differs from that of another one which takes its place: its number in the file system, and the
/// time at which it was made, where that is known. The number of the file system itself can change with each start of the machine.
fn identity(directory: &Path) -> Option<String> {
    let metadata = directory.metadata().ok()?;
    let made = metadata.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let made = made.map_or(0, |made| made.as_nanos());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some(format!("{number}-{made}"))
}

/// Runs a blocking function on the runtime's blocking threads. Without a runtime it runs on the caller's thread, which waits
/// anyway.
async fn off_thread(run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    match Handle::try_current() {
        Ok(handle) => match handle.spawn_blocking(run).await {
            Ok(done) => done,
            Err(error) => Err(format!("it stopped on an internal error: {error}")),
        },
        Err(_) => run(),
    }
}
