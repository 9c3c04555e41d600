//! What a tool function learns about the call it serves.

mod events;

use crate::approver::Approver;
use crate::call::ToolResult;
use crate::caller::Caller;
use crate::content::Content;
use crate::error::ToolError;
use crate::events::{Event, Hub, Progress};
use crate::live::{Live, Told};
use crate::message::Message;
use crate::output::ToolOutput;
use crate::redact::Redactor;
use crate::session::Session;
use crate::sink::OutputSink;
use crate::state::{Service, Services, State};
use crate::tool::Tool;
use crate::truncate::Truncate;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// The call that a tool function serves: who calls, in which workspace, and whether to go on.
///
/// A tool takes it as `ctx: &ToolContext`. Cloning is cheap.
pub struct ToolContext {
    call_id: String,
    called_as: String,
    tool: Called,
    host: Arc<dyn CallHost>,
    /// The token of whoever called, where there is one.
    call_token: Option<CancellationToken>,
    /// The call whose function made this one.
    parent: Option<Above>,
    /// What takes the call's own secrets out of what is told of it, where it has any.
    redactor: Option<Redactor>,
    /// Who is asked, where it is another than the toolkit's.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// What the host gave it.
    pub(crate) attached: Option<Arc<dyn Any + Send + Sync>>,
    /// The messages of the session so far, where the host gave them.
    pub(crate) messages: Option<Arc<[Message]>>,
    /// Made when the function first needs it.
    live: OnceLock<Arc<Live>>,
}

/// What a call needs of what stands behind it: the toolbox that it was made in, or its stand-in outside any toolkit.
pub(crate) trait CallHost: Any + fmt::Debug + Send + Sync {
    /// For whom the call is made.
    fn caller(&self) -> &Caller;

    /// The tool at a place of the list that the toolbox has.
    fn tool(&self, place: usize) -> &Tool;

    /// The services of the toolkit, for tools without any of their own.
    fn services(&self) -> &Services;

    /// What the calls of the session share.
    fn session(&self) -> &Session;

    /// Takes the secrets of the configuration out of what is told of a call.
    fn redactor(&self) -> &Redactor;

    /// Where events of the call go out.
    fn events(&self) -> &Arc<Hub>;

    /// Opens the stream of a call of a tool that is cut so, in the session of this id.
    fn open_output(&self, truncate: Option<Truncate>, session: &str) -> OutputSink;

    /// Whether the host ends with the call.
    fn is_for_one_call(&self) -> bool;
}

/// The tool that was called. Sharing one that the toolkit has anyway would cost each call something.
#[derive(Debug, Clone)]
pub(crate) enum Called {
    /// The toolbox's at this place.
    Listed(usize),
    /// One that no toolkit has.
    Own(Tool),
}

/// The call whose function made this one.
#[derive(Debug, Clone)]
pub(crate) struct Above {
    pub(crate) live: Arc<Live>,
    /// How many calls stand above this one.
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
            attached: self.attached.clone(),
            messages: self.messages.clone(),
            live: OnceLock::from(Arc::clone(self.live())),
        }
    }
}

impl ToolContext {
    pub(crate) fn new(
        call_id: String,
        called_as: String,
        tool: Called,
        host: Arc<dyn CallHost>,
        call_token: Option<CancellationToken>,
        parent: Option<Above>,
        redactor: Option<Redactor>,
    ) -> Self {
        let live = OnceLock::new();
        let (approver, attached, messages) = (None, None, None);
        Self {
            call_id,
            called_as,
            tool,
            host,
            call_token,
            parent,
            redactor,
            approver,
            attached,
            messages,
            live,
        }
    }

    pub(crate) fn with(
        mut self,
        approver: Option<Arc<dyn Approver>>,
        attached: Option<Arc<dyn Any + Send + Sync>>,
        messages: Option<Arc<[Message]>>,
    ) -> Self {
        (self.approver, self.attached, self.messages) = (approver, attached, messages);
        self
    }

