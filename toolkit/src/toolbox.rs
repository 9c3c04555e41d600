//! Toolboxes: the tools that one caller may use, and the common path of every call.

mod aside;
mod asked;
mod asking;
mod batch;
mod before;
mod begin;
mod bounded;
mod check;
mod config;
mod context;
mod definitions;
mod discover;
mod explain;
mod finish;
mod hearing;
mod invalid;
mod kept_ask;
mod nested;
mod only;
mod options;
mod own;
mod repeats;
mod report;
mod run;
mod span;
mod stand_in;
mod unattended;
mod verdict;
mod work;

pub(crate) use before::ask_for;
pub use options::CallOptions;
pub use work::BackgroundWork;

use crate::events::{Events, Wanted};
use crate::policy::{self, Policy};
use crate::registry::{Inner, Toolkit, Tools};
use crate::rules::Rules;
use crate::session::Session;
use crate::tool::Tool;
use crate::tool::context::{Called, ToolContext};
use bounded::bounded;
use discover::{OnceSearched, Shown};
use futures_util::future::BoxFuture;
use own::Own;
use run::Running;
use std::future::poll_fn;
use std::sync::Arc;
use toolkit_core::call::{ToolCall, ToolResult};
use toolkit_core::caller::Caller;
use toolkit_core::definition::Definition;
use toolkit_core::diagnostic::Diagnostic;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::escape::escape_line;
use toolkit_core::excerpt::cut;
use toolkit_core::name::{MAX_NAME_BYTES, nearest};

/// The tools that one caller may use: a snapshot that returns definitions and runs calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Toolbox(Arc<Scope>);

/// The state that the calls of one toolbox share.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) toolkit: Arc<Inner>,
    /// The rules that were in effect when the toolbox was created.
    pub(crate) rules: Arc<Rules>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) session: Arc<Session>,
    /// The existing tools when the toolbox was created.
    pub(crate) tools: Tools,
    /// The indices in `tools` of those that the policy allows; `None` for all.
    allowed: Option<Vec<usize>>,
    /// The version of the policy when `allowed` was computed.
    version: Option<u64>,
    /// The tools that were created or left out for this caller, if any.
    own: Option<Box<Own>>,
    /// The tools that a model is shown; `None` for all.
    shown: Option<Box<Shown>>,
    searched: OnceSearched,
}

impl Scope {
    /// Returns the tools that the caller may use, by name.
    fn allowed_tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        let Scope { tools, allowed, .. } = self;
        let count = allowed.as_ref().map_or(tools.len(), Vec::len);
        (0..count).map(move |place| &tools[allowed.as_ref().map_or(place, |allowed| allowed[place])])
    }

    /// Returns true if the tool at this index is allowed.
    fn is_allowed(&self, place: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.binary_search(&place).is_ok())
    }

    /// Creates a scope outside any toolkit.
    pub(crate) fn detached(caller: Caller) -> Arc<Self> {
        let toolkit = Arc::new(Inner::default());
        let tools = Tools::default();
        Arc::new(Self {
            rules: toolkit.rules.get(),
            toolkit,
            caller: Arc::new(caller),
            session: Session::unnamed(),
            tools,
            allowed: None,
            version: None,
            own: None,
            shown: None,
            searched: OnceSearched::default(),
        })
    }
}

impl Toolkit {
    /// Returns the tools that `caller` may use: a snapshot, to be created anew for each turn of a model.
    ///
    /// Tools that [prepare themselves](crate::descriptor::Preparation) for a caller do so now, all at once, and
    /// [sources](crate::registry::ToolSource) of tools start to fetch them.
    pub async fn toolbox(&self, caller: &Caller) -> Toolbox {
        self.ready_toolbox(caller).await
    }

    /// Behind a pointer, and not `async`: the future is compiled in this crate, and not again in each crate that awaits it.
    fn ready_toolbox<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Toolbox> {
        Box::pin(async {
            self.brought().await;
            Toolbox::new(Arc::clone(&self.0), caller.clone()).ready().await
        })
    }
}

impl Toolbox {
    pub(crate) fn new(toolkit: Arc<Inner>, caller: Caller) -> Self {
        let session = match &caller.session_id {
            Some(id) => toolkit.sessions.open(id),
            None => Session::unnamed(),
        };
        // Before the tools, so that they are not those of older rules.
        let rules = toolkit.rules.get();
        let caller = bounded(caller, toolkit.settings.workspace.as_deref());
        let tools = toolkit.tools();
        let policy = rules.policy.as_deref();
        // Read before the policy is checked, so that a change in between causes another check.
        let version = policy.and_then(policy::version);
        let allowed = policy.map(|policy| policy::admitted(policy, &caller, &tools));
        let allowed = allowed.filter(|allowed| allowed.len() < tools.len());
        let caller = Arc::new(caller);
        Self::of(Arc::new(Scope {
            toolkit,
            rules,
            caller,
            session,
            tools,
            allowed,
            version,
            own: None,
            shown: None,
            searched: OnceSearched::default(),
        }))
    }

