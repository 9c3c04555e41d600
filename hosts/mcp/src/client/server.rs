//! One server: its state, and the task that maintains the connection to it.
//!
//! ```text
//! keep ── connect ── list ── tools are there ──┬── its list changes → list again
//!   ↑        │         │                       └── the connection ends ┐
//!   └────────┴─────────┴── wait, longer each time; a call ends that ────┘
//! ```

use super::calls::Calls;
use super::connect::{self, Connection};
use super::failure;
use super::known::Known;
use super::launch;
use super::names;
use super::offered;
use super::programs::Trusted;
use super::resources::Resources;
use super::servers::ClientOptions;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, SubscriptionFilter,
};
use rmcp::service::{Peer, Subscription, SubscriptionEnd};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use toolkit::{
    ToolContext, ToolError, ToolErrorKind,
    config::McpServerSettings,
    descriptor::Source,
    output::Retry,
    registry::{Diagnostic, Level, SourceInstructions, WeakToolkit},
    text::escape_line,
};

/// The first wait after a failure; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Duration of a connection after which the delay before reconnecting is reset.
const GOOD: Duration = Duration::from_mins(1);
/// Maximum number of stored diagnostics.
const MAX_NOTICED: usize = 100;
/// Maximum number of pages of a list.
const MAX_PAGES: usize = 1_000;
/// Maximum number of bytes of a tool's definition.
const LARGEST_TOOL: usize = 256 << 10;
/// Maximum number of bytes of a list that are read.
const LARGEST_LIST: usize = 32 << 20;
/// Delay between a change of a list and reading the list again, since changes come in bursts.
const SETTLE: Duration = Duration::from_millis(50);
/// Maximum delay while changes keep coming.
const LONGEST_SETTLE: Duration = Duration::from_secs(10);
/// Time without a change of the list after which the delay is reset to its initial value.
const CALM: Duration = Duration::from_secs(5);

/// A server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: Arc<str>,
    /// Prefix of the local names of its tools.
    pub(super) prefix: String,
    pub(super) settings: McpServerSettings,
    /// The condition of lasting approvals of its tools, which says how the server is started.
    pub(super) launch: String,
    pub(super) options: Arc<ClientOptions>,
    /// The programs that the user trusted, for a server that a file of the project names.
    pub(super) trusted: Option<Trusted>,
    /// Signs in to the server, if it has a URL and its settings provide no authentication.
    #[cfg(feature = "oauth")]
    pub(super) authority: Option<Arc<super::oauth::Authority>>,
    pub(super) known: Known,
    pub(super) calls: Calls,
    /// Tools for the resources of all servers.
    resources: Arc<Resources>,
    /// Notified when the server announces a change of its list.
    pub(super) list_changed: Notify,
    /// Notified when the server is needed now.
    needed: Notify,
    state: watch::Sender<State>,
    toolkit: OnceLock<WeakToolkit>,
    noticed: Mutex<VecDeque<Diagnostic>>,
    left_out: Mutex<LeftOut>,
}

/// The tools of the server's last list that are left out, with the reasons.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// The reasons, by the local names that the tools would have.
    by_name: BTreeMap<String, String>,
    /// The reason for which the rest of the list was not read.
    rest: Option<String>,
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

/// A connection that has just come about.
struct Begun {
    connection: Connection,
    /// The subscription to changes of the list, if the protocol has a request for it.
    subscription: Option<Subscription>,
    /// Number of tools.
    tools: usize,
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
        about: Arc<connect::About>,
    },
    /// The connection failed; it is tried again after a delay, or when a call needs it.
    Failed {
        why: String,
    },
    /// The server was stopped from this end.
    Stopped,
}

