//! A client of the Chrome `DevTools` Protocol: commands and their answers, and events.
//!
//! Messages are JSON, each ended by a zero byte, as over `--remote-debugging-pipe`. One connection carries the browser itself and every
//! attached target, told apart by a session's id.

mod reader;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The most messages that wait to be written. A browser that reads nothing stops whoever sends.
const MAX_OUTGOING: usize = 1024;

/// An error of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CdpError {
    /// The connection has ended, and why.
    Closed(String),
    /// The process of the page has ended.
    PageCrashed,
    /// The page was closed.
    Detached,
    /// There was no answer in time.
    TimedOut { method: &'static str, within: Duration },
    /// The answer was larger than is read.
    TooLarge { method: &'static str },
    /// The browser refused the command.
    Refused { method: &'static str, message: String },
}

impl fmt::Display for CdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(why) => f.write_str(why),
            Self::PageCrashed => f.write_str("the page's process crashed"),
            Self::Detached => f.write_str("the page was closed"),
            Self::TimedOut { method, within } => write!(f, "no answer to {method} within {within:?}"),
            Self::TooLarge { method } => write!(f, "the answer to {method} is too large"),
            Self::Refused { method, message } => write!(f, "{method} failed: {message}"),
        }
    }
}

/// An event.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) method: String,
    /// The session; `None` for the browser itself.
    pub(super) session: Option<String>,
    pub(super) params: Value,
}

/// Sends commands. Cheap to clone.
#[derive(Clone)]
pub(super) struct Commands(Arc<Shared>);

/// A connection. Dropping it ends it.
pub(super) struct Cdp {
    commands: Commands,
    _tasks: JoinSet<()>,
}

struct Shared {
    next: AtomicU64,
    waiting: Mutex<Waiting>,
    outgoing: mpsc::Sender<Vec<u8>>,
}

#[derive(Default)]
struct Waiting {
    calls: HashMap<u64, Call>,
    /// Why the connection has ended.
    closed: Option<String>,
}

/// A command without an answer so far.
struct Call {
    session: Option<String>,
    answer: oneshot::Sender<Answer>,
}

enum Answer {
    Result(Value),
    Refused(String),
    TooLarge,
    Crashed,
    Detached,
}

impl Cdp {
    /// Speaks over a pair of streams, in the current runtime. `on_event` is called for each event, in order; it must not block.
    pub(super) fn start(
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        mut on_event: impl FnMut(Event, &Commands) + Send + 'static,
    ) -> Self {
        let (outgoing, messages) = mpsc::channel(MAX_OUTGOING);
        let shared = Shared { next: AtomicU64::new(1), waiting: Mutex::default(), outgoing };
        let commands = Commands(Arc::new(shared));
        let mut tasks = JoinSet::new();
        let ending = Ending(commands.clone());
        tasks.spawn(async move {
            let why = reader::read(reader, &ending.0, &mut on_event).await;
            ending.0.close(&why);
        });
        let ending = commands.clone();
        tasks.spawn(async move {
            if let Err(error) = write(writer, messages).await {
                ending.close(&format!("the connection to the browser broke: {error}"));
            }
        });
        Self { commands, _tasks: tasks }
    }

    pub(super) fn commands(&self) -> &Commands {
        &self.commands
    }
}

/// Fails all commands when the task that reads ends, whatever ends it.
struct Ending(Commands);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.close("the connection to the browser ended");
    }
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<()> {
    while let Some(message) = messages.recv().await {
        writer.write_all(&message).await?;
        writer.flush().await?;
    }
    Ok(())
}

impl Commands {
    /// Sends a command and waits for its answer. Dropping the future forgets the answer.
    pub(super) async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, CdpError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if let Some(why) = &waiting.closed {
                return Err(CdpError::Closed(why.clone()));
            }
            waiting.calls.insert(id, Call { session: session.map(ToOwned::to_owned), answer });
        }
        let _forgotten = Forget { commands: self, id };
        let message = encoded(id, session, method, &params);
        let exchange = async {
            self.0.outgoing.send(message).await.ok()?;
            answered.await.ok()
        };
        match timeout(within, exchange).await {
            Ok(Some(Answer::Result(result))) => Ok(result),
            Ok(Some(Answer::Refused(message))) => Err(CdpError::Refused { method, message }),
            Ok(Some(Answer::TooLarge)) => Err(CdpError::TooLarge { method }),
            Ok(Some(Answer::Crashed)) => Err(CdpError::PageCrashed),
            Ok(Some(Answer::Detached)) => Err(CdpError::Detached),
            Ok(None) => Err(CdpError::Closed(self.closed().unwrap_or_default())),
            Err(_) => Err(CdpError::TimedOut { method, within }),
        }
    }

    /// Sends a command whose answer nobody waits for. Commands to one session are carried out in order.
    pub(super) fn post(&self, session: Option<&str>, method: &str, params: &Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        // Where there is no room, the browser reads nothing any more, and commands that are waited for will tell.
        let _ = self.0.outgoing.try_send(encoded(id, session, method, params));
    }

    /// True until the connection has ended.
    pub(super) fn is_open(&self) -> bool {
        self.waiting().closed.is_none()
    }

    /// Why the connection has ended, if it has.
    pub(super) fn closed(&self) -> Option<String> {
        self.waiting().closed.clone()
    }

    /// Fails all commands to a session whose page has crashed, or was closed.
    pub(super) fn end_session(&self, session: &str, is_crash: bool) {
        let mut waiting = self.waiting();
        let ids: Vec<u64> = waiting
            .calls
            .iter()
            .filter(|(_, call)| call.session.as_deref() == Some(session))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            if let Some(call) = waiting.calls.remove(&id) {
                let _ = call.answer.send(if is_crash { Answer::Crashed } else { Answer::Detached });
            }
        }
    }

    /// Ends the conversation: commands that wait fail, and so do all others. The first reason counts.
    pub(super) fn close(&self, why: &str) {
        let mut waiting = self.waiting();
        waiting.closed.get_or_insert_with(|| why.to_owned());
        waiting.calls.clear();
    }

    fn answer(&self, id: u64, answer: Answer) {
        if let Some(call) = self.waiting().calls.remove(&id) {
            let _ = call.answer.send(answer);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a command that nobody waits for any more.
struct Forget<'a> {
    commands: &'a Commands,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.commands.waiting().calls.remove(&self.id);
    }
}

fn encoded(id: u64, session: Option<&str>, method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method, "params": params });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}