    pub(crate) fn of(scope: Arc<Scope>) -> Self {
        Self(scope)
    }

    /// Returns the tools, by name, including those that a model is not shown yet.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.0.allowed_tools()
    }

    /// Returns the tool of this name or alias.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let place = self.0.tools.place(name)?;
        self.0.is_allowed(place).then(|| &self.0.tools[place])
    }

    /// Returns the tool of this name or alias, or the error that a call of it gets.
    ///
    /// # Errors
    ///
    /// Returns `UnknownTool` with the nearest names, or `Denied` with the layer of the policy that denies the tool.
    pub fn find(&self, name: &str) -> Result<&Tool, ToolError> {
        self.place(name).map(|place| &self.0.tools[place])
    }

    /// Returns the index of the tool of this name or alias in the toolkit.
    fn place(&self, name: &str) -> Result<usize, ToolError> {
        let Scope { toolkit, tools, .. } = &*self.0;
        let Some(place) = tools.place(name) else { return Err(self.unknown(name)) };
        if toolkit.registry.version() != tools.version() {
            self.check_still_there(place)?;
        }
        let is_allowed = self.0.is_allowed(place);
        match &self.0.rules.policy {
            None if is_allowed => {}
            None => return Err(self.not_allowed(name, place)),
            Some(policy) if is_allowed && policy::is_current(&**policy, self.0.version) => {}
            Some(policy) => self.ask_again(name, place, is_allowed, &**policy)?,
        }
        Ok(place)
    }

    /// Checks that the policy allows the caller a tool, which need not be registered.
    ///
    /// # Errors
    ///
    /// Returns `Denied`, with the layer of the policy that denies the tool.
    pub fn admits(&self, tool: &Tool) -> Result<(), ToolError> {
        match self.0.rules.policy.as_deref() {
            Some(policy) => policy::check(policy, &self.0.caller, tool).map_err(|refusal| {
                ToolError::denied(format!("`{}` cannot be used here: {refusal}", tool.name()))
            }),
            None => Ok(()),
        }
    }

    /// Checks the policy again, so that a tool that was revoked since the toolbox was created is denied at once.
    fn ask_again(
        &self,
        name: &str,
        place: usize,
        is_allowed: bool,
        policy: &dyn Policy,
    ) -> Result<(), ToolError> {
        let tool = &self.0.tools[place];
        if let Err(refusal) = policy::check(policy, &self.0.caller, tool) {
            return Err(ToolError::denied(format!("`{name}` cannot be used here: {refusal}")));
        }
        if is_allowed { Ok(()) } else { Err(self.not_allowed(name, place)) }
    }

    /// Returns the error of a call of a tool that this toolbox does not have, although the policy admits it now.
    #[cold]
    fn not_allowed(&self, name: &str, place: usize) -> ToolError {
        let tool = &self.0.tools[place];
        match self.0.own.as_ref().and_then(|own| own.why_left(tool)) {
            Some(why) => ToolError::denied(format!("`{name}` cannot be used here: {why}")),
            None => ToolError::denied(format!(
                "`{name}` cannot be used yet: it was not allowed when this turn began"
            )),
        }
    }

    /// Checks that the tool was not removed since the toolbox was created.
    #[cold]
    fn check_still_there(&self, place: usize) -> Result<(), ToolError> {
        let Scope { toolkit, tools, .. } = &*self.0;
        if tools.is_still_in(place, &toolkit.tools()) {
            return Ok(());
        }
        Err(ToolError::new(
            ToolErrorKind::UnknownTool,
            format!(
                "the tool `{}` is no longer there: it was removed since this turn began; continue without it",
                tools[place].name()
            ),
        ))
    }

    /// Returns the context that the function of this tool would get, for a host that previews a call without making it:
    /// the caller, the workspace, the configuration, the rules. No call begins and nothing is recorded.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{Toolkit, permission::PermissionRequest};
    ///
    /// /// Puts the site online.
    /// #[tool]
    /// async fn deploy() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(deploy)).build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// let ctx = toolbox.context("deploy").expect("it is there");
    /// assert_eq!(ctx.tool_name(), "deploy");
    /// assert!(!ctx.decide(&PermissionRequest::new("deploy", &["site".to_owned()])).said);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`find`](Self::find).
    pub fn context(&self, name: &str) -> Result<ToolContext, ToolError> {
        let place = self.place(name)?;
        let called_as = self.0.tools[place].name().to_owned();
        let tool = Called::Listed(place);
        Ok(ToolContext::of_call(String::new(), called_as, tool, self.0.clone(), None, None, None))
    }

    /// Returns true unless the configuration was [reloaded](crate::Toolkit::reload) since the toolbox was created: a host that keeps a toolbox
    /// for longer than a turn creates a new one then.
    pub fn has_current_configuration(&self) -> bool {
        Arc::ptr_eq(&self.0.rules, &self.0.toolkit.rules.get())
    }

    /// Returns the caller.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// Returns the definitions that a model sees now, by name. If [some are only found by a search](crate::discovery::Discovery),
    /// returns those that the session was shown first, by name, then those that it found, in that order. Call this
    /// again before each request to a model, because a call may have found more.
    ///
    /// A tool with an invalid schema is left out; calling it returns the reason.
    pub fn definitions(&self) -> Vec<Definition> {
        self.shown().into_iter().filter_map(|tool| tool.definition().ok()).collect()
    }

    /// Returns the definition of the tool of this name or alias, as a model sees it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find), and `Unavailable` if the types of the tool produce an invalid
    /// schema.
    pub fn definition(&self, name: &str) -> Result<Definition, ToolError> {
        self.find(name)?.definition()
    }

    /// Returns the diagnostics of creating this toolbox: tools that could not be prepared for its caller, and tools
    /// that do not exist for it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.0.own.as_deref().map_or(&[], Own::diagnostics)
    }

    /// Returns the events of calls in this toolbox's session, from now on.
    pub fn events(&self) -> Events {
        self.0.toolkit.events.subscribe(Wanted::Session(self.0.session.id().to_owned()))
    }

    /// Returns the progress and log events of the call of this id, from now on: its
    /// [`Event::Progress`](crate::events::Event::Progress) and [`Event::Log`](crate::events::Event::Log). Unlike
    /// [`events`](Self::events), this creates no other events. The stream does not end with the call.
    pub fn notices(&self, call_id: impl Into<String>) -> Events {
        self.0.toolkit.events.subscribe(Wanted::Notices(call_id.into()))
    }

    /// Runs a call. There is always exactly one result.
    ///
    /// Calls of one session go through one gate: calls of tools that are `read_only` run together, every other call
    /// runs alone, all in the order in which they arrived. For a caller without a session, the toolbox and its clones
    /// form one.
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send {
        self.run(call, CallOptions::default())
    }

    /// Runs a call with options: a cancellation token or a time limit, for example `call_with(call, token)`.
    pub fn call_with(
        &self,
        call: ToolCall,
        options: impl Into<CallOptions>,
    ) -> impl Future<Output = ToolResult> + Send {
        self.run(call, options.into())
    }

    // Only delegates: the code of async functions is compiled again in every crate that calls them. The state of a call
    // is not moved: moving an outcome costs more than most of the work on it.
    async fn run(&self, call: ToolCall, options: CallOptions) -> ToolResult {
        let toolkit = &self.0.toolkit;
        // The end of the toolkit waits for what is removed at the end of the call, too.
        let _in_flight = toolkit.settings.ask_store.as_ref().map(|_| toolkit.lifecycle.enter());
        let mut begun = self.begin(call, options);
        let (context, start) = begun.parts();
        if start.outcome.is_none() {
            let mut running = Running::new(context, start);
            poll_fn(|task| running.poll(task)).await;
        }
        if let Some(removed) = begun.forget_asks() {
            removed.await;
        }
        begun.take_result()
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = self.tools().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases()));
        let near: Vec<String> = nearest(name, names).into_iter().map(|near| format!("`{near}`")).collect();
        let advice =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        let why = self.0.toolkit.absence(name).map(|why| format!(": {why}")).unwrap_or_default();
        let left_out =
            self.0.toolkit.left_out(name).filter(|(left_out, _)| *left_out == name || near.is_empty());
        let advice = if let Some((left_out, place)) = left_out {
            let found = if left_out == name { "the tool".to_owned() } else { format!("`{left_out}`") };
            format!(
                "; {found} at {place} is not among those of this toolkit: add it, with `.tool(toolkit::tool_ref!(..))` of its function"
            )
        } else if self.0.toolkit.is_test && why.is_empty() {
            let begin = if advice.is_empty() { "; a" } else { " A" };
            format!(
                "{advice}{begin} `TestToolbox` has only the tools that the test adds: add one with `.tool(..)`"
            )
        } else if self.0.toolkit.leaves_linked_tools_out() && advice.is_empty() && why.is_empty() {
            "; this toolkit has no tools: `Toolkit::empty()` begins without those that are linked, `Toolkit::builder()` with them"
                .to_owned()
        } else {
            advice
        };
        ToolError::new(
            ToolErrorKind::UnknownTool,
            format!("there is no tool `{}`{why}{advice}", escape_line(&cut(name, MAX_NAME_BYTES))),
        )
    }
}
