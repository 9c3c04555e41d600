//! The link to one client, which outlives its sockets.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::queue::{Arrival, Queue, Sent};
use super::{ClientLimits, Hello};
use crate::SessionKey;
use crate::people::Access;

/// Messages of a client that wait for the MCP client.
const MAX_INCOMING: usize = 4;
/// Notes for a client that is not connected.
const MAX_NOTES: usize = 256;

/// The link to one client.
pub(crate) struct Link {
    digest: String,
    name: String,
    person: String,
    token: String,
    sessions: BTreeSet<SessionKey>,
    first_session: SessionKey,
    max_unsent: usize,
    state: Mutex<State>,
    /// Notified when something is to be sent.
    wake: Notify,
    incoming: mpsc::Sender<String>,
    access: watch::Sender<Access>,
    /// True while a socket is there.
    is_connected: watch::Sender<bool>,
    /// The news of its tools for the client.
    tools: watch::Sender<Option<Value>>,
    ended: CancellationToken,
    why: OnceLock<String>,
}

#[derive(Default)]
struct State {
    queue: Queue,
    notes: VecDeque<String>,
    /// Cancelled when another socket takes the place of the present one.
    present: Option<CancellationToken>,
}

/// The other end of a link, for the task that serves it.
pub(super) struct Ends {
    pub(super) incoming: mpsc::Receiver<String>,
    pub(super) access: watch::Receiver<Access>,
    pub(super) is_connected: watch::Receiver<bool>,
}

/// The outcome of a message that came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It was taken, or was taken before.
    Taken,
    /// It was refused: the client breaks the protocol.
    Refused(String),
    /// The link has ended.
    Ended,
}

/// The next thing to send.
pub(crate) enum Next {
    /// A frame.
    Frame(String),
    /// The link has ended, for this reason.
    Ended(String),
}

