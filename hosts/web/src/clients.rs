//! The clients: their sessions, and all that belongs to one of them alone.

use crate::access::Access;
use crate::keys::Keys;
use crate::limits::{
    MAX_CLIENT_READ_BYTES, MAX_CLIENT_SENT_BYTES, MAX_CLIENTS, MAX_KEPT_BYTES, MAX_READ_BYTES, MAX_SENT_BYTES,
};
use crate::media::Media;
use crate::room::{Room, Shared};
use data_encoding::BASE32_NOPAD;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolkit::{Caller, Toolkit};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::{Problem, Revocation};

/// Bounds of the pause between two searches for idle clients.
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// The end of a client's session, as a tool names it.
const SESSION_END: &str = "the client makes no request for a long time, or its token is revoked";

/// A client: what all its requests share.
#[derive(Debug)]
pub(crate) struct Client {
    toolkit: Toolkit,
    /// The session of its requests, unless the host names one.
    session: String,
    pub(crate) keys: Arc<Keys>,
    pub(crate) media: Media,
    /// The room for answers and events that are on their way.
    pub(crate) sent: Shared,
    /// The room for arguments that are read.
    pub(crate) read: Shared,
    /// The places of its calls that run at once.
    pub(crate) places: Arc<Semaphore>,
    /// Cancelled when the client is revoked: its calls end.
    pub(crate) ended: CancellationToken,
    /// The ids of its calls that run.
    running: Mutex<HashSet<String>>,
    used: Mutex<Instant>,
    revoked: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Client {
    /// Returns the caller of a request.
    pub(crate) fn caller(&self, access: &Access) -> Caller {
        let mut caller = access.caller().clone();
        if caller.session_id.is_none() {
            caller.session_id = Some(self.session.clone());
            caller.session_end.get_or_insert_with(|| SESSION_END.to_owned());
        }
        caller
    }

    /// Returns the id of the session of a request.
    pub(crate) fn session<'a>(&'a self, access: &'a Access) -> &'a str {
        access.caller().session_id.as_deref().unwrap_or(&self.session)
    }

    /// Notes that a call of the client runs, until the value is dropped.
    pub(crate) fn runs(self: &Arc<Self>, call: &str) -> Running {
        lock(&self.running).insert(call.to_owned());
        Running { client: Arc::clone(self), call: call.to_owned() }
    }

    /// Returns true if a call with this id is one of the client that runs, or one that such a call makes.
    pub(crate) fn has_call(&self, id: &str) -> bool {
        lock(&self.running).contains(id.split('/').next().unwrap_or_default())
    }

    fn used(&self) -> MutexGuard<'_, Instant> {
        lock(&self.used)
    }
}

/// A call of a client that runs.
#[derive(Debug)]
pub(crate) struct Running {
    client: Arc<Client>,
    call: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.client.running).remove(&self.call);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.toolkit.end_session(&self.session);
    }
}

/// All clients, by name.
#[derive(Debug)]
pub(crate) struct Clients {
    toolkit: Toolkit,
    known: Mutex<Known>,
    /// The room for what is kept.
    room: Arc<Room>,
    /// The room for answers and events that are on their way.
    sent: Arc<Room>,
    /// The room for arguments that are read.
    read: Arc<Room>,
    max_calls: usize,
    idle: Duration,
}

