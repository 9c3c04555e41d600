//! The session that a request belongs to, and the background jobs and approvals that belong to a principal.
//!
//! ```text
//! protocol up to 2025-11-25     one ToolServer for each session of the protocol: its roots, its list of tools
//! protocol of 2026-07-28        one for each principal, else one for each connection
//!        └─ OwnedSession        background jobs and approvals: one for each principal, else one for each of these servers
//! ```

use super::sender::{self, Sender};
use super::watched::Owned;
use super::{Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, futures::Notified};
use toolkit::{Toolkit, files::SharedReads};
use toolkit_serve::{Connection, Principal, Revocation};

/// Maximum number of principals whose sessions are kept. The one that was not used for the longest time is ended first, if any is unused.
const MAX_SESSIONS: usize = 1_000;
/// Maximum number of sessions of one connection: a proxy may send the requests of several services through one.
const MAX_PER_CONNECTION: usize = 16;
/// Bounds of the pause between two searches for idle sessions.
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// The end of a connection's session, as a tool names it.
const END_OF_CONNECTION: &str = "the connection of this client ends, because the client has no token of its own (`toolkit mcp token add`)";

/// Returns the pause between two searches for sessions that are idle for a time.
pub(crate) fn pause(idle: Duration) -> Duration {
    (idle / 4).clamp(MIN_PAUSE, MAX_PAUSE)
}

/// A session of the toolkit: its background jobs, its approvals, its read states. It ends when its last holder is dropped.
#[derive(Debug)]
pub(super) struct OwnedSession {
    toolkit: Toolkit,
    pub(super) id: String,
}

impl OwnedSession {
    /// Creates a session that no other client has.
    pub(super) fn new(toolkit: &Toolkit) -> Arc<Self> {
        Arc::new(Self { toolkit: toolkit.clone(), id: super::session_id() })
    }
}

impl Drop for OwnedSession {
    fn drop(&mut self) {
        self.toolkit.end_session(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sessions of one connection, by the service; they end with the connection.
#[derive(Default)]
struct OfConnection(Mutex<Vec<(Weak<Stateless>, ToolServer)>>);

impl OfConnection {
    /// The session of this connection with a service.
    fn session(&self, service: &Arc<Stateless>) -> ToolServer {
        let mut sessions = lock(&self.0);
        let found = sessions.iter().find(|(other, _)| std::ptr::eq(other.as_ptr(), Arc::as_ptr(service)));
        if let Some((_, server)) = found {
            return server.clone();
        }
        if sessions.len() >= MAX_PER_CONNECTION {
            sessions.remove(0);
        }
        let server = service.of_connection();
        sessions.push((Arc::downgrade(service), server.clone()));
        server
    }
}

/// The principal of a server's requests, and their sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The owner of the server: the principal that began a session of the protocol, or whose requests have no such session.
    owner: OnceLock<Option<Principal>>,
    /// Sessions of requests without a protocol session; `None` if all requests belong to this server.
    stateless: Option<Arc<Stateless>>,
    /// The place of this server, if it has one.
    _place: Option<Place>,
}

/// Sessions of requests without a protocol session, and the jobs and approvals of principals.
#[derive(Debug)]
pub(crate) struct Stateless {
    base: ToolServer,
    /// Read states that are shared by the sessions which belong to a connection alone. A client's next request may come by another
    /// connection, since HTTP libraries close idle ones, and then nothing identifies the client.
    reads: SharedReads,
    known: Mutex<Known>,
    /// Time for which the session of a principal is kept without a request.
    idle: Duration,
    places: Arc<Places>,
}

/// The servers that are there: of sessions of the protocol, and of requests without one.
#[derive(Debug, Default)]
struct Places {
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_principal: HashMap<Principal, usize>,
}

/// The place of a server, as long as it lives.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    principal: Option<Principal>,
}

/// The limit that leaves no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    OfAll,
    OfPrincipal,
}

