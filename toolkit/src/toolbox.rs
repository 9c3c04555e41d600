//! What one caller may use, and the one path that every call takes.

mod asking;
mod at_once;
mod batch;
mod before;
mod begin;
mod config;
mod context;
mod definitions;
mod discover;
mod explain;
mod finish;
mod nested;
mod options;
mod own;
mod repeats;
mod report;
mod run;
mod span;
mod stand_in;
mod unattended;

pub(crate) use at_once::all_within;
pub(crate) use before::ask_for;
pub use options::CallOptions;

use crate::call::{ToolCall, ToolResult};
use crate::caller::Caller;
use crate::context::{Called, ToolContext};
use crate::definition::Definition;
use crate::diagnostic::Diagnostic;
use crate::error::{ToolError, ToolErrorKind};
use crate::escape::escape_line;
use crate::events::{Events, Wanted};
use crate::name::{MAX_NAME_BYTES, nearest};
use crate::policy::{self, Policy};
use crate::registry::{Inner, Tools};
use crate::session::Session;
use crate::tool::Tool;
use discover::{OnceSearched, Shown};
use own::Own;
use run::Running;
use std::future::poll_fn;
use std::sync::Arc;

/// What one caller may use: a snapshot that hands out definitions and runs calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Toolbox(Arc<Scope>);

/// What the calls of one toolbox share.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) toolkit: Arc<Inner>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) session: Arc<Session>,
    /// The tools that there were when it was made.
    pub(crate) tools: Tools,
    /// The places in `tools` of those that the policy allows; all where `None`.
    allowed: Option<Vec<usize>>,
    /// That of the policy, when it was asked for these.
    version: Option<u64>,
    /// What was made or left out for this caller, where anything was.
    own: Option<Box<Own>>,
    /// What of them a model is shown; all where `None`.
    shown: Option<Box<Shown>>,
    searched: OnceSearched,
}

