//! What a tool function learns about the call it serves.

use crate::caller::Caller;
use crate::error::ToolError;
use crate::state::{Service, Services, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The call that a tool function serves: who calls, in which workspace, and whether to go on.
///
/// A tool takes it as `ctx: &ToolContext`. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ToolContext {
    call_id: String,
    tool: String,
    caller: Arc<Caller>,
    services: Services,
    cancel: CancellationToken,
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
        cancel: CancellationToken,
    ) -> Self {
        Self { call_id, tool, caller, services, cancel }
    }

    pub(crate) fn with_token(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
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
    /// Relative paths belong to the workspace. Symbolic links are followed before the boundary is checked.
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

    /// Becomes cancelled when nobody waits for the result any more. Pass it on to what runs elsewhere.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether nobody waits for the result any more. A blocking tool must ask now and then: nothing else can
    /// stop it.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
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
