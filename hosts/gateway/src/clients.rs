//! Clients that serve tools to sessions: MCP in reverse, over a connection that they made.
//!
//! ```text
//! socket ◄──► link ◄──► MCP client ──► tools of the attached sessions
//!               │
//!               └── outlives a socket that drops; the client comes back with its resume id, and nothing is lost
//! ```
//!
//! A link belongs to a person, and ends with the token by which its client came. A call whose result comes later is a row of the store until
//! its one result is a message of the session.

mod deferring;
mod limits;
mod link;
mod queue;
mod result;
mod serving;
mod upkeep;

pub use limits::ClientLimits;
pub(crate) use link::{Connected, Link, Next, Received};
pub(crate) use result::ResultOfClient;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolkit::Toolkit;
use toolkit_mcp::{ClientOptions, SessionServers};

use crate::people::Access;
use crate::session_tools::session_of;
use crate::sessions::WeakSessions;
use crate::store::{CallEnd, ClientCall, Ended, Store, StoreError};
use crate::{SessionKey, Sessions};

/// The bytes of a resume id.
const RESUME_BYTES: usize = 16;

/// The clients of a gateway that serve tools. Cheap to clone.
#[derive(Clone)]
pub struct Clients(Arc<Inner>);

struct Inner {
    store: Store,
    limits: ClientLimits,
    servers: SessionServers,
    at_work: OnceLock<AtWork>,
    /// The links, by the digest of the resume id.
    links: Mutex<HashMap<String, Arc<Link>>>,
    /// Notified when a call is deferred.
    deferred: Arc<Notify>,
    /// Sockets of known people.
    sockets: AtomicUsize,
}

struct AtWork {
    toolkit: Toolkit,
    sessions: WeakSessions,
    /// Cancelled when the gateway ends.
    shutdown: CancellationToken,
}

/// A client that says who it is.
pub(crate) struct Hello {
    pub(crate) access: Access,
    pub(crate) name: String,
    pub(crate) sessions: BTreeSet<SessionKey>,
    /// The session that it names first.
    pub(crate) first_session: SessionKey,
    /// The id by which it comes back.
    pub(crate) resume: Option<String>,
}

/// The link of a client that said who it is.
pub(crate) struct Joined {
    pub(crate) link: Arc<Link>,
    /// The id by which it comes back, which nobody else knows.
    pub(crate) resume: String,
    /// True if the link was there: messages go on where they were.
    pub(crate) is_resumed: bool,
}

/// Why a client is not let in.
#[derive(Debug)]
pub(crate) enum JoinError {
    /// Later it may be.
    Busy(String),
    /// It comes back, and names other sessions than it had.
    OtherSessions,
}

impl Clients {
    /// The clients of a gateway with this store. Their tools are those of [`servers`](Self::servers).
    pub fn new(store: Store, limits: ClientLimits) -> Self {
        let options = ClientOptions::new().named("toolkit-gateway", env!("CARGO_PKG_VERSION"));
        let options = options.most_tools(limits.max_tools).start_within(limits.start_within);
        let servers =
            SessionServers::of_sessions(options, |caller| session_of(caller).map(ToOwned::to_owned));
        Self(Arc::new(Inner {
            store,
            limits,
            servers,
            at_work: OnceLock::new(),
            links: Mutex::default(),
            deferred: Arc::default(),
            sockets: AtomicUsize::new(0),
        }))
    }

    /// The source of the tools, for `Builder::tool_source`.
    pub fn servers(&self) -> SessionServers {
        self.0.servers.clone()
    }

