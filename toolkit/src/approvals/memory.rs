//! What one asker was allowed before, and the remembering of what it is allowed now.

use super::session;
use super::session_file::SessionPlace;
use super::store::{Approvals, Place};
use super::{Asker, Grounds};
use crate::ask::{AllowScope, Ask};
use crate::session::Session;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// What is remembered of answers to one asker, in one session and workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    asker: Arc<Asker>,
    session: Arc<Session>,
    store: Approvals,
    /// Where what is always allowed is remembered, or why it cannot be.
    place: Result<Arc<Place>, String>,
}

/// What was allowed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// For the session.
    Session,
    /// Always, by these approvals.
    Always(Vec<String>),
}

impl Memory {
    pub(crate) fn new(asker: Asker, session: Arc<Session>, store: Approvals, workspace: &Path) -> Self {
        let place = store.place(workspace).map(Arc::new);
        Self { asker: Arc::new(asker), session, store, place }
    }

    /// Whether two would remember the same for the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.session.id() == other.session.id() && self.asker == other.asker && self.place == other.place
    }

    /// The real path of the workspace, where something can be remembered for it.
    pub(crate) fn workspace(&self) -> Option<&str> {
        self.place.as_ref().ok().map(|place| place.workspace.as_str())
    }

    /// Whether it was allowed before. An error says why what was always allowed cannot be known or remembered.
    ///
    /// Reads a small file, and blocks for that.
    pub(crate) fn recall(&self, ask: &Ask) -> Result<Option<Allowed>, String> {
        if ask.longest() == AllowScope::Once {
            return Ok(None);
        }
        let grounds = Grounds::of(&self.asker, ask);
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

    /// Whom an answer was remembered for, in this session or always in this workspace. What cannot be read counts for nobody.
    ///
    /// Reads small files, and blocks for that.
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

    /// Remembers that it was allowed. What cannot be remembered always is at least remembered for the session.
    pub(crate) async fn keep(&self, ask: &Ask, scope: AllowScope) {
        if scope == AllowScope::Once {
            return;
        }
        let grounds = Grounds::of(&self.asker, ask);
        if scope == AllowScope::Always {
            match self.keep_always(&grounds, ask).await {
                Ok(()) => return,
                Err(reason) => {
                    tracing::warn!("what was always allowed is remembered for this session only: {reason}");
                }
            }
        }
        self.session.state::<session::Allowed>().add(&grounds, ask);
        if let Some(place) = self.session_place() {
            let (store, ask) = (self.store.clone(), ask.clone());
            let kept = off_thread(move || store.add_to_session(&place, &grounds, &ask)).await;
            if let Err(reason) = kept {
                tracing::warn!("what was allowed for the session ends with the process: {reason}");
            }
        }
    }

    /// How long what is allowed for the session lasts at most, where that is kept when the process ends.
    pub(crate) fn session_lifetime(&self) -> Option<Duration> {
        self.session_place().and_then(|_| self.store.session_lifetime())
    }

    /// Where what is allowed for the session is kept; `None` where it ends with the process.
    fn session_place(&self) -> Option<SessionPlace> {
        if !self.session.is_named() {
            return None;
        }
        self.store.session_place(self.place.as_ref().ok()?, self.session.id())
    }

    /// Whether an earlier process kept it for the session. What cannot be read allows nothing.
    fn was_kept_for_session(&self, grounds: &Grounds, ask: &Ask) -> bool {
        let (Some(place), Some(lifetime)) = (self.session_place(), self.store.session_lifetime()) else {
            return false;
        };
        match self.store.read_session(&place) {
            Ok(session) => session.covers(grounds, ask, lifetime),
            Err(reason) => {
                tracing::warn!("what was allowed for the session does not count: {reason}");
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

/// Runs what blocks where it may. Where there is no runtime, whoever asks waits anyway.
async fn off_thread(run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    match Handle::try_current() {
        Ok(handle) => match handle.spawn_blocking(run).await {
            Ok(done) => done,
            Err(error) => Err(format!("it stopped on an internal error: {error}")),
        },
        Err(_) => run(),
    }
}
