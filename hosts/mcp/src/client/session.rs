//! Servers at the other end of connections that a host made, with tools for some sessions alone: clients that serve their tools.

use super::attached_calls::AttachedCalls;
use super::connect;
use super::deferred::DeferredCalls;
use super::follow::{self, Refused, Shelf};
use super::known::Known;
use super::lines::Lines;
use super::options::ClientOptions;
use super::server::{Identity, Server, State};
use data_encoding::HEXLOWER;
use rmcp::RoleClient;
use rmcp::transport::IntoTransport;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit::{
    Caller, Tool, Toolkit,
    descriptor::Source,
    registry::{Diagnostic, FetchFuture, ToolSource, WeakToolkit},
    text::escape_line,
};

/// Maximum number of bytes of the id of a client.
const MAX_ID_BYTES: usize = 128;

/// The clients that serve tools for some sessions, each over a connection that a host made: its tools are in the toolboxes of its sessions and
/// in no other. Cheap to clone.
///
/// Pass it to [`Builder::tool_source`](toolkit::Builder::tool_source), and each connection to [`attach`](Self::attach).
///
/// A tool keeps the name that its client gives it, in the letters of names. The source of its tools is [`Source::Client`], so that rules name
/// them `client:<id>`; their annotations loosen nothing. Of two tools of one name in one session, the first one counts until it is gone, and
/// the client of the other one has a [diagnostic](Attached::diagnostics). A client does not hear of the workspace, and uses no model.
///
/// ```no_run
/// use toolkit::prelude::*;
/// use toolkit_mcp::{ClientOptions, SessionServer, SessionServers};
///
/// # async fn serve(stream: tokio::net::TcpStream) -> Result<(), Box<dyn std::error::Error>> {
/// let clients = SessionServers::new(ClientOptions::new());
/// let toolkit = Toolkit::builder().tool_source(clients.clone()).build()?;
/// let (read, write) = stream.into_split();
/// let attached = clients.attach_lines(&toolkit, SessionServer::new("tab", ["s1"]), read, write).await?;
/// let toolbox = toolkit.toolbox(&Caller::new().with_session("s1")).await;
/// # drop(toolbox);
/// attached.ended().await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct SessionServers {
    shared: Arc<Shared>,
    /// Names of tools that rules may use.
    names: Vec<String>,
}

struct Shared {
    options: Arc<ClientOptions>,
    shelves: Mutex<Shelves>,
    /// Returns the session of a caller.
    session_of: Box<SessionOf>,
}

/// Returns the session of a caller.
type SessionOf = dyn Fn(&Caller) -> Option<String> + Send + Sync;

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("shelves", &self.shelves).finish_non_exhaustive()
    }
}

/// The tools of all clients.
#[derive(Debug, Default)]
struct Shelves {
    /// The number of the last client or tool.
    last: u64,
    clients: BTreeMap<u64, Client>,
}

/// A client with its tools.
#[derive(Debug)]
struct Client {
    sessions: BTreeSet<String>,
    /// The tools by name, with numbers in the order in which they came.
    tools: BTreeMap<String, (u64, Tool)>,
}

impl Shelves {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the tools of a session, by name.
    fn of_session(&self, session: &str) -> BTreeMap<&str, (u64, &Tool)> {
        let mut first: BTreeMap<&str, (u64, &Tool)> = BTreeMap::new();
        for client in self.clients.values().filter(|client| client.sessions.contains(session)) {
            for (name, (number, tool)) in &client.tools {
                let one = first.entry(name).or_insert((*number, tool));
                if *number < one.0 {
                    *one = (*number, tool);
                }
            }
        }
        first
    }

    /// Returns the tools of a client that earlier ones of its sessions hide, with the reasons.
    fn hidden(&self, number: u64) -> Vec<Refused> {
        let Some(client) = self.clients.get(&number) else { return Vec::new() };
        let mut hidden = BTreeMap::new();
        for session in &client.sessions {
            let first = self.of_session(session);
            for (name, (own, _)) in &client.tools {
                if let Some((number, tool)) = first.get(name.as_str()).filter(|(number, _)| number != own) {
                    debug_assert!(number < own, "the first one counts");
                    let why = format!(
                        "the tool `{name}` is left out of the session `{}`: {} has a tool of this name there; give it another one",
                        escape_line(session),
                        tool.source()
                    );
                    hidden.entry(name).or_insert(why);
                }
            }
        }
        hidden.into_iter().map(|(name, why)| Refused { tool: name.clone(), why }).collect()
    }
}