impl Drop for Place {
    fn drop(&mut self) {
        {
            let mut taken = lock(&self.places.taken);
            taken.all -= 1;
            if let Some(principal) = &self.principal
                && let Some(count) = taken.by_principal.get_mut(principal)
            {
                *count -= 1;
                if *count == 0 {
                    taken.by_principal.remove(principal);
                }
            }
        }
        self.places.freed.notify_waiters();
    }
}

/// The sessions of principals, the one that was used last at the end.
#[derive(Debug, Default)]
struct Known {
    sessions: VecDeque<OfPrincipal>,
    /// True if a task ends the sessions that are idle.
    is_watched: bool,
}

/// The session of a principal.
#[derive(Debug)]
struct OfPrincipal {
    principal: Principal,
    /// The server of its requests without a protocol session.
    server: ToolServer,
    session: Arc<OwnedSession>,
    /// The time of the last request, as far as it was noticed.
    used: Instant,
    /// The task that ends it when the last token of the principal is revoked.
    _revoked: Option<Owned>,
}

impl OfPrincipal {
    /// Returns true if a request of the principal is in progress, or a session of the protocol is open.
    fn is_used(&self) -> bool {
        // One count is the entry's own, and one of the session is the server's.
        Arc::strong_count(&self.server.0) > 1 || Arc::strong_count(&self.session) > 2
    }
}

/// Removes the read states that the sessions shared.
impl Drop for Stateless {
    fn drop(&mut self) {
        self.base.0.toolkit.end_session(&self.reads.group);
    }
}

#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "over standard streams there is one client"))]
impl Stateless {
    /// Creates the sessions for all clients of one server, each a copy of `base`. The session of a principal ends after the time `idle`
    /// without a request. Read states of a connection's session count for those of other connections for the same time.
    pub(crate) fn new(base: ToolServer, idle: Duration) -> Arc<Self> {
        let reads = SharedReads::new(super::session_id(), idle);
        Arc::new(Self { base, reads, known: Mutex::default(), idle, places: Arc::default() })
    }

    /// Takes a place for a server, if fewer than `most` are taken, and fewer than `most_of_principal` by the principal.
    pub(crate) fn take_place(
        &self,
        principal: Option<&Principal>,
        most: usize,
        most_of_principal: usize,
    ) -> Result<Place, NoPlace> {
        let mut taken = lock(&self.places.taken);
        let own =
            principal.and_then(|principal| taken.by_principal.get(principal)).copied().unwrap_or_default();
        if own >= most_of_principal {
            return Err(NoPlace::OfPrincipal);
        }
        if taken.all >= most {
            return Err(NoPlace::OfAll);
        }
        taken.all += 1;
        if let Some(principal) = principal {
            taken.by_principal.insert(principal.clone(), own + 1);
        }
        Ok(Place { places: Arc::clone(&self.places), principal: principal.cloned() })
    }