impl Link {
    pub(super) fn new(digest: String, hello: Hello, limits: &ClientLimits) -> (Self, Ends) {
        let Hello { access, name, sessions, first_session, .. } = hello;
        let (incoming, messages) = mpsc::channel(MAX_INCOMING);
        let (person, token) = (access.person.name().to_owned(), access.token().to_owned());
        let (access, of_access) = watch::channel(access);
        let (is_connected, of_connected) = watch::channel(true);
        let link = Self {
            digest,
            name,
            person,
            token,
            sessions,
            first_session,
            max_unsent: limits.max_unsent,
            state: Mutex::default(),
            wake: Notify::new(),
            incoming,
            access,
            is_connected,
            tools: watch::Sender::new(None),
            ended: CancellationToken::new(),
            why: OnceLock::new(),
        };
        (link, Ends { incoming: messages, access: of_access, is_connected: of_connected })
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn person(&self) -> &str {
        &self.person
    }

    /// Names the token by which the client came first; it says nothing about the token.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The session that its hello names first.
    pub(crate) fn first_session(&self) -> &SessionKey {
        &self.first_session
    }

    pub(crate) fn sessions(&self) -> &BTreeSet<SessionKey> {
        &self.sessions
    }

    pub(super) fn set_access(&self, access: Access) {
        self.access.send_replace(access);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Ends the link. The first reason counts.
    pub(crate) fn end(&self, why: impl Into<String>) {
        let _ = self.why.set(why.into());
        self.ended.cancel();
    }

    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    pub(super) fn why(&self) -> String {
        self.why.get().cloned().unwrap_or_default()
    }

    /// Makes a socket the present one, after the last message that its client has. The token is cancelled when another one takes its place.
    /// Returns the number of the last message that the gateway has; `None` if messages are lost, so that the link has ended.
    pub(crate) fn connect(&self, received: u64) -> Option<(CancellationToken, u64)> {
        let mut state = self.state();
        if let Some(before) = state.present.take() {
            before.cancel();
        }
        if !state.queue.resume(received) {
            drop(state);
            self.end("messages of the connection were lost");
            return None;
        }
        let present = CancellationToken::new();
        state.present = Some(present.clone());
        self.is_connected.send_replace(true);
        self.wake.notify_one();
        Some((present, state.queue.received()))
    }

    /// Notes that a socket has ended, unless another one has taken its place.
    pub(crate) fn disconnect(&self, socket: &CancellationToken) {
        let mut state = self.state();
        if !socket.is_cancelled() {
            state.present = None;
            socket.cancel();
            self.is_connected.send_replace(false);
        }
    }

    /// Takes a message of the client. Nothing is done if the future is dropped.
    pub(crate) async fn receive(&self, number: u64, confirmed: u64, message: String) -> Received {
        if !self.state().queue.confirm(confirmed) {
            return Received::Refused(format!("no message {confirmed} was sent that could be confirmed"));
        }
        // Taken before the look, so that the message is passed on at once then.
        let place = tokio::select! {
            place = self.incoming.reserve() => place,
            () = self.ended() => return Received::Ended,
        };
        let Ok(place) = place else { return Received::Ended };
        let mut state = self.state();
        match state.queue.arrival(number) {
            Arrival::New => {
                state.queue.take();
                place.send(message);
                self.wake.notify_one();
                Received::Taken
            }
            Arrival::Again => Received::Taken,
            Arrival::Gap { expected } => {
                Received::Refused(format!("the message has the number {number}, and {expected} is the next"))
            }
        }
    }

    /// Takes a confirmation alone.
    pub(crate) fn confirm(&self, number: u64) -> Received {
        if self.state().queue.confirm(number) {
            Received::Taken
        } else {
            Received::Refused(format!("no message {number} was sent that could be confirmed"))
        }
    }

    /// Adds a message for the client. Ends the link if too much waits.
    pub(super) fn push(&self, message: String) {
        let mut state = self.state();
        state.queue.push(message);
        let is_full = state.queue.bytes() > self.max_unsent;
        drop(state);
        if is_full {
            self.end("too many messages wait that the client has not confirmed");
        }
        self.wake.notify_one();
    }

    /// Adds a note, which is lost if the client is not there for long.
    pub(crate) fn tell(&self, note: &Value) {
        let mut state = self.state();
        if state.notes.len() == MAX_NOTES {
            state.notes.pop_front();
        }
        state.notes.push_back(note.to_string());
        drop(state);
        self.wake.notify_one();
    }

    /// Tells the client about its tools.
    pub(super) fn set_tools(&self, tools: Value) {
        self.tools.send_if_modified(|told| {
            let is_new = told.as_ref() != Some(&tools);
            *told = Some(tools);
            is_new
        });
    }

    /// The news of its tools for the client, as they change.
    pub(crate) fn tools(&self) -> watch::Receiver<Option<Value>> {
        let mut tools = self.tools.subscribe();
        tools.mark_changed();
        tools
    }

    /// Waits for what is sent next on a socket, if it is the present one.
    pub(crate) async fn next(&self, socket: &CancellationToken) -> Next {
        loop {
            if let Some(frame) = self.frame(socket) {
                return Next::Frame(frame);
            }
            tokio::select! {
                () = self.wake.notified() => if socket.is_cancelled() {
                    // It was for the one that has taken its place.
                    self.wake.notify_one();
                    std::future::pending::<()>().await;
                },
                () = self.ended() => return Next::Ended(self.why()),
            }
        }
    }

    fn frame(&self, socket: &CancellationToken) -> Option<String> {
        let mut state = self.state();
        if socket.is_cancelled() {
            return None;
        }
        if let Some(note) = state.notes.pop_front() {
            return Some(note);
        }
        Some(match state.queue.next()? {
            // The message is JSON already.
            Sent::Message(number, received, message) => {
                format!(r#"{{"type":"mcp","n":{number},"ack":{received},"message":{message}}}"#)
            }
            Sent::Confirmation(received) => json!({ "type": "ack", "n": received }).to_string(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a socket: the link waits for its client to come back, unless another socket has taken its place.
pub(crate) struct Connected {
    pub(crate) link: Arc<Link>,
    pub(crate) socket: CancellationToken,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.link.disconnect(&self.socket);
    }
}
