//! What a tool function learns about the call it serves.

use crate::caller::Caller;
use crate::error::ToolError;
use crate::state::{Service, Services, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// The call that a tool function serves: who calls, in which workspace, and whether to go on.
///
/// A tool takes it as `ctx: &ToolContext`. Cloning is cheap.
#[derive(Debug)]
pub struct ToolContext {
    call_id: String,
    tool: String,
    caller: Arc<Caller>,
    services: Services,
    /// The token of whoever called.
    call_token: CancellationToken,
    /// What the function gets, made when it asks: cancelled with the call's token, and when the call ends.
    own_token: OnceLock<CancellationToken>,
}

impl Clone for ToolContext {
    fn clone(&self) -> Self {
        Self {
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            caller: Arc::clone(&self.caller),
            services: self.services.clone(),
            call_token: self.call_token.clone(),
            own_token: OnceLock::from(self.cancellation_token().clone()),
        }
    }
}

impl ToolContext {
    /// A context outside any toolkit, for calling a tool function directly, as tests do.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Names the agent.
    /// #[tool(read_only)]
    /// async fn whoami(ctx: &ToolContext) -> String {
    ///     ctx.agent().unwrap_or("nobody").to_owned()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let ctx = ToolContext::detached(Caller::new().with_agent("ada"));
    /// assert_eq!(whoami(&ctx).await, "ada");
    /// # }
    /// ```
    pub fn detached(caller: Caller) -> Self {
        Self::new(
            "detached".to_owned(),
            "detached".to_owned(),
            Arc::new(caller),
            Services::default(),
            CancellationToken::new(),
        )
    }

    pub(crate) fn new(
        call_id: String,
        tool: String,
        caller: Arc<Caller>,
        services: Services,
        call_token: CancellationToken,
    ) -> Self {
        Self { call_id, tool, caller, services, call_token, own_token: OnceLock::new() }
    }

    pub(crate) fn call_token(&self) -> &CancellationToken {
        &self.call_token
    }

    /// Tells whoever holds the function's token that the call is over.
    pub(crate) fn end(&self) {
        if let Some(token) = self.own_token.get() {
            token.cancel();
        }
    }

    /// Adds a service to a detached context.
    #[must_use]
    pub fn with_service<T: ?Sized + Service>(mut self, service: Arc<T>) -> Self {
        self.services.insert(service);
        self
    }

    /// The call's id.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The name that the tool has in this toolkit.
    pub fn tool_name(&self) -> &str {
        &self.tool
    }

    /// The session, where there is one.
    pub fn session_id(&self) -> Option<&str> {
        self.caller.session_id.as_deref()
    }

    /// The message that the call belongs to.
    pub fn message_id(&self) -> Option<&str> {
        self.caller.message_id.as_deref()
    }

    /// The agent that calls.
    pub fn agent(&self) -> Option<&str> {
        self.caller.agent.as_deref()
    }

    /// Everything known of the caller.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The directory that bounds file access and to which relative paths belong.
    pub fn workspace_dir(&self) -> &Path {
        self.caller.workspace_dir()
    }

    /// The real place of an existing path, if the caller may use it.
    ///
    /// Relative paths belong to the workspace. Symbolic links are followed as long as they stay inside it.
    ///
    /// # Errors
    ///
    /// `Denied` when the path leads outside the workspace, whether or not anything is there; `NotFound` when
    /// nothing is there.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, ToolError> {
        crate::workspace::resolve(&self.caller, path)
    }

    /// Something that the host told its tools under `key`.
    ///
    /// # Errors
    ///
    /// When it is there but is no `T`.
    pub fn extra<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        self.caller
            .extra
            .get(key)
            .map(|value| {
                T::deserialize(value)
                    .map_err(|error| ToolError::failed(format!("the host's `{key}` does not fit: {error}")))
            })
            .transpose()
    }

    /// Something that the host told its tools under `key`, as it is.
    pub fn extra_json(&self, key: &str) -> Option<&Value> {
        self.caller.extra.get(key)
    }

    /// A service of the host.
    pub fn service<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        self.services.get()
    }

    /// A service that the tool cannot do without.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the type, when the host does not provide it.
    pub fn require_service<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.services.require()
    }

    /// Becomes cancelled when the call is cancelled, dropped or over. Pass it on to what runs elsewhere.
    ///
    /// It is the call's own: cancelling it stops what the function started, not the call.
    pub fn cancellation_token(&self) -> &CancellationToken {
        self.own_token.get_or_init(|| self.call_token.child_token())
    }

    /// Whether nobody waits for the result any more. A blocking tool must ask now and then: nothing else can
    /// stop it.
    pub fn is_cancelled(&self) -> bool {
        self.call_token.is_cancelled() || self.own_token.get().is_some_and(CancellationToken::is_cancelled)
    }

    /// Ends a blocking tool that is cancelled: `ctx.check_cancelled()?`.
    ///
    /// # Errors
    ///
    /// `Aborted` once the call is cancelled.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolError::aborted("the call was cancelled")) } else { Ok(()) }
    }
}