#[derive(Debug, Default)]
struct Known {
    clients: HashMap<Arc<str>, Arc<Client>>,
    /// True if a task ends the clients that are idle.
    is_watched: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clients {
    pub(crate) fn new(toolkit: Toolkit, max_calls: usize, idle: Duration) -> Arc<Self> {
        let [room, sent, read] = [MAX_KEPT_BYTES, MAX_SENT_BYTES, MAX_READ_BYTES].map(Room::new);
        Arc::new(Self { toolkit, known: Mutex::default(), room, sent, read, max_calls, idle })
    }

    /// Returns the client of a request; the first one makes it. Must be called within a tokio runtime.
    pub(crate) fn of(self: &Arc<Self>, access: &Access) -> Result<Arc<Client>, Problem> {
        let mut known = lock(&self.known);
        if let Some(client) = known.clients.get(access.client()) {
            *client.used() = Instant::now();
            return Ok(Arc::clone(client));
        }
        let evicted = if known.clients.len() >= MAX_CLIENTS {
            let Some(oldest) = self.oldest_unused(&known) else {
                let text = format!("{MAX_CLIENTS} clients are in use; try later");
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, text).retry_after(MAX_PAUSE));
            };
            known.clients.remove(&oldest)
        } else {
            None
        };
        let client = Arc::new(self.client()?);
        known.clients.insert(Arc::clone(access.client()), Arc::clone(&client));
        if !std::mem::replace(&mut known.is_watched, true) {
            tokio::spawn(end_idle(Arc::downgrade(self), self.idle));
        }
        if let Some(revocation) = access.revocation() {
            let ending = end_revoked(Arc::downgrade(self), Arc::clone(access.client()), revocation.clone());
            *lock(&client.revoked) = Some(AbortOnDropHandle::new(tokio::spawn(ending)));
        }
        // Code that ends a session must not wait for this lock.
        drop(known);
        drop(evicted);
        Ok(client)
    }

    fn client(&self) -> Result<Client, Problem> {
        let mut random = [0; 20];
        getrandom::fill(&mut random).map_err(|error| {
            tracing::error!(%error, "a session cannot begin");
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "no session can begin; the log of the server says why",
            )
        })?;
        Ok(Client {
            toolkit: self.toolkit.clone(),
            session: format!("web_{}", BASE32_NOPAD.encode(&random).to_lowercase()),
            keys: Keys::new(Arc::clone(&self.room)),
            media: Media::new(Arc::clone(&self.room)),
            sent: Shared::new(MAX_CLIENT_SENT_BYTES, Arc::clone(&self.sent)),
            read: Shared::new(MAX_CLIENT_READ_BYTES, Arc::clone(&self.read)),
            places: Arc::new(Semaphore::new(self.max_calls)),
            ended: CancellationToken::new(),
            running: Mutex::default(),
            used: Mutex::new(Instant::now()),
            revoked: Mutex::default(),
        })
    }

    /// Returns the client that was unused for the longest time, if any is unused. A client with background jobs is in use.
    fn oldest_unused(&self, known: &Known) -> Option<Arc<str>> {
        let unused = known.clients.iter().filter(|(_, client)| self.is_unused(client));
        unused.min_by_key(|(_, client)| *client.used()).map(|(name, _)| Arc::clone(name))
    }

    fn is_unused(&self, client: &Arc<Client>) -> bool {
        Arc::strong_count(client) == 1 && !self.toolkit.has_background_work(&client.session)
    }

    /// Removes the clients that were unused for the time `idle`, and what the others keep for too long; also returns true if no other one is left.
    fn take_idle(&self, idle: Duration) -> (Vec<Arc<Client>>, bool) {
        let mut known = lock(&self.known);
        let mut ended = Vec::new();
        known.clients.retain(|_, client| {
            // A request or a call of the client is in progress.
            if Arc::strong_count(client) > 1 {
                *client.used() = Instant::now();
            }
            let is_idle = self.is_unused(client) && client.used().elapsed() >= idle;
            if is_idle {
                ended.push(Arc::clone(client));
            } else {
                client.keys.forget_old();
                client.media.forget_old();
            }
            !is_idle
        });
        known.is_watched = !known.clients.is_empty();
        (ended, !known.is_watched)
    }

    /// Ends all of a client.
    fn end(&self, name: &str) {
        let ended = lock(&self.known).clients.remove(name);
        if let Some(client) = ended {
            client.ended.cancel();
            self.toolkit.end_session(&client.session);
        }
    }

    /// Returns the bytes that are kept of all clients.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.room.taken()
    }

    /// Returns the number of clients, and of results whose files are kept.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let clients: Vec<Arc<Client>> = lock(&self.known).clients.values().cloned().collect();
        (clients.len(), clients.iter().map(|client| client.media.count()).sum())
    }
}

