//! Who sends a request: one of the clients of a server that has several.

use super::{Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most sessions that are kept of principals who have none of the protocol's; the one that was not used for the longest
/// time goes first.
const MOST: usize = 1_000;

/// Who sends a request, by any name that is one person's or program's alone. A layer that authenticates puts it into the
/// extensions of the HTTP request; without it all requests are one principal's.
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

/// What one server knows of whose requests it gets.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// Whose session of the protocol it is: whoever came first.
    owner: OnceLock<Option<Principal>>,
    /// Where the requests without a session of the protocol go, if not here.
    stateless: Option<Arc<Stateless>>,
    /// Counts this server, as long as it lives.
    _live: Option<Live>,
}

/// A session for each principal whose requests belong to none of the protocol's.
#[derive(Debug)]
pub(crate) struct Stateless {
    base: ToolServer,
    known: Mutex<VecDeque<(Option<Principal>, Arc<Shared>)>>,
    live: Arc<AtomicUsize>,
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
    /// For all clients of one server, which is like `base` for each.
    pub(crate) fn new(base: ToolServer) -> Arc<Self> {
        Arc::new(Self { base, known: Mutex::default(), live: Arc::default() })
    }

    /// How many servers made by [`server`](Self::server) there are.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// A server for one session of the protocol, or for one request.
    pub(crate) fn server(self: &Arc<Self>) -> ToolServer {
        self.live.fetch_add(1, Ordering::Relaxed);
        let live = Some(Live(Arc::clone(&self.live)));
        self.with(Sessions { owner: OnceLock::new(), stateless: Some(Arc::clone(self)), _live: live })
    }

    fn with(&self, sessions: Sessions) -> ToolServer {
        let Shared { toolkit, caller, options, .. } = &*self.base.0;
        let mut caller = caller.clone();
        caller.session_id = Some(super::session_id());
        ToolServer::of_sessions(toolkit.clone(), caller, options.clone(), sessions)
    }

    /// The session of a principal.
    fn of(&self, principal: Option<Principal>) -> ToolServer {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            known.iter().position(|(other, _)| *other == principal).and_then(|place| known.remove(place));
        let (principal, shared) = found.unwrap_or_else(|| (principal, self.with(Sessions::default()).0));
        if known.len() >= MOST {
            known.pop_front();
        }
        known.push_back((principal, Arc::clone(&shared)));
        ToolServer(shared)
    }
}

impl ToolServer {
    /// The server that a request belongs to.
    pub(super) fn of(&self, context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let Sessions { owner, stateless, .. } = &self.0.sessions;
        let principal = Principal::of(context);
        let Some(stateless) = stateless else { return Ok(self.clone()) };
        if is_stateless(context) {
            return Ok(stateless.of(principal));
        }
        if *owner.get_or_init(|| principal.clone()) == principal {
            return Ok(self.clone());
        }
        Err(ErrorData::invalid_request("this session is another's; begin one of your own", None))
    }
}

/// Whether a request is of the protocol without sessions, in which no server asks a client by itself either.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
