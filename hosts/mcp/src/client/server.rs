//! One server: its state, for whoever lists and calls its tools.

use super::calls::Calls;
use super::connection::About;
use super::deferred::DeferredCalls;
use super::http;
use super::known::Known;
use super::options::ClientOptions;
use rmcp::RoleClient;
use rmcp::service::Peer;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use toolkit::{
    ToolContext, ToolError, ToolErrorKind,
    descriptor::Source,
    output::Retry,
    registry::{Diagnostic, Level, SourceInstructions},
    text::escape_line,
};

/// The delay after which a caller may try again: the first one between two attempts to connect.
pub(super) const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of stored diagnostics.
const MAX_NOTICED: usize = 100;

/// The fixed properties of a server.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) name: Arc<str>,
    /// Source of its tools.
    pub(super) source: Source,
    /// Prefix of the local names of its tools; empty if they have none.
    pub(super) prefix: String,
    /// The condition of lasting approvals of its tools, which says how the server is started.
    pub(super) launch: String,
    /// Time limit of a call.
    pub(super) timeout: Duration,
    /// URL of the server, which may contain a secret.
    pub(super) address: Option<String>,
    /// The directory that the server hears of, if any.
    pub(super) workspace: Option<PathBuf>,
    /// True if the server may ask the person of a call, and send that person to an address.
    pub(super) may_ask: bool,
    /// Keeps the calls whose results come later. Without it, no tool is deferred.
    pub(super) deferred: Option<Arc<dyn DeferredCalls>>,
}

/// A server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) identity: Identity,
    pub(super) options: Arc<ClientOptions>,
    pub(super) known: Known,
    pub(super) calls: Calls,
    /// Notified when the server announces a change of its list.
    pub(super) list_changed: Notify,
    /// Notified when the server is needed now.
    pub(super) needed: Notify,
    state: watch::Sender<State>,
    noticed: Mutex<VecDeque<Diagnostic>>,
    left_out: Mutex<LeftOut>,
}

impl Deref for Server {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.identity
    }
}

/// The tools of the server's last list that are left out, with the reasons.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// The reasons, by the local names that the tools would have.
    by_name: BTreeMap<String, String>,
    /// The reason for which the rest of the list was not read.
    pub(super) rest: Option<String>,
}

impl LeftOut {
    /// Maximum number of tools that are remembered.
    const MAX_NAMES: usize = 1_000;

    pub(super) fn add(&mut self, name: impl Into<String>, why: impl Into<String>) {
        if self.by_name.len() < Self::MAX_NAMES {
            self.by_name.insert(name.into(), why.into());
        }
    }
}

/// State of a server.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// The server has not been needed yet.
    Idle,
    Starting,
    Ready {
        peer: Peer<RoleClient>,
        tools: usize,
        about: Arc<About>,
    },
    /// The connection failed; it is tried again after a delay, or when a call needs it.
    Failed {
        why: String,
    },
    /// The server was stopped from this end.
    Stopped,
}

impl Server {
    pub(super) fn new(identity: Identity, known: Known, options: Arc<ClientOptions>) -> Arc<Self> {
        Arc::new(Self {
            identity,
            options,
            known,
            calls: Calls::default(),
            list_changed: Notify::new(),
            needed: Notify::new(),
            state: watch::Sender::new(State::Idle),
            noticed: Mutex::default(),
            left_out: Mutex::default(),
        })
    }

    /// Returns true if the connection is made again after it ends.
    pub(super) fn reconnects(&self) -> bool {
        matches!(self.source, Source::Mcp { .. })
    }