/// Ends clients that are idle, and what others keep for too long, as long as there are clients.
async fn end_idle(clients: Weak<Clients>, idle: Duration) {
    loop {
        tokio::time::sleep((idle / 4).clamp(MIN_PAUSE, MAX_PAUSE)).await;
        let Some(clients) = clients.upgrade() else { return };
        // The sessions end when they are dropped here, without the lock.
        let (_, is_done) = clients.take_idle(idle);
        if is_done {
            return;
        }
    }
}

/// Ends all of a client when its last token is revoked.
async fn end_revoked(clients: Weak<Clients>, name: Arc<str>, revocation: Revocation) {
    let revoked = revocation.principal_revoked();
    // The client does not keep one of its tokens.
    drop(revocation);
    revoked.await;
    if let Some(clients) = clients.upgrade() {
        clients.end(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::keys::Found;
    use crate::limits::{KEY_LIFETIME, MEDIA_LIFETIME};
    use crate::media::Medium;
    use serde_json::json;

    fn clients(idle: Duration) -> Arc<Clients> {
        Clients::new(Toolkit::empty().build().unwrap(), 1, idle)
    }

    fn access(name: &str) -> Access {
        Access::new(name, Caller::new())
    }

    #[tokio::test]
    async fn a_client_has_one_session_that_no_other_has() {
        let clients = clients(Duration::from_mins(1));
        let one = clients.of(&access("a")).unwrap();
        let again = clients.of(&access("a")).unwrap();
        let other = clients.of(&access("b")).unwrap();
        assert_eq!(one.session, again.session);
        assert_ne!(one.session, other.session);
        let named = Access::new("a", Caller::new().with_session("s"));
        assert_eq!(one.caller(&named).session_id.as_deref(), Some("s"));
    }

    #[tokio::test]
    async fn a_client_ends_when_it_is_idle_and_unused() {
        let clients = clients(Duration::from_mins(1));
        let client = clients.of(&access("a")).unwrap();
        assert!(clients.take_idle(Duration::ZERO).0.is_empty());
        drop(client);
        assert!(clients.take_idle(Duration::from_mins(1)).0.is_empty());
        assert_eq!(clients.take_idle(Duration::ZERO).0.len(), 1);
        assert_eq!(clients.counts().0, 0);
    }

    #[tokio::test]
    async fn the_calls_of_a_client_end_with_its_last_token() {
        let clients = clients(Duration::from_mins(1));
        let revocation = Revocation::new();
        let client = clients.of(&access("a").revoked_with(revocation.clone())).unwrap();
        revocation.revoke_principal();
        client.ended.cancelled().await;
        let next = clients.of(&access("a")).unwrap();
        assert_ne!(next.session, client.session);
    }

    #[tokio::test(start_paused = true)]
    async fn kept_answers_and_files_of_a_quiet_client_are_forgotten_by_age() {
        let clients = clients(2 * KEY_LIFETIME);
        let client = clients.of(&access("a")).unwrap();
        let Found::New(mut call) = client.keys.begin("k", [1; 32], CancellationToken::new()) else {
            panic!("the key is new");
        };
        call.start();
        call.finish(&Answer::new(StatusCode::OK, &json!({})));
        let of_keys = clients.kept_bytes();
        let medium = Medium { mime_type: String::new(), name: None, data: vec![7; 1_000].into() };
        client.media.keep(vec![medium]).unwrap();
        drop(client);
        assert_eq!(clients.kept_bytes(), of_keys + 1_000);
        tokio::time::sleep(MEDIA_LIFETIME + MAX_PAUSE).await;
        assert_eq!(clients.kept_bytes(), of_keys);
        tokio::time::sleep(KEY_LIFETIME).await;
        assert_eq!((clients.kept_bytes(), lock(&clients.known).clients.len()), (0, 1));
    }
}