    /// Lets clients come, and ends the calls of those that an ended process has left and that do not come back. The toolkit is one with
    /// [`servers`](Self::servers). Must be called within a tokio runtime.
    pub fn begin(&self, toolkit: &Toolkit, sessions: &Sessions, shutdown: CancellationToken) {
        let at_work = AtWork { toolkit: toolkit.clone(), sessions: sessions.downgrade(), shutdown };
        if self.0.at_work.set(at_work).is_ok() {
            tokio::spawn(upkeep::end_calls(self.clone()));
        }
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &ClientLimits {
        &self.0.limits
    }

    /// Finds the link of a client that comes back, or makes one. Its earlier socket ends.
    ///
    /// # Errors
    ///
    /// The person has too many clients, or one of this name by another token; or the gateway has not begun.
    pub(crate) fn join(&self, hello: Hello) -> Result<Joined, JoinError> {
        let busy = |reason: String| JoinError::Busy(reason);
        let at_work =
            self.0.at_work.get().ok_or_else(|| busy("the gateway begins; try again later".to_owned()))?;
        let mut resume = match &hello.resume {
            Some(resume) => resume.clone(),
            None => new_resume_id().map_err(busy)?,
        };
        let person = hello.access.person.name().to_owned();
        let mut digest = digest_of(&person, &resume);
        let mut links = self.0.links();
        match links.get(&digest) {
            Some(link) if !link.has_ended() => {
                if *link.sessions() != hello.sessions {
                    return Err(JoinError::OtherSessions);
                }
                link.set_access(hello.access);
                return Ok(Joined { link: Arc::clone(link), resume, is_resumed: true });
            }
            // Its calls are about to end: those of the new link are not among them.
            Some(_) => {
                resume = new_resume_id().map_err(busy)?;
                digest = digest_of(&person, &resume);
            }
            None => {}
        }
        let max = self.0.limits.max_clients;
        let of_person = |link: &&Arc<Link>| link.person() == person && !link.has_ended();
        if links.values().filter(of_person).count() >= max {
            return Err(busy(format!("{max} clients of you are connected, the limit; close one of them")));
        }
        // Rules name a client by its name.
        let is_anothers = |link: &&Arc<Link>| {
            of_person(link) && link.name() == hello.name && link.token() != hello.access.token()
        };
        if links.values().any(|link| is_anothers(&link)) {
            return Err(busy(format!(
                "a client by another token has the name `{}`; take another one",
                hello.name
            )));
        }
        let (link, ends) = Link::new(digest.clone(), hello, &self.0.limits);
        let link = Arc::new(link);
        links.insert(digest, Arc::clone(&link));
        drop(links);
        tokio::spawn(serving::serve(self.clone(), Arc::clone(&link), ends, at_work.shutdown.clone()));
        Ok(Joined { link, resume, is_resumed: false })
    }

    /// Ends a deferred call with the result that its client sends. Returns false if there is no such call of the client, or it has ended.
    pub(crate) async fn result(&self, link: &Link, call: String, end: CallEnd) -> Result<bool, StoreError> {
        let ended = self.0.store.end_client_call(call, Some(link.digest().to_owned()), end).await?;
        let is_ended = ended.is_some();
        self.hand_in(ended.into_iter().collect()).await;
        Ok(is_ended)
    }

    /// Cancels a deferred call. Returns false if it has ended.
    pub(crate) async fn cancel(&self, call: &ClientCall) -> Result<bool, StoreError> {
        let ended = self.0.store.end_client_call(call.id.clone(), None, CallEnd::Cancelled).await?;
        let is_ended = ended.is_some();
        let link = self.0.links().get(&call.client).cloned();
        if let Some(link) = link.filter(|_| is_ended) {
            link.tell(&json!({ "type": "cancelled", "call": call.id }));
        }
        self.hand_in(ended.into_iter().collect()).await;
        Ok(is_ended)
    }

    /// Lets sessions notice the results.
    async fn hand_in(&self, ended: Vec<Ended>) {
        let Some(sessions) = self.0.at_work.get().and_then(|at_work| at_work.sessions.upgrade()) else {
            return;
        };
        for (session, message) in ended {
            sessions.handed_in(&session, message).await;
        }
    }

    /// How many clients have tools, and how many sockets are of known people.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let links = self.0.links().values().filter(|link| !link.has_ended()).count();
        (links, self.0.sockets.load(Ordering::Relaxed))
    }

    /// The number of sockets of known people.
    pub(crate) fn sockets(&self) -> &AtomicUsize {
        &self.0.sockets
    }

    fn is_linked(&self, digest: &str) -> bool {
        self.0.links().contains_key(digest)
    }
}

impl Inner {
    fn links(&self) -> MutexGuard<'_, HashMap<String, Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

/// A resume id, under which nobody but its person finds anything.
fn digest_of(person: &str, resume: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(format!("{}/{person}/{resume}", person.len())))
}

fn new_resume_id() -> Result<String, String> {
    let mut bytes = [0; RESUME_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("the gateway has no random numbers: {error}"))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

/// Returns true for a text that may be a resume id.
pub(crate) fn is_resume_id(text: &str) -> bool {
    text.len() == 2 * RESUME_BYTES
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests;
