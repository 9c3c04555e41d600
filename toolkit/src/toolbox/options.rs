//! A host's options for a single call.

use crate::approver::Approver;
use crate::ask_journal::AskJournal;
use crate::change_hook::{ChangeHook, FileChange};
use crate::tool::context::Above;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolkit_core::error::ToolError;
use toolkit_core::message::Message;

/// A host's options for a single call.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{CallOptions, CancellationToken};
///
/// let options = CallOptions::new().cancel(CancellationToken::new()).timeout(Duration::from_secs(30));
/// # drop(options);
/// ```
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct CallOptions {
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) interrupt: Option<CancellationToken>,
    pub(crate) never_begins_again: bool,
    pub(crate) turn: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) change_hook: Option<Arc<ChangeHook>>,
    pub(crate) ask_journal: Option<Arc<dyn AskJournal>>,
    pub(crate) attached: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) messages: Option<Arc<[Message]>>,
    pub(crate) above: Option<Above>,
    pub(crate) within_read_only: bool,
    pub(crate) reads_beside_changes: bool,
    pub(crate) of_program: bool,
}

impl CallOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the call run beside a call of its session that changes something, if its tool is read-only: neither waits for the other. For a
    /// host whose calls have no order, such as requests of a client that are answered independently. Without it, a read-only call sees
    /// what the calls before it changed.
    #[must_use]
    pub fn reads_beside_changes(mut self) -> Self {
        self.reads_beside_changes = true;
        self
    }

    /// States that a program makes the call, and no model, although the caller has an agent: the [loop guard](crate::inspection::LoopGuard) leaves it
    /// alone.
    #[must_use]
    pub fn of_program(mut self) -> Self {
        self.of_program = true;
        self
    }

    /// Sets the token that cancels the call: its result is then `Aborted`.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Sets the token that tells an interruption from a cancellation: it is cancelled before the token of [`cancel`](Self::cancel) when the host
    /// stops and will make the call again. If the call waits for an answer then, its question stays in the [`AskStore`](crate::approval::AskStore).
    #[must_use]
    pub fn interrupt(mut self, token: CancellationToken) -> Self {
        self.interrupt = Some(token);
        self
    }

    /// States that the host does not make this call again after its process has ended: its questions are not in the
    /// [`AskStore`](crate::approval::AskStore).
    #[must_use]
    pub fn never_begins_again(mut self) -> Self {
        self.never_begins_again = true;
        self
    }

    /// Names the turn of the conversation in which the model made the call, for the [`AskStore`](crate::approval::AskStore): a model may use the id of
    /// a call again in a later turn, and two conversations of one session may use the same ids. The name has to be the same when the call is
    /// made again after a restart.
    #[must_use]
    pub fn turn(mut self, turn: impl Into<String>) -> Self {
        self.turn = Some(turn.into());
        self
    }

    /// Sets the time limit of the call, overriding the tool's own. [`Duration::MAX`] is no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the approver for this call and the calls that it makes, instead of the toolkit's approver: for a host whose
    /// calls come from several people. If calls of one session ask the same question at the same time, it is asked
    /// once, by the approver of the first of them.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{Ask, CallOptions, approval::{Answer, ScriptedApprover}};
    ///
    /// /// Deploys the site.
    /// #[tool(asks)]
    /// async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ///     ctx.ask(Ask::new("deploy", "Put the site online")).await?;
    ///     Ok("deployed".to_owned())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(deploy)).build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// let options = CallOptions::new().approver(ScriptedApprover::new([Answer::allow()]));
    /// assert_eq!(toolbox.call_with(ToolCall::new("1", "deploy", "{}"), options).await.text(), "deployed");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Has a hook see what a file has before this call, or a call that it makes, changes the file, before the hooks of the
    /// [toolkit](crate::Builder::change_hook): for a host whose sessions share a toolkit, and know of different unsaved changes. A hook that
    /// fails keeps the file from being changed. There is one hook; a later one replaces an earlier one.
    #[must_use]
    pub fn change_hook(
        mut self,
        hook: impl Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.change_hook = Some(Arc::new(hook));
        self
    }

    /// Records the questions of this call that come before its function acts, and their answers; see [`AskJournal`]. Calls that it makes
    /// have none.
    #[must_use]
    pub fn ask_journal(mut self, journal: Arc<dyn AskJournal>) -> Self {
        self.ask_journal = Some(journal);
        self
    }

    /// Attaches a host's value to the call and the calls that it makes; a tool gets it with
    /// [`ToolContext::attached`](crate::ToolContext::attached). There is one value; a later one replaces an earlier
    /// one.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolkit::prelude::*;
    /// use toolkit::CallOptions;
    ///
    /// /// The connection that a call came by.
    /// struct Connection(u32);
    ///
    /// /// Says which connection it is.
    /// #[tool(read_only)]
    /// async fn which(ctx: &ToolContext) -> String {
    ///     ctx.attached::<Connection>().map_or("none".to_owned(), |connection| connection.0.to_string())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(which)).build()?.toolbox(&Caller::new()).await;
    /// let options = CallOptions::new().attach(Arc::new(Connection(7)));
    /// assert_eq!(toolbox.call_with(ToolCall::new("1", "which", "{}"), options).await.text(), "7");
    /// assert_eq!(toolbox.call(ToolCall::new("2", "which", "{}")).await.text(), "none");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn attach<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.attached = Some(value);
        self
    }

    /// Sets the messages of the session so far, for the call and the calls that it makes:
    /// [`ToolContext::messages`](crate::ToolContext::messages). A host that runs several calls for one message shares
    /// the list.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{CallOptions, output::{Message, MessageRole}};
    ///
    /// /// Repeats what the person said last.
    /// #[tool(read_only)]
    /// async fn repeat(ctx: &ToolContext) -> String {
    ///     let mut messages = ctx.messages().iter().rev();
    ///     messages.find(|message| message.role == MessageRole::User).map_or_else(String::new, Message::to_text)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(repeat)).build()?.toolbox(&Caller::new()).await;
    /// let options = CallOptions::new().messages([Message::new(MessageRole::User, "hello").with_id("m1")]);
    /// assert_eq!(toolbox.call_with(ToolCall::new("1", "repeat", "{}"), options).await.text(), "hello");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn messages(mut self, messages: impl Into<Arc<[Message]>>) -> Self {
        self.messages = Some(messages.into());
        self
    }
}

impl From<CancellationToken> for CallOptions {
    fn from(token: CancellationToken) -> Self {
        Self::new().cancel(token)
    }
}

impl From<Duration> for CallOptions {
    /// Creates options with a time limit.
    fn from(timeout: Duration) -> Self {
        Self::new().timeout(timeout)
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("cancel", &self.cancel)
            .field("timeout", &self.timeout)
            .field("approver", &self.approver.as_ref().map(|_| "its own"))
            .finish_non_exhaustive()
    }
}