impl Shared {
    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client to attach: its id, and the sessions that get its tools.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionServer {
    /// The id of the client, which rules name as `client:<id>`: letters, digits, `-`, `_` and `.`, at most 128.
    pub id: String,
    /// The ids of the sessions.
    pub sessions: BTreeSet<String>,
    /// Time limit of a call; one minute by default.
    pub timeout: Duration,
    /// A proof of who the client is, such as the fingerprint of its key, as a clause: lasting approvals of its tools count for later
    /// connections of the same identity. By default they end with the connection.
    pub identity: Option<String>,
    /// Maximum number of bytes of one line, for [`SessionServers::attach_lines`]; 64 MiB by default.
    pub max_message_bytes: usize,
    /// If false, an elicitation of the client is an error, and asks nobody; true by default. The person of a call may be another one than that of the
    /// client.
    pub may_ask: bool,
    /// Keeps the calls of tools that the client declares as deferred. By default each call waits for its result.
    pub deferred: Option<Arc<dyn DeferredCalls>>,
}

impl SessionServer {
    /// Creates a client with an id, for these sessions.
    pub fn new(id: impl Into<String>, sessions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            id: id.into(),
            sessions: sessions.into_iter().map(Into::into).collect(),
            timeout: Duration::from_mins(1),
            identity: None,
            max_message_bytes: 64 << 20,
            may_ask: true,
            deferred: None,
        }
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the proof of who the client is.
    #[must_use]
    pub fn identity(self, identity: impl Into<String>) -> Self {
        Self { identity: Some(identity.into()), ..self }
    }

    /// Sets the maximum number of bytes of one line.
    #[must_use]
    pub fn max_message_bytes(self, max_message_bytes: usize) -> Self {
        Self { max_message_bytes, ..self }
    }

    /// Sets whether the client may ask the person of a call.
    #[must_use]
    pub fn may_ask(self, may_ask: bool) -> Self {
        Self { may_ask, ..self }
    }

    /// Lets the client have tools whose results come later than the answers to their calls.
    #[must_use]
    pub fn deferred(self, calls: Arc<dyn DeferredCalls>) -> Self {
        Self { deferred: Some(calls), ..self }
    }

    fn check(&self) -> Result<(), String> {
        let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.id.is_empty() || self.id.len() > MAX_ID_BYTES || !self.id.chars().all(is_valid) {
            return Err(format!(
                "the client cannot be attached: its id {:?} is not valid; use letters, digits, `-`, `_` and `.`, at most {MAX_ID_BYTES}",
                self.id
            ));
        }
        Ok(())
    }

    /// Returns the condition of lasting approvals of the client's tools.
    fn condition(&self, source: &Source) -> Result<String, String> {
        if let Some(identity) = &self.identity {
            return Ok(format!("{source} is {}", escape_line(identity)));
        }
        let mut number = [0; 16];
        let failed = |error| format!("{source} cannot be attached: no random number for it: {error}");
        getrandom::fill(&mut number).map_err(failed)?;
        Ok(format!("{source} has the connection {}", HEXLOWER.encode(&number)))
    }
}

impl SessionServers {
    /// Creates the source. Of the options, the name, the version, [`start_within`](ClientOptions::start_within) and
    /// [`most_tools`](ClientOptions::most_tools) count.
    pub fn new(options: ClientOptions) -> Self {
        Self::of_sessions(options, |caller| caller.session_id.clone())
    }

    /// Creates the source for a host whose sessions have other ids than [`Caller::session_id`]: `session_of` returns the id of a caller's
    /// session, as [`SessionServer::sessions`] has it.
    pub fn of_sessions(
        options: ClientOptions,
        session_of: impl Fn(&Caller) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let options = Arc::new(ClientOptions { sampling: None, ..options });
        let session_of = Box::new(session_of);
        let shared = Arc::new(Shared { options, shelves: Mutex::default(), session_of });
        Self { shared, names: Vec::new() }
    }

    /// Adds names of tools that clients will have, which rules of the configuration may use; with `*` they are patterns. `client:<id>` needs
    /// none.
    #[must_use]
    pub fn naming(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Attaches the client at the other end of two streams, which have a message on each line.
    ///
    /// A line that is too long or cannot be read is an error of the call that it answers; one without an end closes the connection.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`attach`](Self::attach).
    pub async fn attach_lines<R, W>(
        &self,
        toolkit: &Toolkit,
        client: SessionServer,
        read: R,
        write: W,
    ) -> Result<Attached, String>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let lines = Lines::new(read, write, client.max_message_bytes);
        self.attach(toolkit, client, lines).await
    }

