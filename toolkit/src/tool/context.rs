//! The context of a call, which a tool function gets.

mod events;
mod other_names;
#[cfg(not(feature = "runtime"))]
mod runtime_only;

#[cfg(not(feature = "runtime"))]
#[doc(hidden)]
pub use runtime_only::Toolkit;

use crate::approver::Approver;
use crate::ask_journal::AskJournal;
use crate::ask_store::KeptCall;
use crate::change_hook::ChangeHook;
use crate::events::{Event, Hub, Progress};
use crate::live::{DisplayInfo, Live};
use crate::output_store::owner_name;
use crate::session::Session;
use crate::sink::OutputSink;
use crate::tool::Tool;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::mem;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use toolkit_core::ask::Ask;
use toolkit_core::call::ToolResult;
use toolkit_core::caller::Caller;
use toolkit_core::content::Content;
use toolkit_core::error::ToolError;
use toolkit_core::message::Message;
use toolkit_core::output::ToolOutput;
use toolkit_core::redact::Redactor;
use toolkit_core::state::{Service, Services, State};
use toolkit_core::truncate::Truncate;

/// The context of the call that a tool function serves: the caller, the workspace, and cancellation.
///
/// A tool takes it as `ctx: &ToolContext`. Cloning is cheap.
pub struct ToolContext {
    call_id: String,
    called_as: String,
    tool: Called,
    host: Arc<dyn CallHost>,
    /// The caller's cancellation token, if there is one.
    call_token: Option<CancellationToken>,
    /// The call whose function made this call.
    parent: Option<Above>,
    /// The redactor of the call's own secrets, if there are any.
    redactor: Option<Redactor>,
    /// The call's own approver, if it differs from the toolkit's.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// The call's own hook for changes of files, besides those of the toolkit.
    pub(crate) change_hook: Option<Arc<ChangeHook>>,
    /// The record of its questions, if the host keeps one.
    pub(crate) ask_journal: Option<Arc<dyn AskJournal>>,
    /// The store of its questions, if the host keeps them.
    pub(crate) kept_call: Option<Arc<KeptCall>>,
    /// The turn in which the model made the call, if the host named it.
    pub(crate) turn: Option<String>,
    /// The value that the host attached to the call.
    pub(crate) attached: Option<Arc<dyn Any + Send + Sync>>,
    /// The messages of the session so far, if the host provided them.
    pub(crate) messages: Option<Arc<[Message]>>,
    /// Created when the function first needs it.
    live: OnceLock<Arc<Live>>,
}

/// The host of a call: the toolbox that it was made in, or a stand-in outside any toolkit.
pub(crate) trait CallHost: Any + fmt::Debug + Send + Sync {
    /// For whom the call is made.
    fn caller(&self) -> &Caller;

    /// The tool at a place of the list that the toolbox has.
    fn tool(&self, place: usize) -> &Tool;

    /// The services of the toolkit, for tools without any of their own.
    fn services(&self) -> &Services;

    /// The state that the calls of the session share.
    fn session(&self) -> &Session;

    /// Takes the secrets of the configuration out of what is told of a call.
    fn redactor(&self) -> &Redactor;

    /// Where events of the call go out.
    fn events(&self) -> &Arc<Hub>;

    /// Opens the stream of a call of a tool that is cut so, in the session of this id.
    fn open_output(&self, truncate: Option<Truncate>, session: &str) -> OutputSink;

    /// Returns true if the host ends with the call.
    fn is_for_one_call(&self) -> bool;

    /// Asks a person for the call, unless it is decided already.
    fn ask<'a>(&self, context: &'a ToolContext, ask: Ask) -> Asking<'a>;

    /// The tools that the caller may use, by name.
    fn tools(&self) -> Vec<&Tool>;

    /// The tools that match a query best, at most `limit`, the best first.
    fn find_tools(&self, query: &str, limit: usize) -> Vec<&Tool>;

    /// Shows tools in the session from now on. Returns those that were not shown before.
    fn reveal_tools(&self, names: &[&str]) -> Vec<String>;
}

/// The future of a question.
pub(crate) type Asking<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

/// The called tool. An index is stored if the toolbox has the tool, because sharing a reference would cost time in each
/// call.
#[derive(Debug, Clone)]
pub(crate) enum Called {
    /// The tool at this index of the toolbox.
    Listed(usize),
    /// A tool that is in no toolkit.
    Own(Tool),
}