    /// Waits until a place is free, from now on.
    pub(crate) fn freed(&self) -> Notified<'_> {
        self.places.freed.notified()
    }

    /// The toolkit of all clients.
    pub(crate) fn toolkit(&self) -> &Toolkit {
        &self.base.0.toolkit
    }

    /// A server for one session of the protocol, or for one request. A principal's background jobs and approvals are those of all its
    /// sessions.
    pub(crate) fn server(self: &Arc<Self>, sender: Sender, place: Place) -> ToolServer {
        let (owner, stateless) = (OnceLock::from(sender.principal.clone()), Some(Arc::clone(self)));
        let sessions = Sessions { owner, stateless, _place: Some(place) };
        let session = match &sender.principal {
            Some(principal) => self.of_principal(principal, sender.revocation).1,
            None => OwnedSession::new(&self.base.0.toolkit),
        };
        self.with(sessions, session, |_| {})
    }

    /// A server for the requests of one connection without a principal.
    pub(super) fn of_connection(&self) -> ToolServer {
        let session = OwnedSession::new(&self.base.0.toolkit);
        self.with(Sessions::default(), session, |caller| {
            caller.shared_reads.get_or_insert_with(|| self.reads.clone());
            caller.session_end = Some(END_OF_CONNECTION.to_owned());
        })
    }

    fn with(
        &self,
        sessions: Sessions,
        session: Arc<OwnedSession>,
        change: impl FnOnce(&mut toolkit::Caller),
    ) -> ToolServer {
        let Shared { toolkit, caller, options, suspended, outputs, .. } = &*self.base.0;
        let mut caller = caller.clone();
        caller.session_id = Some(session.id.clone());
        change(&mut caller);
        let (suspended, outputs) = (Arc::clone(suspended), Arc::clone(outputs));
        ToolServer::of_parts(
            toolkit.clone(),
            caller,
            options.clone(),
            sessions,
            suspended,
            outputs,
            Some(session),
        )
    }

    /// The session of a request without a protocol session.
    fn of(self: &Arc<Self>, sender: Sender, connection: Option<&Connection>) -> ToolServer {
        match (&sender.principal, connection) {
            (Some(principal), _) => self.of_principal(principal, sender.revocation).0,
            (None, Some(connection)) => connection.attached::<OfConnection>().session(self),
            (None, None) => self.of_connection(),
        }
    }

    /// Returns the server of a principal's requests without a protocol session, and the session of all its requests.
    fn of_principal(
        self: &Arc<Self>,
        principal: &Principal,
        revocation: Option<Revocation>,
    ) -> (ToolServer, Arc<OwnedSession>) {
        let mut known = lock(&self.known);
        let place = known.sessions.iter().position(|other| other.principal == *principal);
        let found = place.and_then(|place| known.sessions.remove(place));
        let mut entry = found.unwrap_or_else(|| {
            let session = OwnedSession::new(&self.base.0.toolkit);
            let owner = OnceLock::from(Some(principal.clone()));
            let server = self.with(Sessions { owner, ..Sessions::default() }, Arc::clone(&session), |_| {});
            let revoked = revocation.map(|revocation| {
                Owned::new(end_revoked(Arc::downgrade(self), principal.clone(), revocation))
            });
            let used = Instant::now();
            OfPrincipal { principal: principal.clone(), server, session, used, _revoked: revoked }
        });
        entry.used = Instant::now();
        let needed = (entry.server.clone(), Arc::clone(&entry.session));
        let mut ended = None;
        if known.sessions.len() >= MAX_SESSIONS {
            // Of those that nobody uses, one whose end ends no job; if all are in use, none.
            let toolkit = &self.base.0.toolkit;
            let has_jobs = |other: &OfPrincipal| toolkit.has_background_work(&other.session.id);
            let mut unused = known.sessions.iter().enumerate().filter(|(_, other)| !other.is_used());
            let oldest = unused.clone().find(|(_, other)| !has_jobs(other)).or_else(|| unused.next());
            ended = oldest.map(|(place, _)| place).and_then(|place| known.sessions.remove(place));
        }
        known.sessions.push_back(entry);
        if !std::mem::replace(&mut known.is_watched, true) {
            tokio::spawn(end_idle(Arc::downgrade(self), self.idle));
        }
        // Code that ends a session must not wait for this lock.
        drop(known);
        drop(ended);
        needed
    }

    /// Ends the background jobs, the approvals, the waiting calls and the outputs of a principal.
    fn end_principal(&self, principal: &Principal) {
        let ended = {
            let mut known = lock(&self.known);
            let place = known.sessions.iter().position(|other| other.principal == *principal);
            place.and_then(|place| known.sessions.remove(place))
        };
        self.base.0.suspended.end(principal);
        self.base.0.outputs.end(principal);
        if let Some(ended) = ended {
            // A call that still runs holds the session.
            self.base.0.toolkit.end_session(&ended.session.id);
        }
    }

    /// Removes the sessions without a request for the time `idle` before `now`; also returns true if no other one is left. A session
    /// with a request in progress, or with an open session of the protocol, is in use.
    fn take_idle(&self, now: Instant) -> (Vec<OfPrincipal>, bool) {
        let mut known = lock(&self.known);
        let mut idle = Vec::new();
        for mut session in std::mem::take(&mut known.sessions) {
            if session.is_used() {
                session.used = now;
            }
            if now.saturating_duration_since(session.used) < self.idle {
                known.sessions.push_back(session);
            } else {
                idle.push(session);
            }
        }
        known.is_watched = !known.sessions.is_empty();
        (idle, !known.is_watched)
    }
}

