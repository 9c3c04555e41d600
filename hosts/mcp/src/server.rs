//! The server: tools of one toolkit for one client.

#![expect(deprecated, reason = "clients of the versions that have logging set its level")]

mod answered;
mod approver;
mod call;
mod definition;
pub(crate) mod faults;
mod guarded;
pub(crate) mod no_message;
mod outputs;
mod prompts;
mod result;
mod roots;
mod sender;
mod served;
mod sessions;
mod shown;
mod suspended;
mod telling;
mod watched;

use crate::level::level;
use guarded::guarded;
use outputs::Outputs;
use rmcp::model::SubscriptionFilter;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptsCapability,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use roots::Roots;
#[cfg(feature = "http")]
pub(crate) use sender::Sender;
use serde_json::Map;
use served::Served;
#[cfg(feature = "http")]
pub(crate) use sessions::{NoPlace, Place, Stateless, pause};
use sessions::{OwnedSession, Sessions};
use shown::Shown;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use suspended::Suspended;
use toolkit::{Caller, CancellationToken, Toolkit, events::LogLevel};
#[cfg(feature = "http")]
pub(crate) use watched::Owned;
#[cfg(not(feature = "http"))]
use watched::Owned;

/// Information that a server sends about itself, and its limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The name that clients see; `toolkit` by default.
    pub name: String,
    /// Version that clients see; the version of this crate by default.
    pub version: String,
    /// Instructions for the use of the tools, which a client may give to its model.
    pub instructions: Option<String>,
    /// Number of tools on a page of the list; 100 by default.
    pub page: usize,
    /// Time for which a call that waits for an answer, as the protocol has it from 2026-07-28 on, is kept for the client to return; ten
    /// minutes by default.
    pub answer_within: Duration,
    /// Maximum number of calls that wait for an answer at once; the questions of further calls are denied. 100 by default.
    pub most_waiting: usize,
    /// Maximum number of requests of a client over stdio that are handled at once; further ones wait. 64 by default.
    pub max_in_flight: usize,
    /// Time for which a client over stdio may read nothing while it has as much in progress as it may; then it is not served any more. Ten
    /// minutes by default.
    pub read_within: Duration,
    /// Ends serving: calls that run are cancelled, and each request gets its result or an error.
    pub shutdown: CancellationToken,
    /// True if the server relies on the client's own approval of tool calls; false by default. See
    /// [`client_approves`](Self::client_approves).
    pub client_approves: bool,
    /// Who answers questions; the client's user by default.
    pub answerers: Answerers,
    /// The tools that are served; all that the caller may use by default.
    served: Option<Served>,
    /// MCP servers whose prompts clients get too; none by default.
    #[cfg(feature = "client")]
    pub prompts_of: Option<crate::McpServers>,
}

/// Who answers the questions of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answerers {
    /// The client's user, if the client shows questions; else they are denied.
    #[default]
    Client,
    /// The client's user, if the client shows questions; else the approver of the toolkit.
    ClientOrHost,
    /// The approver of the toolkit, for a client whose user may not answer.
    Host,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            name: "toolkit".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            page: 100,
            answer_within: Duration::from_mins(10),
            most_waiting: 100,
            max_in_flight: 64,
            read_within: Duration::from_mins(10),
            shutdown: CancellationToken::new(),
            client_approves: false,
            answerers: Answerers::Client,
            served: None,
            #[cfg(feature = "client")]
            prompts_of: None,
        }
    }
}

