//! The principal that sends a request, and the session that the request belongs to.

use super::{Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use toolkit::files::SharedReads;

/// Maximum number of sessions that are kept of principals of the protocol without sessions. The one that was not used for the
/// longest time is ended first.
const MAX_SESSIONS: usize = 1_000;
/// Maximum number of sessions of one connection: a proxy may send the requests of several services through one.
const MAX_PER_CONNECTION: usize = 16;
/// Bounds of the pause between two searches for idle sessions.
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// The sender of a request, by a name that belongs to one person or program.
///
/// An authenticating layer adds it to the extensions of the HTTP request. All requests of one principal share a session, which ends
/// after a time without a request, so give each client a separate principal. Requests without one share a session with the requests of the same [`Connection`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

impl Principal {
    #[cfg(feature = "http")]
    fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Self>().cloned()
    }

    #[cfg(not(feature = "http"))]
    fn of(_context: &RequestContext<RoleServer>) -> Option<Self> {
        None
    }
}

/// A connection, which owns the sessions of its requests without a [`Principal`].
///
/// [`serve_http`](crate::serve_http) adds a clone to the extensions of each request. A host with its own listener does the same;
/// otherwise each request without a principal has a separate session. The sessions end when the last clone is dropped.
#[derive(Clone, Default)]
pub struct Connection(Arc<Mutex<SessionsOfConnection>>);

/// The sessions of one connection, by the service.
type SessionsOfConnection = Vec<(Weak<Stateless>, ToolServer)>;

impl Connection {
    /// A new connection.
    pub fn new() -> Self {
        Self::default()
    }

    #[cfg(feature = "http")]
    fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Self>().cloned()
    }

    #[cfg(not(feature = "http"))]
    fn of(_context: &RequestContext<RoleServer>) -> Option<Self> {
        None
    }

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
        let server = service.with(Sessions::default());
        sessions.push((Arc::downgrade(service), server.clone()));
        server
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The principal of a server's requests, and their sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// The principal of all requests, if it is known from the beginning.
    principal: Option<Principal>,
    /// The owner of a session of the protocol: the sender of its first request.
    owner: OnceLock<Option<Principal>>,
    /// Sessions of requests without a protocol session; `None` if all requests belong to this server.
    stateless: Option<Arc<Stateless>>,
    /// Counts this server, as long as it lives.
    _live: Option<Live>,
}

/// Sessions of requests without a protocol session: one for each principal, else one for each connection.
#[derive(Debug)]
pub(crate) struct Stateless {
    base: ToolServer,
    /// Read states that are shared by the sessions which belong to a connection alone. A client's next request may come by another
    /// connection, since HTTP libraries close idle ones, and then nothing identifies the client.
    reads: SharedReads,
    known: Mutex<Known>,
    /// Time for which the session of a principal is kept without a request.
    idle: Duration,
    live: Arc<AtomicUsize>,
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
    server: ToolServer,
    /// The time of the last request, as far as it was noticed.
    used: Instant,
}

/// Removes the read states that the sessions shared.
impl Drop for Stateless {
    fn drop(&mut self) {
        self.base.0.toolkit.end_session(&self.reads.group);
    }
}

#[derive(Debug)]
struct Live(Arc<AtomicUsize>);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "over standard streams there is one client"))]
impl Stateless {
    /// Creates the sessions for all clients of one server, each a copy of `base`. The session of a principal ends after the time `idle`
    /// without a request. Read states of a connection's session count for those of other connections for the same time.
    pub(crate) fn new(base: ToolServer, idle: Duration) -> Arc<Self> {
        let reads = SharedReads::new(super::session_id(), idle);
        Arc::new(Self { base, reads, known: Mutex::default(), idle, live: Arc::default() })
    }

    /// The number of servers made by [`server`](Self::server) that are still there.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// A server for one session of the protocol, or for one request.
    pub(crate) fn server(self: &Arc<Self>) -> ToolServer {
        self.live.fetch_add(1, Ordering::Relaxed);
        let live = Some(Live(Arc::clone(&self.live)));
        self.with(Sessions { stateless: Some(Arc::clone(self)), _live: live, ..Sessions::default() })
    }