    /// Initializes the client at the other end of a transport, and gives its tools to the toolboxes of its sessions: a transport of rmcp, or
    /// a sink and a stream of messages. The transport bounds the length of messages. The toolkit is one with this source.
    ///
    /// The connection is not made again when it ends: the tools are gone then, and each call that waits has an error.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the client cannot be attached, as text for people.
    pub async fn attach<T, E, A>(
        &self,
        toolkit: &Toolkit,
        client: SessionServer,
        transport: T,
    ) -> Result<Attached, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        client.check()?;
        let source = Source::client(&*client.id);
        let identity = Identity {
            name: (&*client.id).into(),
            launch: client.condition(&source)?,
            source,
            prefix: String::new(),
            timeout: client.timeout,
            address: None,
            workspace: None,
            may_ask: client.may_ask,
            deferred: client.deferred,
        };
        let options = Arc::clone(&self.shared.options);
        let within = options.start_within;
        let server = Server::new(identity, Known::of(None, &client.id), options);
        server.set_state(State::Starting);
        let number = {
            let mut shelves = self.shared.shelves();
            let number = shelves.next();
            let tools = BTreeMap::new();
            shelves.clients.insert(number, Client { sessions: client.sessions, tools });
            number
        };
        let place =
            Arc::new(Place { shared: Arc::clone(&self.shared), number, toolkit: toolkit.downgrade() });
        // Dropped early, it removes the client.
        let (changes, task) = (server.state(), None);
        let mut attached = Attached { server: Arc::clone(&server), place: Arc::clone(&place), task, changes };
        let listing = async {
            let connection = connect::over(&server, transport).await?;
            follow::begin(&server, connection, &*place).await
        };
        let listed = timeout(within, Box::pin(listing)).await;
        let begun = listed
            .unwrap_or_else(|_| Err(format!("it did not answer within {within:?}")))
            .map_err(|why| format!("{} cannot be attached: {}", server.source, escape_line(&why)))?;
        attached.task = Some(tokio::spawn(async move {
            let why = follow::attend(&server, begun, &*place).await;
            place.remove();
            server.set_state(State::Failed { why: escape_line(&why).into_owned() });
        }));
        Ok(attached)
    }
}

impl ToolSource for SessionServers {
    fn bring<'a>(&'a self, _toolkit: &'a Toolkit) -> FetchFuture<'a> {
        Box::pin(std::future::ready(()))
    }

    fn permission_keys(&self) -> Vec<String> {
        self.names.clone()
    }

    fn tools_for(&self, caller: &Caller) -> Vec<Tool> {
        let Some(session) = (self.shared.session_of)(caller) else { return Vec::new() };
        let shelves = self.shared.shelves();
        shelves.of_session(&session).into_values().map(|(_, tool)| tool.clone()).collect()
    }
}

/// The place of a client's tools.
#[derive(Debug)]
struct Place {
    shared: Arc<Shared>,
    number: u64,
    toolkit: WeakToolkit,
}

impl Place {
    /// Removes the client with its tools.
    fn remove(&self) {
        let removed = self.shared.shelves().clients.remove(&self.number);
        if removed.is_some_and(|client| !client.tools.is_empty())
            && let Some(toolkit) = self.toolkit.upgrade()
        {
            toolkit.announce_tools();
        }
    }
}

impl Shelf for Place {
    fn put(&self, tools: Vec<Tool>) -> Vec<Refused> {
        let Some(toolkit) = self.toolkit.upgrade() else { return Vec::new() };
        let mut refused = Vec::new();
        let mut sound = Vec::new();
        for tool in tools {
            match toolkit.check_tool(&tool) {
                Ok(()) => sound.push(tool),
                Err(error) => refused.push(Refused { tool: tool.name().to_owned(), why: error.to_string() }),
            }
        }
        {
            let mut shelves = self.shared.shelves();
            let Some(client) = shelves.clients.get_mut(&self.number) else { return refused };
            let before = std::mem::take(&mut client.tools);
            let mut tools = BTreeMap::new();
            for tool in sound {
                let number = before.get(tool.name()).map(|(number, _)| *number);
                let number = number.unwrap_or_else(|| shelves.next());
                tools.insert(tool.name().to_owned(), (number, tool));
            }
            if let Some(client) = shelves.clients.get_mut(&self.number) {
                client.tools = tools;
            }
            refused.extend(shelves.hidden(self.number));
        }
        toolkit.announce_tools();
        refused
    }
}

/// An attached client. Dropped, its connection ends, and its tools are gone.
#[derive(Debug)]
pub struct Attached {
    server: Arc<Server>,
    place: Arc<Place>,
    /// The task that follows the connection.
    task: Option<JoinHandle<()>>,
    changes: watch::Receiver<State>,
}

impl Attached {
    /// Returns the names of the client's tools, including those that are hidden in some session.
    pub fn tools(&self) -> Vec<String> {
        let shelves = self.place.shared.shelves();
        let client = shelves.clients.get(&self.place.number);
        client.into_iter().flat_map(|client| client.tools.keys().cloned()).collect()
    }

    /// Returns the calls of the client's tools that the host makes itself.
    pub fn calls(&self) -> AttachedCalls {
        AttachedCalls::new(&self.server)
    }

    /// Returns the diagnostics: tools that were left out or are hidden, changed definitions of tools.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.server.noticed()
    }

    /// Waits until the list of the tools was read again. Returns false once the connection has ended. A change since the last call is not
    /// missed.
    pub async fn changed(&mut self) -> bool {
        let is_there = self.changes.changed().await.is_ok();
        is_there && !matches!(*self.changes.borrow(), State::Failed { .. } | State::Stopped)
    }

    /// Waits until the connection has ended, and returns the reason.
    pub async fn ended(&self) -> String {
        let mut state = self.server.state();
        let ended = state.wait_for(|state| matches!(state, State::Failed { .. } | State::Stopped)).await;
        match ended.as_deref() {
            Ok(State::Failed { why }) => why.clone(),
            _ => "it was stopped".to_owned(),
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.place.remove();
        self.server.set_state(State::Stopped);
    }
}
