//! Sessions of the protocol up to 2025-11-25: their principals, their use and their end.
//!
//! rmcp asks [`ProtocolSessions`] for the session that a request names, whatever the request's method and message are. A session of another
//! principal is unknown there, as one that does not exist.

use super::stored_answers::{Answers, Budget, Events, Place};
use crate::server::{Owned, Place as ServerPlace, Sender, pause};
use bytes::Bytes;
use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use toolkit_serve::Principal;

tokio::task_local! {
    /// The sender of the request that rmcp handles in this task.
    static SENDER: Sender;
    /// The server that is made for the request that rmcp handles in this task.
    static MADE: Made;
}

/// The server that is made for a request.
#[derive(Debug, Clone, Default)]
struct Made {
    /// Its place, until it is made.
    place: Arc<Mutex<Option<ServerPlace>>>,
    /// Its session of the toolkit.
    session: Arc<OnceLock<String>>,
}

/// Returns the sender of the request that rmcp handles in this task.
pub(super) fn sender() -> Sender {
    SENDER.try_with(Clone::clone).unwrap_or_default()
}

/// Returns the place for the server of the request that rmcp handles in this task.
pub(super) fn place() -> Option<ServerPlace> {
    MADE.try_with(|made| lock(&made.place).take()).ok().flatten()
}