    fn with(&self, sessions: Sessions) -> ToolServer {
        let Shared { toolkit, caller, options, suspended, outputs, .. } = &*self.base.0;
        let mut caller = caller.clone();
        caller.session_id = Some(super::session_id());
        if sessions.principal.is_none() && sessions.stateless.is_none() {
            caller.shared_reads.get_or_insert_with(|| self.reads.clone());
        }
        let (suspended, outputs) = (Arc::clone(suspended), Arc::clone(outputs));
        ToolServer::of_sessions(toolkit.clone(), caller, options.clone(), sessions, suspended, outputs)
    }

    /// The session of a request.
    fn of(self: &Arc<Self>, principal: Option<Principal>, connection: Option<&Connection>) -> ToolServer {
        match (principal, connection) {
            (Some(principal), _) => self.of_principal(principal),
            (None, Some(connection)) => connection.session(self),
            (None, None) => self.with(Sessions::default()),
        }
    }

    fn of_principal(self: &Arc<Self>, principal: Principal) -> ToolServer {
        let mut known = lock(&self.known);
        let place = known.sessions.iter().position(|other| other.principal == principal);
        let found = place.and_then(|place| known.sessions.remove(place));
        let server = found.map_or_else(
            || self.with(Sessions { principal: Some(principal.clone()), ..Sessions::default() }),
            |found| found.server,
        );
        let ended = if known.sessions.len() >= MAX_SESSIONS { known.sessions.pop_front() } else { None };
        known.sessions.push_back(OfPrincipal { principal, server: server.clone(), used: Instant::now() });
        if !std::mem::replace(&mut known.is_watched, true) {
            tokio::spawn(end_idle(Arc::downgrade(self), self.idle));
        }
        // Code that ends a session must not wait for this lock.
        drop(known);
        drop(ended);
        server
    }

    /// Removes the sessions without a request for the time `idle` before `now`; also returns true if no other one is left. A session
    /// with a request in progress is in use.
    fn take_idle(&self, now: Instant) -> (Vec<ToolServer>, bool) {
        let mut known = lock(&self.known);
        let mut idle = Vec::new();
        for mut session in std::mem::take(&mut known.sessions) {
            if Arc::strong_count(&session.server.0) > 1 {
                session.used = now;
            }
            if now.saturating_duration_since(session.used) < self.idle {
                known.sessions.push_back(session);
            } else {
                idle.push(session.server);
            }
        }
        known.is_watched = !known.sessions.is_empty();
        (idle, !known.is_watched)
    }
}

/// Ends the idle sessions of principals, as long as there are sessions.
async fn end_idle(stateless: Weak<Stateless>, idle: Duration) {
    let pause = (idle / 4).clamp(MIN_PAUSE, MAX_PAUSE);
    loop {
        tokio::time::sleep(pause).await;
        let Some(stateless) = stateless.upgrade() else { return };
        // The sessions end when they are dropped here, without the lock.
        let (_, is_done) = stateless.take_idle(Instant::now());
        if is_done {
            return;
        }
    }
}

impl Shared {
    /// The sender of the requests of this session, if one is known.
    pub(super) fn principal(&self) -> Option<&Principal> {
        let Sessions { principal, owner, .. } = &self.sessions;
        principal.as_ref().or_else(|| owner.get()?.as_ref())
    }
}

impl ToolServer {
    /// Returns the server for a request.
    pub(super) fn of(&self, context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let Sessions { owner, stateless, .. } = &self.0.sessions;
        let principal = Principal::of(context);
        let Some(stateless) = stateless else { return Ok(self.clone()) };
        if is_stateless(context) {
            return Ok(stateless.of(principal, Connection::of(context).as_ref()));
        }
        if *owner.get_or_init(|| principal.clone()) == principal {
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
        let of = |name: &str| stateless.of_principal(Principal(name.to_owned()));
        let session = |server: &ToolServer| server.0.caller.session_id.clone().unwrap();
        let busy = of("ada");
        let gone = session(&of("eve"));
        let start = Instant::now();
        assert!(stateless.take_idle(start).0.is_empty());
        let (ended, is_done) = stateless.take_idle(start + idle);
        assert_eq!((ended.iter().map(session).collect::<Vec<_>>(), is_done), (vec![gone.clone()], false));
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