    /// What the host gave this call with [`CallOptions::attach`](crate::CallOptions::attach), where it is a `T`.
    pub fn attached<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.attached.as_ref()?).downcast().ok()
    }

    /// The result, with the names that are in here.
    pub(crate) fn take_result(&mut self, outcome: Result<ToolOutput, ToolError>) -> ToolResult {
        ToolResult::new(mem::take(&mut self.call_id), mem::take(&mut self.called_as), outcome)
    }

    /// The result, for those that watch.
    pub(crate) fn copy_result(&self, outcome: &Result<ToolOutput, ToolError>) -> ToolResult {
        ToolResult::new(self.call_id.clone(), self.called_as.clone(), outcome.clone())
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        let later = self.live.get().and_then(|live| live.redactor());
        later.or(self.redactor.as_ref()).unwrap_or_else(|| self.host.redactor())
    }

    /// Also takes these out of what is told of the call from now on. Only once a call.
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

    /// What stands behind the call. Modules above this one know which type it is.
    pub(crate) fn host(&self) -> &Arc<dyn CallHost> {
        &self.host
    }

    pub(crate) fn call_token(&self) -> Option<&CancellationToken> {
        self.call_token.as_ref()
    }

    pub(crate) fn above(&self) -> Option<&Above> {
        self.parent.as_ref()
    }

    /// What this call shares, made now if it was not yet.
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

    /// The id of the session whose gate the call goes through, also of one that the host did not name.
    pub(crate) fn gated_session_id(&self) -> &str {
        self.host.session().id()
    }

    /// Tells whoever holds the function's token that the call is over.
    pub(crate) fn end(&self) {
        if let Some(live) = self.live.get() {
            live.end();
        }
    }

    /// Nobody will get the output.
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

    /// The call's id.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The name that the tool has in this toolkit.
    pub fn tool_name(&self) -> &str {
        self.tool().name()
    }

    /// The session, where the host named one.
    pub fn session_id(&self) -> Option<&str> {
        self.caller().session_id.as_deref()
    }

    /// What tells the session from all others of the toolkit: its name, or one that was made up where the host named none.
    pub fn session_key(&self) -> &str {
        self.gated_session_id()
    }

    /// The message that the call belongs to.
    pub fn message_id(&self) -> Option<&str> {
        self.caller().message_id.as_deref()
    }

    /// The messages of the session so far, in order, as the host gave them to this call with
    /// [`CallOptions::messages`](crate::CallOptions::messages); none where it gave none.
    pub fn messages(&self) -> &[Message] {
        self.messages.as_deref().unwrap_or_default()
    }

    /// The agent that calls.
    pub fn agent(&self) -> Option<&str> {
        self.caller().agent.as_deref()
    }

    /// Everything known of the caller.
    pub fn caller(&self) -> &Caller {
        self.host.caller()
    }

    /// The directory that bounds file access and to which relative paths belong.
    pub fn workspace_dir(&self) -> &Path {
        self.caller().workspace_dir()
    }

    /// Something that the host told its tools under `key`.
    ///
    /// # Errors
    ///
    /// When it is there but is no `T`.
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

    /// Something that the host told its tools under `key`, as it is.
    pub fn extra_json(&self, key: &str) -> Option<&Value> {
        self.caller().extra.get(key)
    }

    pub(crate) fn services(&self) -> &Services {
        let own = self.tool().services();
        if own.is_empty() { self.host.services() } else { own }
    }

    /// A service of the host.
    pub fn service<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        self.services().get()
    }

    /// A service that the tool cannot do without.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the type, when the host does not provide it.
    pub fn require_service<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.services().require()
    }

    /// A value that all calls of the session share, made at its first use: what was read so far, for instance.
    ///
    /// It lives until the host ends the session, or the toolkit is dropped; of sessions that no toolbox holds, the
    /// 10,000 that were used last are kept. Where the host named no session, it lives with the toolbox.
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

    /// Whether the host ends with this call, so that no later one can look after what it leaves running. See
    /// [`Builder::for_one_call`](crate::Builder::for_one_call).
    pub fn is_for_one_call(&self) -> bool {
        self.host.is_for_one_call()
    }

    /// Returns true if anybody watches events now: what costs more than telling it need not be done otherwise.
    pub fn is_watched(&self) -> bool {
        self.host.events().is_listened_to()
    }

    /// Tells those who watch how far the call got.
    ///
    /// Nothing is waited for, and nothing happens where nobody watches.
    pub fn progress(&self, progress: Progress) {
        self.send_notice(|| Event::Progress(progress));
    }

    /// Tells those who watch a part of the answer. The result is whole all the same: this is not added to it.
    pub fn partial(&self, content: impl Into<Content>) {
        self.send_under_way(|| Event::Partial { content: content.into() });
    }

    /// A stream for an output that is long or grows while the tool works. Its memory is bounded, whatever is written.
    ///
    /// The text that the model gets is what was written, followed by what the function returns; both are cut to the
    /// limits together, and the whole is kept in a file. If the function fails, is cancelled or is late, what it wrote
    /// until then stands in the error. A tool with `truncate = "off"` that writes here is cut to the host's limits.
    ///
    /// ```
    /// use tokio::io::AsyncWriteExt as _;
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

    /// Sets the headline that user interfaces show, now and with the result, unless the output has one of its own.
    pub fn set_title(&self, title: impl Into<String>) {
        let title = title.into();
        self.tell(move |told| told.title = Some(title));
    }

    /// Sets a fact that user interfaces show, now and with the result, unless the output has one of this name.
    pub fn set_metadata(&self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        self.tell(move |told| {
            told.metadata.insert(key, value);
        });
    }

    fn tell(&self, change: impl FnOnce(&mut Told)) {
        let live = self.live();
        live.tell(change);
        self.send_under_way(|| {
            let Told { title, metadata } = live.told();
            Event::Metadata { title, metadata }
        });
    }

    /// Becomes cancelled when the call is cancelled, dropped or over. Pass it on to what runs elsewhere.
    ///
    /// It is the call's own: cancelling it stops what the function started, not the call.
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.live().token
    }

    /// Whether nobody waits for the result any more. A blocking tool must ask now and then: nothing else can
    /// stop it.
    pub fn is_cancelled(&self) -> bool {
        self.call_token.as_ref().is_some_and(CancellationToken::is_cancelled)
            || self.live.get().is_some_and(|live| live.token.is_cancelled())
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