/// Ends the idle sessions of principals, as long as there are sessions.
async fn end_idle(stateless: Weak<Stateless>, idle: Duration) {
    loop {
        tokio::time::sleep(pause(idle)).await;
        let Some(stateless) = stateless.upgrade() else { return };
        // The sessions end when they are dropped here, without the lock.
        let (_, is_done) = stateless.take_idle(Instant::now());
        if is_done {
            return;
        }
    }
}

/// Ends all of a principal when its last token is revoked.
async fn end_revoked(stateless: Weak<Stateless>, principal: Principal, revocation: Revocation) {
    let revoked = revocation.principal_revoked();
    // The session of the principal does not keep one of its tokens.
    drop(revocation);
    revoked.await;
    if let Some(stateless) = stateless.upgrade() {
        stateless.end_principal(&principal);
    }
}

impl Shared {
    /// The sender of the requests of this session, if one is known.
    pub(super) fn principal(&self) -> Option<&Principal> {
        self.sessions.owner.get()?.as_ref()
    }
}

impl ToolServer {
    /// Returns the server for a request.
    pub(super) fn of(&self, context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let Sessions { owner, stateless, .. } = &self.0.sessions;
        let Some(stateless) = stateless else { return Ok(self.clone()) };
        let sender = Sender::of(context);
        if is_stateless(context) {
            return Ok(stateless.of(sender, sender::connection(context).as_ref()));
        }
        if *owner.get_or_init(|| sender.principal.clone()) == sender.principal {
            return Ok(self.clone());
        }
        Err(ErrorData::invalid_request(
            "this session belongs to another client; initialize a session of your own",
            None,
        ))
    }
}

/// Returns true if a request is of the protocol without sessions, in which servers also send no requests to a client.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use toolkit::{Caller, Toolkit};

    #[tokio::test]
    async fn a_session_of_a_principal_ends_once_it_is_idle_and_has_no_request() {
        let idle = Duration::from_mins(30);
        let base = ToolServer::new(Toolkit::empty().build().unwrap(), Caller::new());
        let stateless = Stateless::new(base, idle);
        let sender = |name: &str| Sender { principal: Some(Principal(name.to_owned())), revocation: None };
        let of = |name: &str| stateless.of(sender(name), None);
        let session = |server: &ToolServer| server.0.caller.session_id.clone().unwrap();
        let busy = of("ada");
        let gone = session(&of("eve"));
        let start = Instant::now();
        assert!(stateless.take_idle(start).0.is_empty());
        let (ended, is_done) = stateless.take_idle(start + idle);
        assert_eq!(
            (ended.iter().map(|ended| session(&ended.server)).collect::<Vec<_>>(), is_done),
            (vec![gone.clone()], false)
        );
        // The request ends, and the time begins.
        let own = session(&busy);
        drop(busy);
        assert!(stateless.take_idle(start + idle + idle / 2).0.is_empty());
        assert_eq!(session(&of("ada")), own);
        assert_ne!(session(&of("eve")), gone);
        let (ended, is_done) = stateless.take_idle(Instant::now() + idle + idle);
        assert_eq!((ended.len(), is_done), (2, true));
    }
}