impl ServerOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version that clients see.
    #[must_use]
    pub fn named(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..self }
    }

    /// Sets the instructions for the use of the tools, which a client may give to its model.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        Self { instructions: Some(instructions.into()), ..self }
    }

    /// Sets the number of tools on a page of the list, at least one.
    #[must_use]
    pub fn page(self, page: usize) -> Self {
        Self { page: page.max(1), ..self }
    }

    /// Sets the time for which a call waits for a client to return with an answer.
    #[must_use]
    pub fn answer_within(self, answer_within: Duration) -> Self {
        Self { answer_within, ..self }
    }

    /// Sets the maximum number of calls that wait for an answer at once.
    #[must_use]
    pub fn most_waiting(self, most_waiting: usize) -> Self {
        Self { most_waiting, ..self }
    }

    /// Sets the maximum number of requests of a client over stdio that are handled at once, at least one.
    #[must_use]
    pub fn max_in_flight(self, max_in_flight: usize) -> Self {
        Self { max_in_flight: max_in_flight.max(1), ..self }
    }

    /// Sets the time for which a client over stdio may read nothing while it has as much in progress as it may.
    #[must_use]
    pub fn read_within(self, read_within: Duration) -> Self {
        Self { read_within, ..self }
    }

    /// Sets the token that ends serving.
    #[must_use]
    pub fn shutdown(self, shutdown: CancellationToken) -> Self {
        Self { shutdown, ..self }
    }

    /// Relies on the client's own approval of tool calls: for clients whose user sees each call with its arguments and approves it there.
    ///
    /// A call that would need approval is allowed, once. Denials by rules or a tool stand, and an approval request for a sensitive or a
    /// protected path ([`Ask::is_guarded`](toolkit::Ask::is_guarded)) still goes to the client's user, or is denied if the client does not
    /// support elicitation. The same holds for a question for a value. It does not count for questions that [`answerers`](Self::answerers)
    /// gives to the approver of the toolkit.
    #[must_use]
    pub fn client_approves(self, client_approves: bool) -> Self {
        Self { client_approves, ..self }
    }

    /// Sets who answers questions.
    #[must_use]
    pub fn answerers(self, answerers: Answerers) -> Self {
        Self { answerers, ..self }
    }

    /// Serves, of the tools that the caller may use, those for which `is_served` returns true. Calls of others tell `why`, a clause.
    #[must_use]
    pub fn tools(
        self,
        is_served: impl Fn(&toolkit::Tool) -> bool + Send + Sync + 'static,
        why: impl Into<String>,
    ) -> Self {
        Self { served: Some(Served::new(is_served, why.into())), ..self }
    }

    /// Sets the MCP servers whose prompts clients get in addition to skills: named `server__prompt`.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn prompts_of(self, servers: crate::McpServers) -> Self {
        Self { prompts_of: Some(servers), ..self }
    }

    /// Returns true if there are servers that may have prompts.
    fn has_prompts(&self) -> bool {
        #[cfg(feature = "client")]
        if let Some(servers) = &self.prompts_of {
            return !servers.is_empty();
        }
        false
    }
}

/// The tools of a toolkit, for one client. Cheap to clone; clones serve the same client.
///
/// It is itself a handler for rmcp. To add tools to your own handler, forward `list_tools`, `call_tool`, `get_tool`, `on_initialized`,
/// `on_roots_list_changed`, `set_level`, `accepted_subscription_filter`, `listen` and `on_custom_request`, and, for outputs that were too
/// long, `list_resources` and `read_resource`:
///
/// ```
/// use rmcp::ServerHandler;
/// use rmcp::model::{
///     CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
///     ServerConfig,
/// };
/// use rmcp::service::{RequestContext, RoleServer};
/// use toolkit_mcp::ToolServer;
///
/// struct Mine {
///     tools: ToolServer,
/// }
///
/// impl ServerHandler for Mine {
///     fn get_info(&self) -> ServerConfig {
///         ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
///     }
///
///     async fn list_tools(
///         &self,
///         request: Option<PaginatedRequestParams>,
///         context: RequestContext<RoleServer>,
///     ) -> Result<ListToolsResult, ErrorData> {
///         self.tools.list_tools(request, context).await
///     }
///
///     async fn call_tool(
///         &self,
///         request: CallToolRequestParams,
///         context: RequestContext<RoleServer>,
///     ) -> Result<CallToolResponse, ErrorData> {
///         self.tools.call_tool(request, context).await
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ToolServer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    toolkit: Toolkit,
    caller: Caller,
    options: ServerOptions,
    /// The client's roots.
    roots: Roots,
    /// The tools that the client was last shown.
    shown: Mutex<Shown>,
    /// Calls that wait for the client to come back with an answer.
    suspended: Arc<Suspended>,
    outputs: Arc<Outputs>,
    /// The session that was made for this server, or for all servers of its principal; `None` if the host named the session.
    _session: Option<Arc<OwnedSession>>,
    /// The task that notifies the client of changes.
    watching: Mutex<Option<Owned>>,
    /// Minimum level of the log messages that the client gets.
    log_level: Mutex<LogLevel>,
    /// The principal of the server's requests, once it is known, and the sessions of requests without a protocol session.
    sessions: Sessions,
}

impl Shared {
    /// The session of the toolkit.
    fn session(&self) -> &str {
        self.caller.session_id.as_deref().unwrap_or_default()
    }
}