    pub(super) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.send_replace(state);
    }

    /// Lets it be tried now.
    pub(super) fn look(&self) {
        self.needed.notify_one();
    }

    /// Returns a text without the server's URL, which may contain a secret.
    pub(super) fn without_address(&self, text: String) -> String {
        match &self.address {
            Some(address) => http::without_address(&text, address),
            None => text,
        }
    }

    /// Returns the server's address as part of a sentence; an empty text for a command.
    pub(super) fn at(&self) -> String {
        match &self.address {
            Some(address) => format!(" at {}", http::shown_address(address)),
            None => String::new(),
        }
    }

    /// Notices something about it.
    pub(super) fn tell(&self, problem: impl Into<String>) {
        // Much of the text comes from the server.
        let problem = escape_line(&self.without_address(problem.into())).into_owned();
        tracing::warn!(server = &*self.name, "{problem}");
        let source = self.source.to_string();
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        let diagnostic = Diagnostic::new(Level::Warning, source, problem);
        if !noticed.contains(&diagnostic) {
            if noticed.len() == MAX_NOTICED {
                noticed.pop_front();
            }
            noticed.push_back(diagnostic);
        }
    }

    pub(super) fn set_left_out(&self, left_out: LeftOut) {
        *self.left_out.lock().unwrap_or_else(PoisonError::into_inner) = left_out;
    }

    pub(super) fn noticed(&self) -> Vec<Diagnostic> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns true if a tool of this name may be one of its tools. A long name has less of the prefix.
    pub(super) fn may_have(&self, tool: &str) -> bool {
        self.has_prefix(tool) || tool.len() == toolkit::text::MAX_NAME_BYTES && tool.contains("__")
    }

    fn has_prefix(&self, tool: &str) -> bool {
        tool.strip_prefix(&self.prefix).is_some_and(|rest| rest.starts_with("__"))
    }

    /// Returns the reason for which a tool of this name is absent, if it would belong to the server.
    pub(super) fn absence(&self, tool: &str) -> Option<String> {
        let source = &self.source;
        let left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = left_out.by_name.get(tool) {
            return Some(format!("{source} offers it, but it is left out: {why}"));
        }
        if !self.has_prefix(tool) {
            return None;
        }
        Some(match (&*self.state.borrow(), &left_out.rest) {
            (State::Ready { .. }, None) => format!("{source} offers no tool of this name"),
            (State::Ready { .. }, Some(rest)) => {
                format!("{source} offers no tool of this name in what was read of its list, which has {rest}")
            }
            (State::Failed { why }, _) => format!("{source} cannot be reached: {why}"),
            (State::Idle | State::Starting, _) => {
                format!("{source} is not connected yet; try again in a few seconds")
            }
            (State::Stopped, _) => format!("{source} was stopped"),
        })
    }

    /// Returns what the connected server says about the use of its tools, with hidden characters escaped, up to 2,000 characters.
    pub(super) fn instructions(&self) -> Option<SourceInstructions> {
        match &*self.state.borrow() {
            State::Ready { about, .. } => {
                about.instructions().map(|said| SourceInstructions::new(self.source.clone(), said))
            }
            _ => None,
        }
    }

    /// Returns the last lines on the standard error of a connected command.
    pub(super) fn last_words(&self) -> String {
        match &*self.state.borrow() {
            State::Ready { about, .. } => about.last_words(),
            _ => String::new(),
        }
    }

    /// Returns the connection, and waits until it is made again if it has ended and can be.
    pub(super) async fn peer(&self, context: &ToolContext) -> Result<Peer<RoleClient>, ToolError> {
        let mut state = self.state();
        let mut has_tried = false;
        let wait = async {
            loop {
                let seen = state.borrow_and_update().clone();
                match seen {
                    State::Ready { peer, .. } if !peer.is_transport_closed() => return Ok(peer),
                    State::Stopped => return Err("it was stopped".to_owned()),
                    State::Failed { why } if has_tried || !self.reconnects() => return Err(why),
                    State::Starting => has_tried = true,
                    _ => self.look(),
                }
                if state.changed().await.is_err() {
                    return Err("it was stopped".to_owned());
                }
            }
        };
        let late = || Err(format!("it did not start within {:?}", self.options.start_within));
        let found = tokio::select! {
            found = timeout(self.options.start_within, wait) => found.unwrap_or_else(|_| late()),
            () = context.cancellation_token().cancelled() => return Err(ToolError::aborted("the call was cancelled")),
        };
        found.map_err(|why| {
            let text = format!("{} cannot be reached: {why}. Nothing was done", self.source);
            let error = ToolError::new(ToolErrorKind::Unavailable, text);
            if self.reconnects() { error.with_retry(Retry::After(FIRST_WAIT)) } else { error }
        })
    }
}