impl Scope {
    /// Whether the tool at this place is there.
    fn is_allowed(&self, place: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.binary_search(&place).is_ok())
    }

    /// Outside any toolkit.
    pub(crate) fn detached(caller: Caller) -> Arc<Self> {
        let toolkit = Arc::new(Inner::default());
        let tools = Tools::default();
        Arc::new(Self {
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

impl Toolbox {
    pub(crate) fn new(toolkit: Arc<Inner>, mut caller: Caller) -> Self {
        if caller.workspace.is_none() {
            caller.workspace.clone_from(&toolkit.settings.workspace);
        }
        let session = match &caller.session_id {
            Some(id) => toolkit.sessions.open(id),
            None => Session::unnamed(),
        };
        let tools = toolkit.tools();
        let policy = toolkit.settings.policy.as_deref();
        // Before it is asked: what changes in between is asked for again.
        let version = policy.and_then(policy::version);
        let allowed = policy.map(|policy| policy::admitted(policy, &caller, &tools));
        let allowed = allowed.filter(|allowed| allowed.len() < tools.len());
        let caller = Arc::new(caller);
        Self::of(Arc::new(Scope {
            toolkit,
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

    /// The tools, by name: also those that a model is not shown yet.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        let Scope { tools, allowed, .. } = &*self.0;
        let count = allowed.as_ref().map_or(tools.len(), Vec::len);
        (0..count).map(move |place| &tools[allowed.as_ref().map_or(place, |allowed| allowed[place])])
    }

    /// The tool of this name or alias.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        let place = self.0.tools.place(name)?;
        self.0.is_allowed(place).then(|| &self.0.tools[place])
    }

    /// The tool of this name or alias, or the error that a call of it gets.
    ///
    /// # Errors
    ///
    /// `UnknownTool`, naming the nearest ones; `Denied`, naming what in the policy denies it.
    pub fn find(&self, name: &str) -> Result<&Tool, ToolError> {
        self.place(name).map(|place| &self.0.tools[place])
    }

    /// The place of the tool of this name or alias in the toolkit.
    fn place(&self, name: &str) -> Result<usize, ToolError> {
        let Scope { toolkit, tools, .. } = &*self.0;
        let Some(place) = tools.place(name) else { return Err(self.unknown(name)) };
        if toolkit.registry.version() != tools.version() {
            self.check_still_there(place)?;
        }
        let is_allowed = self.0.is_allowed(place);
        match &toolkit.settings.policy {
            None => {}
            Some(policy) if is_allowed && policy::is_current(&**policy, self.0.version) => {}
            Some(policy) => self.ask_again(name, place, is_allowed, &**policy)?,
        }
        Ok(place)
    }

    /// Checks that the policy leaves the caller a tool, which need not be registered.
    ///
    /// # Errors
    ///
    /// `Denied`, with the layer of the policy that refuses it.
    pub fn admits(&self, tool: &Tool) -> Result<(), ToolError> {
        match self.0.toolkit.settings.policy.as_deref() {
            Some(policy) => policy::check(policy, &self.0.caller, tool).map_err(|refusal| {
                ToolError::denied(format!("`{}` cannot be used here: {refusal}", tool.name()))
            }),
            None => Ok(()),
        }
    }

    /// Asks the policy once more, so that what was revoked since the toolbox was made counts at once.
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
        if !is_allowed {
            if let Some(why) = self.0.own.as_ref().and_then(|own| own.why_left(tool)) {
                return Err(ToolError::denied(format!("`{name}` cannot be used here: {why}")));
            }
            return Err(ToolError::denied(format!(
                "`{name}` cannot be used yet: it was not allowed when this turn began"
            )));
        }
        Ok(())
    }

    /// What was taken out since the toolbox was made is gone at once.
    #[cold]
    fn check_still_there(&self, place: usize) -> Result<(), ToolError> {
        let Scope { toolkit, tools, .. } = &*self.0;
        if tools.is_still_in(place, &toolkit.tools()) {
            return Ok(());
        }
        Err(ToolError::new(
            ToolErrorKind::UnknownTool,
            format!(
                "the tool `{}` is no longer there: it was taken out since this turn began; do without it",
                tools[place].name()
            ),
        ))
    }

    /// What the function of this tool would be handed, for a host that shows what a call would do without making it: the
    /// caller, the workspace, the configuration, the rules. No call begins and nothing is recorded.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{PermissionRequest, Toolkit};
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
    /// As [`find`](Self::find).
    pub fn context(&self, name: &str) -> Result<ToolContext, ToolError> {
        let place = self.place(name)?;
        let called_as = self.0.tools[place].name().to_owned();
        let tool = Called::Listed(place);
        Ok(ToolContext::new(String::new(), called_as, tool, Arc::clone(&self.0), None, None, None))
    }

    /// Whom it is for.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// The tools as a model sees them now: by name, or, where [some are left for it to find](crate::Discovery), what the session was
    /// shown first, by name, then what it found, in that order. Ask anew before each request to a model: a call may have
    /// found more.
    ///
    /// A tool whose types state a schema that is not valid is missing here; calling it says why.
    pub fn definitions(&self) -> Vec<Definition> {
        self.shown().into_iter().filter_map(|tool| tool.definition().ok()).collect()
    }

    /// The tool of this name or alias as a model sees it.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find), and `Unavailable` where its types state a schema that is not valid.
    pub fn definition(&self, name: &str) -> Result<Definition, ToolError> {
        self.find(name)?.definition()
    }

    /// What was noticed while this toolbox was made: tools that could not be made ready for its caller, and those that
    /// are not there for it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.0.own.as_deref().map_or(&[], Own::diagnostics)
    }

    /// What happens to the calls of this toolbox's session, from now on.
    pub fn events(&self) -> Events {
        self.0.toolkit.events.subscribe(Wanted::Session(self.0.session.id().to_owned()))
    }

    /// How far the call of this id gets and what it logs, from now on: its [`Event::Progress`](crate::Event::Progress) and
    /// [`Event::Log`](crate::Event::Log). Unlike [`events`](Self::events), no other event is made for it. The stream does not
    /// end with the call.
    pub fn notices(&self, call_id: impl Into<String>) -> Events {
        self.0.toolkit.events.subscribe(Wanted::Notices(call_id.into()))
    }

    /// Runs a call. There is exactly one result, whatever happens.
    ///
    /// Calls of one session go through one gate: those of tools that are `read_only` run together, every other one
    /// alone, all in the order in which they came. Where the caller has no session, the toolbox and its clones are
    /// one.
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send {
        self.run(call, CallOptions::default())
    }

    /// Runs a call that can be cancelled, or with a time limit of its own: `call_with(call, token)`.
    pub fn call_with(
        &self,
        call: ToolCall,
        options: impl Into<CallOptions>,
    ) -> impl Future<Output = ToolResult> + Send {
        self.run(call, options.into())
    }

    // Only hands over: the code of async functions is compiled again in every crate that calls them.
    // What a call is made of stays where it is made: moving an outcome costs more than most of what is done with it.
    async fn run(&self, call: ToolCall, options: CallOptions) -> ToolResult {
        let mut begun = self.begin(call, options);
        let (context, start) = begun.parts();
        if start.outcome.is_none() {
            let mut running = Running::new(context, start);
            poll_fn(|task| running.poll(task)).await;
        }
        begun.take_result()
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = self.tools().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases()));
        let near: Vec<String> = nearest(name, names).into_iter().map(|near| format!("`{near}`")).collect();
        let advice =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        let why = self.0.toolkit.absence(name).map(|why| format!(": {why}")).unwrap_or_default();
        ToolError::new(
            ToolErrorKind::UnknownTool,
            format!("there is no tool `{}`{why}{advice}", escape_line(&cut(name))),
        )
    }
}

/// A name that a model made up, at a length that it can read.
fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME_BYTES) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}
