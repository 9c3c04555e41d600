//! The principal that sends a request, and the session that the request belongs to.

use super::{Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use toolkit::files::SharedReads;

/// Maximum number of sessions that are kept of principals of the protocol without sessions. The one that was not used for the
/// longest time is ended first.
const MAX_SESSIONS: usize = 1_000;
/// Maximum number of sessions of one connection: a proxy may send the requests of several services through one.
const MAX_PER_CONNECTION: usize = 16;

/// The sender of a request, by a name that belongs to one person or program.
///
/// An authenticating layer adds it to the extensions of the HTTP request. All requests of one principal share a session, so give
/// each client a separate principal. Requests without one share a session with the requests of the same [`Connection`].
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
    known: Mutex<VecDeque<(Principal, ToolServer)>>,
    live: Arc<AtomicUsize>,
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
    /// Creates the sessions for all clients of one server, each a copy of `base`. Read states of a connection's session count for
    /// those of other connections for the time `idle`.
    pub(crate) fn new(base: ToolServer, idle: Duration) -> Arc<Self> {
        let reads = SharedReads::new(super::session_id(), idle);
        Arc::new(Self { base, reads, known: Mutex::default(), live: Arc::default() })
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

    fn of_principal(&self, principal: Principal) -> ToolServer {
        let mut known = lock(&self.known);
        let found =
            known.iter().position(|(other, _)| *other == principal).and_then(|place| known.remove(place));
        let (principal, server) = found.unwrap_or_else(|| {
            let sessions = Sessions { principal: Some(principal.clone()), ..Sessions::default() };
            (principal, self.with(sessions))
        });
        let ended = if known.len() >= MAX_SESSIONS { known.pop_front() } else { None };
        known.push_back((principal, server.clone()));
        // Code that ends a session must not wait for this lock.
        drop(known);
        drop(ended);
        server
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