impl Server {
    pub(super) fn new(
        name: &str,
        prefix: String,
        settings: McpServerSettings,
        (trusted, named_by): (Option<Trusted>, &str),
        options: Arc<ClientOptions>,
        resources: Arc<Resources>,
    ) -> Arc<Self> {
        let name: Arc<str> = name.into();
        Arc::new(Self {
            #[cfg(feature = "oauth")]
            authority: match &settings {
                McpServerSettings::Url(url) if !super::http::is_known(url) => {
                    Some(Arc::new(super::oauth::Authority::of(&name, url, &options)))
                }
                _ => None,
            },
            known: Known::of(options.data_dir.as_deref(), &name),
            launch: launch::condition(&name, &settings, named_by),
            name,
            prefix,
            settings,
            options,
            trusted,
            calls: Calls::default(),
            resources,
            list_changed: Notify::new(),
            needed: Notify::new(),
            state: watch::Sender::new(State::Idle),
            toolkit: OnceLock::new(),
            noticed: Mutex::default(),
            left_out: Mutex::default(),
        })
    }

    /// Returns the number of completed attempts to sign in, successful or not.
    pub(super) fn sign_ins(&self) -> u32 {
        #[cfg(feature = "oauth")]
        if let Some(authority) = &self.authority {
            return authority.round();
        }
        0
    }

    pub(super) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The toolkit that its tools are registered with, from the first time on.
    pub(super) fn is_of(&self, toolkit: WeakToolkit) {
        let _ = self.toolkit.set(toolkit);
    }

    pub(super) fn begin(&self) {
        self.state.send_replace(State::Starting);
    }

    /// Sets the state to stopped, so that no caller waits for the server.
    pub(super) fn stopped(&self) {
        self.state.send_replace(State::Stopped);
    }

    /// Lets it be tried now.
    pub(super) fn look(&self) {
        self.needed.notify_one();
    }

    /// Returns a text without the server's URL, which may contain a secret.
    pub(super) fn without_address(&self, text: String) -> String {
        match &self.settings {
            McpServerSettings::Url(url) => super::http::without_address(&text, &url.url),
            _ => text,
        }
    }

    /// Returns the server's address as part of a sentence; an empty text for a command.
    pub(super) fn at(&self) -> String {
        match &self.settings {
            McpServerSettings::Url(url) => format!(" at {}", super::http::shown_address(&url.url)),
            _ => String::new(),
        }
    }

    /// Notices something about it.
    pub(super) fn tell(&self, problem: impl Into<String>) {
        // Much of the text comes from the server.
        let problem = escape_line(&self.without_address(problem.into())).into_owned();
        tracing::warn!(server = &*self.name, "{problem}");
        let source = Source::Mcp { server: Arc::clone(&self.name) }.to_string();
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        let diagnostic = Diagnostic::new(Level::Warning, source, problem);
        if !noticed.contains(&diagnostic) {
            if noticed.len() == MAX_NOTICED {
                noticed.pop_front();
            }
            noticed.push_back(diagnostic);
        }
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
        let name = &self.name;
        let left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = left_out.by_name.get(tool) {
            return Some(format!("the MCP server `{name}` offers it, but it is left out: {why}"));
        }
        if !self.has_prefix(tool) {
            return None;
        }
        Some(match (&*self.state.borrow(), &left_out.rest) {
            (State::Ready { .. }, None) => format!("the MCP server `{name}` offers no tool of this name"),
            (State::Ready { .. }, Some(rest)) => {
                format!(
                    "the MCP server `{name}` offers no tool of this name in what was read of its list, which has {rest}"
                )
            }
            (State::Failed { why }, _) => format!("the MCP server `{name}` cannot be reached: {why}"),
            (State::Idle | State::Starting, _) => {
                format!("the MCP server `{name}` is not connected yet; try again in a few seconds")
            }
            (State::Stopped, _) => format!("the MCP server `{name}` was stopped"),
        })
    }