impl ToolServer {
    /// The session of the toolkit, which ends with the last copy of this server, unless it is a principal's.
    #[cfg(feature = "http")]
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.0.caller.session_id.as_deref()
    }

    /// Serves the tools that `caller` may use. Without a session of its own it gets one.
    pub fn new(toolkit: Toolkit, caller: Caller) -> Self {
        Self::with_options(toolkit, caller, ServerOptions::default())
    }

    /// The same with options.
    pub fn with_options(toolkit: Toolkit, mut caller: Caller, options: ServerOptions) -> Self {
        let session = caller.session_id.is_none().then(|| OwnedSession::new(&toolkit));
        if let Some(session) = &session {
            caller.session_id = Some(session.id.clone());
        }
        let suspended = Arc::new(Suspended::new(options.answer_within, options.most_waiting));
        Self::of_parts(toolkit, caller, options, Sessions::default(), suspended, Arc::default(), session)
    }

    /// Creates a server that shares suspended calls and outputs with others.
    fn of_parts(
        toolkit: Toolkit,
        caller: Caller,
        options: ServerOptions,
        sessions: Sessions,
        suspended: Arc<Suspended>,
        outputs: Arc<Outputs>,
        session: Option<Arc<OwnedSession>>,
    ) -> Self {
        let (shown, watching) = (Mutex::default(), Mutex::default());
        let log_level = Mutex::new(LogLevel::Info);
        Self(Arc::new(Shared {
            toolkit,
            caller,
            options,
            roots: Roots::default(),
            shown,
            suspended,
            outputs,
            _session: session,
            watching,
            log_level,
            sessions,
        }))
    }

    /// The toolkit.
    pub fn toolkit(&self) -> &Toolkit {
        &self.0.toolkit
    }

    /// Waits for work of a request, which is cancelled when the server shuts down.
    async fn until_shutdown<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => done,
            () = self.0.options.shutdown.cancelled() => {
                cancel.cancel();
                work.await
            }
        }
    }

    /// Waits until a notification is sent, or the server shuts down: rmcp sends none from then on. A client that is gone needs none.
    async fn notify<T>(&self, notification: impl Future<Output = T>) {
        tokio::select! {
            biased;
            _ = notification => {}
            () = self.0.options.shutdown.cancelled() => {}
        }
    }

    fn log_level(&self) -> LogLevel {
        *self.0.log_level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that no other client has.
fn session_id() -> String {
    format!("mcp-{}", random::<10>())
}

/// Returns a text of random bytes. Panics without randomness, so that no text can be guessed.
fn random<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    #[expect(clippy::expect_used, reason = "the system has randomness, or nothing here is safe")]
    getrandom::fill(&mut bytes).expect("the system has randomness");
    data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let ServerOptions { name, version, instructions, .. } = &self.0.options;
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .build();
        let has_prompts = self.0.toolkit.tool(prompts::SKILL).is_some() || self.0.options.has_prompts();
        capabilities.prompts = has_prompts.then(PromptsCapability::default);
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new(name, version);
        info.instructions.clone_from(instructions);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // From here on the session is its principal's.
        self.of(&context)?;
        context.peer.set_peer_info(request.clone());
        self.0.roots.of(&context.peer);
        let mut result = self.negotiate_initialize(&request)?;
        // Versions that begin with `initialize` have logging; later ones do not.
        result.capabilities.logging = Some(Map::new());
        Ok(result)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let server = self.of(&context)?;
        *server.0.log_level.lock().unwrap_or_else(PoisonError::into_inner) = level(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listing = async {
            let server = self.of(&context)?;
            let cursor = request.and_then(|request| request.cursor);
            // A further page is one of the same list.
            let toolbox =
                if cursor.is_some() { server.toolbox(&context).await } else { server.renew(&context).await };
            definition::page(&toolbox, cursor.as_deref(), server.0.options.page)
        };
        guarded("tools/list", listing).await
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        // This is called only for the schema by which headers are checked, and before the principal of the request is known.
        match self.last_shown() {
            Some(toolbox) => definition::tool(toolbox.tool(name)?, toolbox.definition(name).ok()?),
            None => {
                let tool = self.0.toolkit.tool(name)?;
                definition::tool(&tool, tool.definition().ok()?)
            }
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let cancel = context.ct.clone();
        let calling = guarded("tools/call", async {
            let server = self.of(&context)?;
            call::call(&server, request, context).await
        });
        self.until_shutdown(&cancel, calling).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listing = async {
            let server = self.of(&context)?;
            let toolbox = server.renew(&context).await;
            Ok(prompts::all(&server, &toolbox).await)
        };
        guarded("prompts/list", listing).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let getting = async {
            let server = self.of(&context)?;
            prompts::get(&server, request, context).await
        };
        guarded("prompts/get", getting).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listing = async {
            let server = self.of(&context)?;
            Ok(server.0.outputs.list(&server.0))
        };
        guarded("resources/list", listing).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let reading = async {
            let server = self.of(&context)?;
            server.0.outputs.read(&server.0, &request.uri).await
        };
        guarded("resources/read", reading).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(faults::refusal(&request))
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.0.roots.changed();
        // The next call is one of a toolbox that knows.
        *self.lock() = Shown::default();
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.roots.of(&context.peer);
        watched::watch(self, context.peer);
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = watched::listen(self, &context) => {}
            () = self.0.options.shutdown.cancelled() => {}
        }
        Ok(())
    }
}