/// The call whose function made this call.
#[derive(Debug, Clone)]
pub(crate) struct Above {
    pub(crate) live: Arc<Live>,
    /// The number of calls above this one.
    pub(crate) depth: u32,
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.call_id)
            .field("called_as", &self.called_as)
            .field("caller", self.host.caller())
            .finish_non_exhaustive()
    }
}

impl Clone for ToolContext {
    fn clone(&self) -> Self {
        Self {
            call_id: self.call_id.clone(),
            called_as: self.called_as.clone(),
            tool: self.tool.clone(),
            host: Arc::clone(&self.host),
            call_token: self.call_token.clone(),
            parent: self.parent.clone(),
            redactor: self.redactor.clone(),
            approver: self.approver.clone(),
            change_hook: self.change_hook.clone(),
            ask_journal: self.ask_journal.clone(),
            kept_call: self.kept_call.clone(),
            turn: self.turn.clone(),
            attached: self.attached.clone(),
            messages: self.messages.clone(),
            live: OnceLock::from(Arc::clone(self.live())),
        }
    }
}

impl ToolContext {
    pub(crate) fn of_call(
        call_id: String,
        called_as: String,
        tool: Called,
        host: Arc<dyn CallHost>,
        call_token: Option<CancellationToken>,
        parent: Option<Above>,
        redactor: Option<Redactor>,
    ) -> Self {
        let live = OnceLock::new();
        let (approver, change_hook, ask_journal) = (None, None, None);
        let (kept_call, turn, attached, messages) = (None, None, None, None);
        Self {
            call_id,
            called_as,
            tool,
            host,
            call_token,
            parent,
            redactor,
            approver,
            change_hook,
            ask_journal,
            kept_call,
            turn,
            attached,
            messages,
            live,
        }
    }

