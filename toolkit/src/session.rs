//! Sessions: the state that the calls of one conversation share while the process runs.

use crate::gate::Gate;
use crate::lifecycle::EndHooks;
use crate::listed::Listed;
use crate::loop_guard::Recent;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_core::guard::guard;
use toolkit_core::state::Service;

/// The maximum number of sessions with state and without a toolbox; beyond it, the least recently used one is removed.
const MAX_IDLE: usize = 10_000;

/// The state that the calls of one session share.
pub(crate) struct Session {
    id: String,
    /// True if a host named the session.
    named: bool,
    pub(crate) gate: Gate,
    /// The last calls of the session, for the loop guard.
    pub(crate) recent: Recent,
    /// The tools that a model was shown in the session.
    pub(crate) listed: Listed,
    state: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// A counter of uses of any session of the toolkit.
    used: AtomicU64,
    /// The number of works that go on without a call.
    work: Arc<AtomicUsize>,
}

impl Session {
    fn new(id: String, named: bool) -> Arc<Self> {
        Arc::new(Self {
            id,
            named,
            gate: Gate::default(),
            recent: Recent::default(),
            listed: Listed::default(),
            state: Mutex::default(),
            used: AtomicU64::new(0),
            work: Arc::default(),
        })
    }

    /// Creates an unnamed session, which belongs to one toolbox.
    pub(crate) fn unnamed() -> Arc<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self::new(format!("unnamed-{:x}-{}-{number}", since.as_micros(), std::process::id()), false)
    }

    /// Returns the number of works that go on without a call.
    pub(crate) fn work(&self) -> &Arc<AtomicUsize> {
        &self.work
    }

    /// Returns true if a host named the session.
    pub(crate) fn is_named(&self) -> bool {
        self.named
    }

    /// Returns the id; unnamed sessions have one too.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the value of this type, created at its first use.
    pub(crate) fn state<T: Service + Default>(&self) -> Arc<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let value = state.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// Returns the value of this type, if it was created.
    pub(crate) fn state_if_made<T: Service>(&self) -> Option<Arc<T>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(state.get(&TypeId::of::<T>())?).downcast().ok()
    }

    /// Drops the values that calls have created; calls that hold one keep it.
    fn drop_state(&self) {
        let state = std::mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        for value in state.into_values() {
            // Values of tools may panic when they are dropped.
            let _ = guard("session", || drop(value));
        }
    }

    fn is_empty(&self) -> bool {
        let has_no_state = self.state.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        has_no_state && !self.recent.is_suspicious() && self.listed.is_empty()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).field("named", &self.named).finish_non_exhaustive()
    }
}

/// The sessions of a toolkit, by their id.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_id: Mutex<Table>,
    hooks: EndHooks,
}

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<String, Arc<Session>>,
    uses: u64,
    /// The number of sessions from which on unused ones are searched and removed.
    full: usize,
}

impl Sessions {
    pub(crate) fn new(hooks: EndHooks) -> Self {
        Self { by_id: Mutex::default(), hooks }
    }

    /// Returns the session of this id, and creates it if needed.
    pub(crate) fn open(&self, id: &str) -> Arc<Session> {
        let mut table = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        table.uses += 1;
        let uses = table.uses;
        let mut removed = Vec::new();
        let session = match table.sessions.get(id) {
            Some(session) => Arc::clone(session),
            None => {
                if table.sessions.len() >= table.full {
                    removed = table.clean();
                }
                let session = Session::new(id.to_owned(), true);
                table.sessions.insert(id.to_owned(), Arc::clone(&session));
                session
            }
        };
        session.used.store(uses, Ordering::Relaxed);
        drop(table);
        self.ended(removed);
        session
    }

    /// Returns the session of this id, if there is one.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner).sessions.get(id).map(Arc::clone)
    }

    /// Removes a session, and its state even where a call or a toolbox still refers to it; running calls keep the values that they hold.
    pub(crate) fn end(&self, id: &str) -> bool {
        let ended = self.by_id.lock().unwrap_or_else(PoisonError::into_inner).sessions.remove(id);
        let is_there = ended.is_some();
        // A call that does not end keeps the session, but none of its values that it does not hold itself.
        if let Some(session) = &ended {
            session.drop_state();
        }
        self.ended(ended);
        is_there
    }

    /// Removes all sessions, and their state even where a toolbox still refers to it.
    pub(crate) fn end_all(&self) {
        let sessions =
            std::mem::take(&mut self.by_id.lock().unwrap_or_else(PoisonError::into_inner).sessions);
        for session in sessions.values() {
            session.drop_state();
        }
        self.ended(sessions.into_values());
    }

    /// Drops sessions and runs the hooks for their end, without the lock: both are code of tools and hosts.
    fn ended(&self, sessions: impl IntoIterator<Item = Arc<Session>>) {
        for session in sessions {
            let id = session.id.clone();
            drop(session);
            self.hooks.session_ended(&id);
        }
    }
}

impl Table {
    /// Removes sessions that are not needed, and returns them.
    fn clean(&mut self) -> Vec<Arc<Session>> {
        let is_idle = |session: &Arc<Session>| Arc::strong_count(session) == 1;
        let unused = self.sessions.extract_if(|_, session| is_idle(session) && session.is_empty());
        let mut removed: Vec<Arc<Session>> = unused.map(|(_, session)| session).collect();
        let mut idle: Vec<(u64, String)> = self
            .sessions
            .iter()
            .filter(|(_, session)| is_idle(session))
            .map(|(id, session)| (session.used.load(Ordering::Relaxed), id.clone()))
            .collect();
        if idle.len() > MAX_IDLE {
            idle.sort_unstable();
            let surplus = idle.len() - MAX_IDLE;
            for (_, id) in idle.drain(..surplus) {
                removed.extend(self.sessions.remove(&id));
            }
        }
        self.full = (self.sessions.len() * 2).max(256);
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_lives_with_its_session() {
        let sessions = Sessions::default();
        *sessions.open("a").state::<Mutex<u32>>().lock().unwrap() = 5;
        assert_eq!(*sessions.open("a").state::<Mutex<u32>>().lock().unwrap(), 5);
        assert_eq!(*sessions.open("b").state::<Mutex<u32>>().lock().unwrap(), 0);
        assert!(sessions.end("a"));
        assert!(!sessions.end("a"));
        assert_eq!(*sessions.open("a").state::<Mutex<u32>>().lock().unwrap(), 0);
    }

    #[test]
    fn a_session_that_ends_gives_up_its_state_although_a_call_holds_it() {
        let sessions = Sessions::default();
        let held = sessions.open("a");
        let state = Arc::downgrade(&held.state::<Mutex<u32>>());
        assert!(sessions.end("a"));
        assert!(state.upgrade().is_none());
    }

    #[test]
    fn sessions_that_nobody_needs_go() {
        let sessions = Sessions::default();
        let held = sessions.open("held");
        sessions.open("first").state::<Mutex<u32>>();
        for number in 0..50_000 {
            let session = sessions.open(&format!("s{number}"));
            if number % 2 == 0 {
                session.state::<Mutex<u32>>();
            }
        }
        let table = sessions.by_id.lock().unwrap();
        assert!(table.sessions.len() < 3 * MAX_IDLE, "{}", table.sessions.len());
        assert!(Arc::ptr_eq(&held, &table.sessions["held"]));
        assert!(!table.sessions.contains_key("first"), "the one used longest ago goes first");
        assert!(table.sessions.contains_key("s49998"));
    }

    #[test]
    fn unnamed_sessions_differ() {
        assert_ne!(Session::unnamed().id(), Session::unnamed().id());
    }
}