/// Notes the session of the toolkit that was made for the request that rmcp handles in this task.
pub(super) fn note_made(session: Option<&str>) {
    if let Some(session) = session {
        let _ = MADE.try_with(|made| made.session.set(session.to_owned()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sessions of one service.
#[derive(Debug)]
pub(super) struct ProtocolSessions {
    me: Weak<Self>,
    local: LocalSessionManager,
    known: Mutex<Known>,
    /// Time for which a session is kept without a request in progress and without an open stream.
    idle: Duration,
    budget: Budget,
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<SessionId, Arc<ProtocolSession>>,
    /// True if a task ends the sessions that are idle.
    is_watched: bool,
}

/// A session of the protocol.
#[derive(Debug)]
pub(super) struct ProtocolSession {
    /// The principal that began it, which alone may use it.
    principal: Option<Principal>,
    /// The session of the toolkit that ends with it.
    made: Arc<OnceLock<String>>,
    uses: Mutex<Uses>,
    /// The requests in progress, each with the number of the stream that its answer comes by, once it is known.
    requests: Mutex<HashMap<RequestId, Option<u64>>>,
    answers: Mutex<Answers>,
    /// The tasks that read streams whose clients are gone, by the number of the stream.
    reading: Mutex<HashMap<u64, JoinHandle<()>>>,
    /// The task that ends it when its token is revoked.
    _revoked: Option<Owned>,
}

#[derive(Debug)]
struct Uses {
    count: usize,
    /// The end of the last use.
    last: Instant,
}

impl ProtocolSession {
    /// Keeps the events of a stream whose last one is the answer.
    pub(super) fn keep(&self, events: Events) {
        lock(&self.answers).keep(events, Instant::now());
    }

    /// Remembers the task that reads a stream whose client is gone.
    pub(super) fn reads_on(&self, stream: u64, task: JoinHandle<()>) {
        let mut reading = lock(&self.reading);
        reading.retain(|_, task| !task.is_finished());
        reading.insert(stream, task);
    }

    /// Returns the events of a stream after the last one that the client has read, if its request is answered. The request's stream must
    /// have been taken over or have ended, so that the task that read it ends.
    pub(super) async fn after(&self, last: Place) -> Option<Vec<Bytes>> {
        let task = lock(&self.reading).remove(&last.stream);
        if let Some(task) = task {
            let _ = task.await;
        }
        lock(&self.answers).after(last)
    }

    /// Remembers the number of the stream that the answer to a request in progress comes by.
    pub(super) fn answers_by(&self, request: &RequestId, stream: u64) {
        if let Some(known) = lock(&self.requests).get_mut(request) {
            *known = Some(stream);
        }
    }

    /// Returns the request in progress whose answer comes by a stream.
    pub(super) fn request_of(&self, stream: u64) -> Option<RequestId> {
        let requests = lock(&self.requests);
        let mut of_stream = requests.iter().filter(|(_, known)| **known == Some(stream));
        of_stream.next().map(|(request, _)| request.clone())
    }

    fn is_idle(&self, now: Instant, idle: Duration) -> bool {
        let uses = lock(&self.uses);
        uses.count == 0 && now.saturating_duration_since(uses.last) >= idle
    }
}

/// A use of a session: a request in progress, or an open stream.
#[derive(Debug, Clone)]
pub(super) struct InUse(Arc<Use>);

#[derive(Debug)]
struct Use(Arc<ProtocolSession>);

impl InUse {
    fn of(session: &Arc<ProtocolSession>) -> Self {
        lock(&session.uses).count += 1;
        Self(Arc::new(Use(Arc::clone(session))))
    }

    pub(super) fn session(&self) -> &Arc<ProtocolSession> {
        &self.0.0
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut uses = lock(&self.0.uses);
        uses.count -= 1;
        uses.last = Instant::now();
    }
}

/// A request in progress, which alone has its ID in its session.
#[derive(Debug, Clone)]
pub(super) struct InProgress(
    #[expect(dead_code, reason = "it is held, and dropped with the last clone")] Arc<Progress>,
);

#[derive(Debug)]
struct Progress {
    session: Arc<ProtocolSession>,
    id: RequestId,
}

impl InProgress {
    /// Returns `None` if another request with the ID is in progress.
    pub(super) fn of(session: &Arc<ProtocolSession>, id: RequestId) -> Option<Self> {
        let mut requests = lock(&session.requests);
        let Entry::Vacant(free) = requests.entry(id.clone()) else { return None };
        free.insert(None);
        drop(requests);
        Some(Self(Arc::new(Progress { session: Arc::clone(session), id })))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        lock(&self.session.requests).remove(&self.id);
    }
}

impl ProtocolSessions {
    pub(super) fn new(idle: Duration) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        // The time without a request is measured here, where a call that runs counts as a use.
        local.session_config.keep_alive = None;
        let budget = Budget::default();
        Arc::new_cyclic(|me| Self { me: me.clone(), local, known: Mutex::default(), idle, budget })
    }

    /// Runs the handling of a request of a sender, with a place for the server that is made for it.
    pub(super) async fn handle<T>(
        sender: Sender,
        place: Option<ServerPlace>,
        handling: impl Future<Output = T>,
    ) -> T {
        let made = Made { place: Arc::new(Mutex::new(place)), session: Arc::default() };
        MADE.scope(made, SENDER.scope(sender, handling)).await
    }

    /// Adds a session that the sender of a request begins.
    fn add(&self, id: SessionId) {
        let sender = sender();
        let revoked = sender.revocation.map(|revocation| {
            let (sessions, id) = (self.me.clone(), SessionId::clone(&id));
            Owned::new(async move {
                revocation.token_revoked().await;
                if let Some(sessions) = sessions.upgrade() {
                    sessions.end(id);
                }
            })
        });
        let session = Arc::new(ProtocolSession {
            principal: sender.principal,
            made: MADE.try_with(|made| Arc::clone(&made.session)).unwrap_or_default(),
            uses: Mutex::new(Uses { count: 0, last: Instant::now() }),
            requests: Mutex::default(),
            answers: Mutex::new(Answers::new(self.budget.clone())),
            reading: Mutex::default(),
            _revoked: revoked,
        });
        let mut known = lock(&self.known);
        known.sessions.insert(id, session);
        if !std::mem::replace(&mut known.is_watched, true) {
            tokio::spawn(end_idle(self.me.clone(), self.idle));
        }
    }

    /// Uses a session, if it exists and belongs to the principal.
    pub(super) fn enter(&self, id: &str, principal: Option<&Principal>) -> Option<InUse> {
        let known = lock(&self.known);
        let session = known.sessions.get(id).filter(|session| session.principal.as_ref() == principal)?;
        Some(InUse::of(session))
    }

    /// Ends the session that was not used for the longest time, of a principal or of all, and returns false if there is none. A session in
    /// use stays, and one whose end would end the work that `goes_on` tells of: a principal's work is not its session's.
    pub(super) fn end_longest_idle(
        self: &Arc<Self>,
        principal: Option<&Principal>,
        goes_on: impl Fn(&str) -> bool,
    ) -> bool {
        let ended = {
            let mut known = lock(&self.known);
            let may_end = |session: &ProtocolSession| {
                principal.is_none_or(|principal| session.principal.as_ref() == Some(principal))
                    && (session.principal.is_some() || !session.made.get().is_some_and(|made| goes_on(made)))
            };
            let idle = known.sessions.iter().filter_map(|(id, session)| {
                let uses = lock(&session.uses);
                (uses.count == 0 && may_end(session)).then(|| (uses.last, SessionId::clone(id)))
            });
            let Some((_, id)) = idle.min_by_key(|(last, _)| *last) else { return false };
            known.sessions.remove(&id).map(|session| (id, session))
        };
        if let Some((id, session)) = ended {
            tracing::info!("a session of the protocol that was idle ends, because too many are open");
            self.end(id);
            drop(session);
        }
        true
    }

    /// Ends a session: it is unknown from now on.
    pub(super) fn end(self: &Arc<Self>, id: SessionId) {
        // A session whose own task ends it is dropped after the lock.
        let ended = lock(&self.known).sessions.remove(&id);
        let sessions = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = sessions.local.close_session(&id).await {
                tracing::warn!(%error, "a session did not end");
            }
        });
        drop(ended);
    }

    /// Returns true if the sender of the request that is handled in this task may use a session.
    fn is_of_sender(&self, id: &SessionId) -> bool {
        let principal = sender().principal;
        lock(&self.known).sessions.get(id).is_some_and(|session| session.principal == principal)
    }

    /// Returns the sessions that are idle at a time; also returns true if there is no other one. Drops the answers that are too old.
    fn idle(&self, now: Instant) -> (Vec<SessionId>, bool) {
        let mut known = lock(&self.known);
        let mut idle = Vec::new();
        for (id, session) in &known.sessions {
            lock(&session.answers).expire(now);
            if session.is_idle(now, self.idle) {
                idle.push(SessionId::clone(id));
            }
        }
        known.is_watched = idle.len() < known.sessions.len();
        (idle, !known.is_watched)
    }
}

/// Ends the sessions that are idle, as long as there are sessions.
async fn end_idle(sessions: Weak<ProtocolSessions>, idle: Duration) {
    loop {
        tokio::time::sleep(pause(idle)).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let (ended, is_done) = sessions.idle(Instant::now());
        for id in ended {
            sessions.end(id);
        }
        if is_done {
            return;
        }
    }
}

impl SessionManager for ProtocolSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        // From here on it ends when it is idle, also if the client is gone before it gets the answer.
        self.add(SessionId::clone(&id));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.is_of_sender(id) && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        // The session's own task has no sender.
        let is_request = SENDER.try_with(|_| ()).is_ok();
        if is_request && !self.is_of_sender(id) {
            return Ok(());
        }
        let ended = lock(&self.known).sessions.remove(id);
        drop(ended);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }

    async fn restore_session(&self, _id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        Ok(RestoreOutcome::NotSupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_whose_client_is_gone_before_it_is_begun_ends_when_it_is_idle() {
        let sessions = ProtocolSessions::new(Duration::from_millis(50));
        let ada = Sender { principal: Some(Principal("ada".to_owned())), revocation: None };
        let created = ProtocolSessions::handle(ada.clone(), None, sessions.create_session()).await;
        let (id, transport) = created.unwrap();
        let has = |sender: Sender| ProtocolSessions::handle(sender, None, sessions.has_session(&id));
        assert!(has(ada.clone()).await.unwrap() && !has(Sender::default()).await.unwrap());
        assert!(sessions.enter(&id, ada.principal.as_ref()).is_some());
        assert!(sessions.enter(&id, None).is_none());
        for attempt in 0.. {
            if !sessions.local.has_session(&id).await.unwrap() {
                break;
            }
            assert!(attempt < 200, "it goes on");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(sessions.enter(&id, ada.principal.as_ref()).is_none());
        drop(transport);
    }
}