    /// Returns what the connected server says about the use of its tools, with hidden characters escaped, up to 2,000 characters.
    pub(super) fn instructions(&self) -> Option<SourceInstructions> {
        match &*self.state.borrow() {
            State::Ready { about, .. } => {
                let source = Source::Mcp { server: Arc::clone(&self.name) };
                about.instructions().map(|said| SourceInstructions::new(source, said))
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

    /// Returns the connection, and reconnects if it has ended.
    pub(super) async fn peer(&self, context: &ToolContext) -> Result<Peer<RoleClient>, ToolError> {
        let mut state = self.state();
        let mut has_tried = false;
        let wait = async {
            loop {
                let seen = state.borrow_and_update().clone();
                match seen {
                    State::Ready { peer, .. } if !peer.is_transport_closed() => return Ok(peer),
                    State::Stopped => return Err("it was stopped".to_owned()),
                    State::Failed { why } if has_tried => return Err(why),
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
            let text = format!("the MCP server `{}` cannot be reached: {why}. Nothing was done", self.name);
            ToolError::new(ToolErrorKind::Unavailable, text).with_retry(Retry::After(FIRST_WAIT))
        })
    }

    /// Keeps the connection, until the toolkit is gone.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut wait = FIRST_WAIT;
        while self.toolkit.get().is_some_and(|toolkit| toolkit.upgrade().is_some()) {
            self.state.send_replace(State::Starting);
            let begun = Instant::now();
            let why = match timeout(self.options.start_within, Box::pin(self.begun())).await {
                Ok(Ok(begun)) => self.attend(begun).await,
                Ok(Err(why)) => why,
                Err(_) => format!("it did not answer within {:?}", self.options.start_within),
            };
            let shown = escape_line(&self.without_address(why.clone())).into_owned();
            self.tell(why);
            self.state.send_replace(State::Failed { why: shown });
            if begun.elapsed() >= GOOD {
                wait = FIRST_WAIT;
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.needed.notified() => {}
            }
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    /// Connects, and lists the tools. Notifications of changes are requested first, so that none is missed in between.
    async fn begun(self: &Arc<Self>) -> Result<Begun, String> {
        let connection = Box::pin(connect::connect(self)).await?;
        let subscription = self.listening(&connection).await;
        let tools = self.list(&connection).await.map_err(|why| why + &connection.about.last_words())?;
        if connection.about.has_resources()
            && let Some(toolkit) = self.toolkit.get().and_then(WeakToolkit::upgrade)
            && let Err(problem) = self.resources.add(self, &toolkit)
        {
            self.tell(problem);
        }
        Ok(Begun { connection, subscription, tools })
    }

    /// Serves a connection until it ends. Returns the reason for which it ended.
    async fn attend(self: &Arc<Self>, begun: Begun) -> String {
        let Begun { connection, subscription, tools } = begun;
        let about = Arc::clone(&connection.about);
        let peer = connection.peer.clone();
        self.state.send_replace(State::Ready { peer: peer.clone(), tools, about: Arc::clone(&about) });
        let listening = async {
            let mut settle = SETTLE;
            loop {
                let waited = Instant::now();
                self.list_changed.notified().await;
                // One that changes all the time is read less and less often.
                settle = if waited.elapsed() > CALM { SETTLE } else { LONGEST_SETTLE.min(settle * 2) };
                tokio::time::sleep(settle).await;
                match timeout(self.options.start_within, self.list(&connection)).await {
                    Ok(Ok(tools)) => {
                        let (peer, about) = (peer.clone(), Arc::clone(&about));
                        self.state.send_replace(State::Ready { peer, tools, about });
                    }
                    Ok(Err(why)) => self.tell(why),
                    Err(_) => self.tell("it reported changed tools, but did not list them in time"),
                }
            }
        };
        tokio::select! {
            () = connection.ended() => {}
            () = self.hear(&connection, subscription) => {}
            () = listening => {}
        }
        format!("the connection ended{}", about.last_words())
    }

    /// Waits for changes of the list, if the protocol has a subscription request; otherwise waits forever.
    async fn hear(&self, connection: &Connection, subscription: Option<Subscription>) {
        let mut wait = FIRST_WAIT;
        let mut listening = subscription;
        while let Some(mut subscription) = listening.take() {
            let begun = Instant::now();
            while let Ok(Some(_)) = subscription.next().await {
                self.list_changed.notify_one();
            }
            if matches!(subscription.end(), Some(SubscriptionEnd::Cancelled | SubscriptionEnd::Graceful(_))) {
                break;
            }
            // Notifications came faster than they were read, or the stream broke: changes in between were missed.
            if begun.elapsed() >= GOOD {
                wait = FIRST_WAIT;
            }
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
            listening = self.listening(connection).await;
            self.list_changed.notify_one();
        }
        std::future::pending::<()>().await;
    }

    /// Subscribes to changes of the list, if the protocol has a subscription request.
    async fn listening(&self, connection: &Connection) -> Option<Subscription> {
        if !connection.about.has_subscriptions() {
            return None;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let listening = connection.peer.listen(filter).await;
        listening
            .inspect_err(|error| {
                self.tell(format!("changes of its tools cannot be followed: {}", failure::of_request(error)));
            })
            .ok()
    }

    /// Lists the server's tools, and registers them.
    async fn list(self: &Arc<Self>, connection: &Connection) -> Result<usize, String> {
        if !connection.about.has_tools() {
            return Ok(self.register(&[], LeftOut::default()));
        }
        let most = self.options.most_tools;
        let mut listed: Vec<Value> = Vec::new();
        let (mut cursor, mut read) = (None, 0);
        let mut pages = 0;
        let mut left_out = LeftOut::default();
        let rest = loop {
            let params =
                cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            let answer = connection.peer.send_request(ClientRequest::ListToolsRequest(request)).await;
            let unlisted = |why: String| format!("its tools cannot be listed: {why}");
            // A list with an invalid tool does not parse as a whole: the other tools are used all the same.
            let mut page = match answer.map_err(|error| unlisted(failure::of_request(&error)))? {
                ServerResult::ListToolsResult(page) => serde_json::to_value(page).unwrap_or_default(),
                ServerResult::CustomResult(page) => page.0,
                _ => return Err(unlisted("it answers with something else".to_owned())),
            };
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
                return Err(unlisted("the answer has no list of tools".to_owned()));
            };
            for tool in tools {
                let bytes = offered::bytes(&tool);
                read += bytes;
                if bytes > LARGEST_TOOL {
                    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                    let why = format!("its definition has {bytes} bytes; the maximum is {LARGEST_TOOL}");
                    left_out.add(names::names(&self.prefix, &[name]).remove(0), &*why);
                    let name: String = name.chars().take(100).collect();
                    self.tell(format!("its tool {name:?} is left out: {why}"));
                } else {
                    listed.push(tool);
                }
            }
            pages += 1;
            if listed.len() > most {
                listed.truncate(most);
                break Some(format!("more than {most} tools"));
            }
            if cursor.is_none() {
                break None;
            }
            if read > LARGEST_LIST {
                break Some(format!("more than {LARGEST_LIST} bytes"));
            }
            if pages == MAX_PAGES {
                break Some(format!("more than {MAX_PAGES} pages"));
            }
        };
        if let Some(what) = &rest {
            self.tell(format!("its list of tools has {what}; the rest is left out"));
        }
        left_out.rest = rest;
        Ok(self.register(&listed, left_out))
    }

    fn register(self: &Arc<Self>, listed: &[Value], mut left_out: LeftOut) -> usize {
        let Some(toolkit) = self.toolkit.get().and_then(WeakToolkit::upgrade) else { return 0 };
        let (tools, problems) = offered::tools(self, listed, &mut left_out);
        let count = tools.len();
        let errors = toolkit.replace_source(&Source::Mcp { server: Arc::clone(&self.name) }, tools);
        let failed = errors.len();
        for error in &errors {
            left_out.add(error.tool(), error.to_string());
        }
        *self.left_out.lock().unwrap_or_else(PoisonError::into_inner) = left_out;
        for problem in problems.into_iter().chain(errors.into_iter().map(|error| error.to_string())) {
            self.tell(problem);
        }
        count - failed.min(count)
    }
}