    /// Returns the value that the host attached to this call with [`CallOptions::attach`](crate::CallOptions::attach), if
    /// it is a `T`.
    pub fn attached<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.attached.as_ref()?).downcast().ok()
    }

    /// Returns the result with the names from this context, which it takes out.
    pub(crate) fn take_result(&mut self, outcome: Result<ToolOutput, ToolError>) -> ToolResult {
        ToolResult::new(mem::take(&mut self.call_id), mem::take(&mut self.called_as), outcome)
    }

    /// Returns a copy of the result, for events.
    pub(crate) fn copy_result(&self, outcome: &Result<ToolOutput, ToolError>) -> ToolResult {
        ToolResult::new(self.call_id.clone(), self.called_as.clone(), outcome.clone())
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        let later = self.live.get().and_then(|live| live.redactor());
        later.or(self.redactor.as_ref()).unwrap_or_else(|| self.host.redactor())
    }

    /// Adds secrets to be redacted from the call's events from now on. Has an effect only once per call.
    pub(crate) fn keep_secret(&self, secrets: Vec<String>) {
        if !secrets.is_empty() {
            let redactor = self.redactor().with_more(secrets);
            self.live().set_redactor(redactor);
        }
    }

    pub(crate) fn tool(&self) -> &Tool {
        match &self.tool {
            Called::Listed(place) => self.host.tool(*place),
            Called::Own(tool) => tool,
        }
    }

    /// The host of the call. Modules above this one know which type it is.
    pub(crate) fn host(&self) -> &Arc<dyn CallHost> {
        &self.host
    }

    pub(crate) fn call_token(&self) -> Option<&CancellationToken> {
        self.call_token.as_ref()
    }

    pub(crate) fn above(&self) -> Option<&Above> {
        self.parent.as_ref()
    }

    /// Returns the state that the call shares, and creates it at the first use.
    pub(crate) fn live(&self) -> &Arc<Live> {
        self.live.get_or_init(|| {
            let token = match &self.call_token {
                Some(token) => token.child_token(),
                None => CancellationToken::new(),
            };
            Arc::new(Live::new(token, self.parent.as_ref().map(|above| Arc::clone(&above.live))))
        })
    }

    pub(crate) fn live_if_made(&self) -> Option<&Arc<Live>> {
        self.live.get()
    }

    /// Returns the id of the session whose gate the call passes; also for a session that the host did not name.
    pub(crate) fn gated_session_id(&self) -> &str {
        self.host.session().id()
    }

    /// Returns the name under which the outputs of this agent and sender in the session are stored.
    pub(crate) fn output_owner(&self) -> String {
        owner_name(self.gated_session_id(), self.caller())
    }

    /// Cancels the function's token, because the call is over.
    pub(crate) fn end(&self) {
        if let Some(live) = self.live.get() {
            live.end();
        }
    }

    /// Discards the output stream, because no caller will get the output.
    pub(crate) fn abandon(&self) {
        if let Some(stream) = self.live.get().and_then(|live| live.stream()) {
            stream.abandon();
        }
    }

    /// Adds a service to a detached context.
    #[must_use]
    pub fn with_service<T: ?Sized + Service>(mut self, service: Arc<T>) -> Self {
        self.tool = Called::Own(self.tool().with_shared_state(service));
        self
    }

    /// Returns the call's id.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the turn of the conversation in which the model made the call, as the host named it with
    /// [`CallOptions::turn`](crate::CallOptions::turn): with the call's id, it tells the call from all others of the host. `None` if the host named
    /// none, and for a call that a tool makes.
    pub fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// Returns the name that the tool has in this toolkit.
    pub fn tool_name(&self) -> &str {
        self.tool().name()
    }

    /// Returns the session's id, if the host named the session.
    pub fn session_id(&self) -> Option<&str> {
        self.caller().session_id.as_deref()
    }

    /// Returns a key that is unique among the toolkit's sessions: the session's name, or a generated one if the host named
    /// none.
    pub fn session_key(&self) -> &str {
        self.gated_session_id()
    }

    /// Returns the id of the message that the call belongs to.
    pub fn message_id(&self) -> Option<&str> {
        self.caller().message_id.as_deref()
    }

    /// Returns the messages of the session so far, in order, as the host passed them to this call with
    /// [`CallOptions::messages`](crate::CallOptions::messages); empty if it passed none.
    pub fn messages(&self) -> &[Message] {
        self.messages.as_deref().unwrap_or_default()
    }

    /// Returns the agent that calls.
    pub fn agent(&self) -> Option<&str> {
        self.caller().agent.as_deref()
    }

    /// Returns the caller.
    pub fn caller(&self) -> &Caller {
        self.host.caller()
    }

    /// Returns the directory that bounds file access and that relative paths are relative to.
    pub fn workspace_dir(&self) -> &Path {
        self.caller().workspace_dir()
    }

    /// Returns the value that the host passed to its tools under `key`.
    ///
    /// # Errors
    ///
    /// When there is a value but it is no `T`.
    pub fn extra<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        self.caller()
            .extra
            .get(key)
            .map(|value| {
                T::deserialize(value)
                    .map_err(|error| ToolError::failed(format!("the host's `{key}` does not fit: {error}")))
            })
            .transpose()
    }

    /// Returns the value that the host passed to its tools under `key`, as JSON.
    pub fn extra_json(&self, key: &str) -> Option<&Value> {
        self.caller().extra.get(key)
    }

    pub(crate) fn services(&self) -> &Services {
        let own = self.tool().services();
        if own.is_empty() { self.host.services() } else { own }
    }

    /// Returns a service of the host.
    pub fn service<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        self.services().get()
    }

    /// Returns a service that the tool requires.
    ///
    /// # Errors
    ///
    /// `Unavailable`, with the name of the type, when the host does not provide it.
    pub fn require_service<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.services().require()
    }

    /// Returns a value that all calls of the session share, created at its first use: for example, which files were read.
    ///
    /// It lives until the host ends the session, or the toolkit is dropped; of sessions that no toolbox holds, the 10,000
    /// most recently used are kept. If the host named no session, it lives with the toolbox.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use toolkit::prelude::*;
    ///
    /// #[derive(Default)]
    /// struct Calls(AtomicU32);
    ///
    /// /// Counts its calls.
    /// #[tool]
    /// async fn count(ctx: &ToolContext) -> String {
    ///     let calls = ctx.session_state::<Calls>();
    ///     (calls.0.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let ctx = ToolContext::detached(Caller::new());
    /// assert_eq!(count(&ctx).await, "1");
    /// assert_eq!(count(&ctx).await, "2");
    /// # }
    /// ```
    pub fn session_state<T: Service + Default>(&self) -> Arc<T> {
        self.host.session().state()
    }

    /// Returns true if the host ends with this call, so that no later call can manage what this one leaves running. See
    /// [`Builder::for_one_call`](crate::Builder::for_one_call).
    pub fn is_for_one_call(&self) -> bool {
        self.host.is_for_one_call()
    }

    /// Returns true if any host is listening to events; otherwise the tool can skip expensive work for them.
    pub fn is_watched(&self) -> bool {
        self.host.events().is_listened_to()
    }

    /// Sends the progress of the call to listening hosts: a [`Progress`], or the amount done alone.
    ///
    /// Does not wait, and does nothing if no host is listening.
    pub fn progress(&self, progress: impl Into<Progress>) {
        self.send_notice(|| Event::Progress(progress.into()));
    }

    /// Sends a part of the answer to listening hosts. The result must still be complete: parts are not added to it.
    pub fn partial(&self, content: impl Into<Content>) {
        self.send_under_way(|| Event::Partial { content: content.into() });
    }

    /// Asks for permission, and waits for the answer, for hours if necessary.
    ///
    /// A person is asked only if it is not decided yet. The [rules](crate::permission::Permissions) are applied first: a denial ends the call's
    /// question, and a rule that allows answers it. Then earlier approvals are applied, for the session or always in this workspace,
    /// as described at [`Approvals`](crate::approval::Approvals): for exactly the same question of this tool. Otherwise the question waits for
    /// an answer, together with other calls of the session that ask the same at that time, and the answer is remembered for its
    /// scope.
    ///
    /// While it waits, the call's timeout is paused, and other calls of the session, and of the tool, can run in its place. After
    /// the answer it waits for its turn again. A function that drops the question instead continues immediately until its next
    /// await, and from there in its turn. If a function has several calls of its own running, one of which asks, it keeps its turn,
    /// because the other calls need it.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{Ask, approval::{Answer, ScriptedApprover}};
    ///
    /// /// Deploys the site.
    /// #[tool(asks)]
    /// async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ///     ctx.ask(Ask::new("deploy", "Put the site online")).await?;
    ///     Ok("deployed".to_owned())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty()
    ///     .tool(toolkit::tool_ref!(deploy))
    ///     .approver(ScriptedApprover::new([Answer::allow(), Answer::deny_saying("not on a Friday")]))
    ///     .build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// assert_eq!(toolbox.call(ToolCall::new("1", "deploy", "{}")).await.text(), "deployed");
    /// assert!(toolbox.call(ToolCall::new("2", "deploy", "{}")).await.text().contains("not on a Friday"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// `Denied`, with the rule and its place, or with the person's message to the model, or with the reason why no person could be
    /// asked; `Aborted` once the call is cancelled or over.
    pub async fn ask(&self, ask: Ask) -> Result<(), ToolError> {
        self.host.ask(self, ask).await
    }

    /// Returns a stream for an output that is long or grows while the tool works. It uses bounded memory, however much is
    /// written.
    ///
    /// The model gets the written text, followed by the function's return value; both are truncated to the limits
    /// together, and the whole is kept in a file. If the function fails, is cancelled or times out, the error contains the
    /// text written until then. A tool with `truncate = "off"` that writes here is truncated to the host's limits.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Counts aloud.
    /// #[tool(read_only)]
    /// async fn count(ctx: &ToolContext, /** How far. */ to: u32) -> Result<(), ToolError> {
    ///     let mut output = ctx.output();
    ///     for number in 1..=to {
    ///         output.write_all(format!("{number}\n").as_bytes()).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn output(&self) -> OutputSink {
        let open = || self.host.open_output(self.tool().truncate(), self.gated_session_id());
        self.live().open_stream(open).clone()
    }

    /// Sets the title that user interfaces show, now and with the result, unless the output has a title of its own.
    pub fn set_title(&self, title: impl Into<String>) {
        let title = title.into();
        self.tell(move |told| told.title = Some(title));
    }

    /// Sets a metadata value that user interfaces show, now and with the result, unless the output has one of this name.
    pub fn set_metadata(&self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        self.tell(move |told| {
            told.metadata.insert(key, value);
        });
    }

    fn tell(&self, change: impl FnOnce(&mut DisplayInfo)) {
        let live = self.live();
        live.tell(change);
        self.send_under_way(|| {
            let DisplayInfo { title, metadata } = live.told();
            Event::Metadata { title, metadata }
        });
    }

    /// Becomes cancelled when the call is cancelled, dropped or over. Pass it on to what runs elsewhere.
    ///
    /// The token is the call's own: cancelling it stops the work that the function started, not the call.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.live().token
    }

    /// Waits until the call is cancelled, dropped or over.
    pub async fn cancelled(&self) {
        self.cancellation_token().cancelled().await;
    }

    /// Returns true if the call is cancelled, so that no caller waits for the result. A blocking tool must check this
    /// regularly: nothing else can stop it.
    pub fn is_cancelled(&self) -> bool {
        self.call_token.as_ref().is_some_and(CancellationToken::is_cancelled)
            || self.live.get().is_some_and(|live| live.token.is_cancelled())
    }

    /// Returns an error in a blocking tool that is cancelled: `ctx.check_cancelled()?`.
    ///
    /// # Errors
    ///
    /// `Aborted` once the call is cancelled.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolError::aborted("the call was cancelled")) } else { Ok(()) }
    }
}
