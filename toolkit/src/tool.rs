//! A tool that can be called, whatever it was made from.

mod args;
mod bind;
mod dynamic;
mod make;
mod output_check;
mod shown;
mod weak;

pub use args::DynamicArgs;
pub use dynamic::{InvalidTool, ToolBuilder};
pub(crate) use weak::WeakTool;

use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::definition::Annotations;
use crate::error::ToolError;
use crate::location::Location;
use crate::output::ToolOutput;
use crate::schema::Compiled;
use crate::source::Source;
use crate::state::Services;
use crate::tool_def::{BoxFuture, FormatError, Run, ServiceDef, ToolDef};
use crate::truncate::Truncate;
use bind::Bindings;
use dynamic::Dynamic;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A tool. Cheap to clone.
///
/// Made from an annotated function, or at run time: [`Tool::from_fn`] and [`Tool::builder`].
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

/// What most tools never need is in boxes: a toolkit may have thousands of tools, few of which are ever called.
struct Inner {
    made: Made,
    compiled: OnceLock<Result<Box<Compiled>, Box<str>>>,
    output_schema: OnceLock<Option<Box<Value>>>,
    limit: OnceLock<Arc<Semaphore>>,
    /// Roughly how long its definition is.
    tokens: OnceLock<usize>,
}

/// What a tool is made of; the rest follows from it.
#[derive(Clone)]
struct Made {
    from: Origin,
    name: Option<Box<str>>,
    services: Services,
    source: Source,
    plugin: Option<Arc<str>>,
    /// What few tools have.
    changes: Option<Box<Changes>>,
}

/// What was made different about a tool after its author had stated it.
#[derive(Clone, Default)]
struct Changes {
    description: Option<Arc<str>>,
    /// With annotations, and before anything is bound.
    schema: Option<Arc<Value>>,
    bindings: Bindings,
    optional: bool,
}

/// What states a tool.
#[derive(Clone)]
enum Origin {
    Static(&'static ToolDef),
    Dynamic(Arc<Dynamic>),
}

/// How a tool runs.
pub(crate) enum Runs<'a> {
    /// As a future.
    Waiting(Waiting<'a>),
    /// On the blocking pool.
    Blocking(fn(&ToolContext, &mut Arguments) -> Result<ToolOutput, ToolError>),
}

/// A function that waits.
pub(crate) enum Waiting<'a> {
    Static(for<'b> fn(&'b ToolContext, &mut Arguments) -> Result<BoxFuture<'b>, ToolError>),
    Dynamic(&'a Dynamic),
}

impl Waiting<'_> {
    /// Calls the function, with what is bound beside the arguments of the call.
    pub(crate) fn start<'b>(
        &self,
        context: &'b ToolContext,
        arguments: &mut Arguments,
    ) -> Result<BoxFuture<'b>, ToolError> {
        if let Some(bound) = context.tool().bound_arguments() {
            arguments.extend(bound);
        }
        match self {
            Self::Static(function) => function(context, arguments),
            Self::Dynamic(dynamic) => Ok(dynamic.start(context, arguments)),
        }
    }
}

/// What most tools have of their own.
static NO_SERVICES: LazyLock<Services> = LazyLock::new(Services::default);

/// A tool that nobody wrote.
static NAMELESS: ToolDef = ToolDef::BASE;

impl Tool {
    /// Stands where there is no tool: outside a toolkit, or for a name that nobody knows.
    pub(crate) fn nameless() -> Self {
        Self::new(&NAMELESS)
    }

    /// A tool from its static definition.
    pub fn new(def: &'static ToolDef) -> Self {
        Self::linked(def, Source::Runtime, None, false)
    }

    /// What its author stated, but for the texts, which a tool made at run time has of its own.
    pub(crate) fn stated(&self) -> &ToolDef {
        match &self.0.made.from {
            Origin::Static(def) => def,
            Origin::Dynamic(dynamic) => &dynamic.stated,
        }
    }

    fn dynamic(&self) -> Option<&Dynamic> {
        match &self.0.made.from {
            Origin::Static(_) => None,
            Origin::Dynamic(dynamic) => Some(dynamic),
        }
    }

    fn changes(&self) -> Option<&Changes> {
        self.0.made.changes.as_deref()
    }

    /// The name that models call it by.
    pub fn name(&self) -> &str {
        match (&self.0.made.name, &self.0.made.from) {
            (Some(name), _) => name,
            (None, Origin::Static(def)) => def.name,
            (None, Origin::Dynamic(dynamic)) => &dynamic.name,
        }
    }

    /// Its name for people.
    pub fn title(&self) -> &str {
        self.own_title().unwrap_or(self.name())
    }

    fn own_title(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().title, |dynamic| dynamic.title.as_deref())
    }

    /// What it does, for the model.
    pub fn description(&self) -> &str {
        match (self.changes().and_then(|changes| changes.description.as_deref()), &self.0.made.from) {
            (Some(description), _) => description,
            (None, Origin::Static(def)) => def.description,
            (None, Origin::Dynamic(dynamic)) => &dynamic.description,
        }
    }

    /// The groups it belongs to.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &str> {
        let own = self.dynamic().map(|dynamic| &dynamic.groups);
        Texts { fixed: self.stated().groups, own: own.map_or(&[], Vec::as_slice) }
    }

    /// Other names that it answers to.
    pub fn aliases(&self) -> impl ExactSizeIterator<Item = &str> {
        // A renamed tool must not answer to the names of the one it was made from.
        if self.0.made.name.is_some() {
            return Texts { fixed: &[], own: &[] };
        }
        let own = self.dynamic().map(|dynamic| &dynamic.aliases);
        Texts { fixed: self.stated().aliases, own: own.map_or(&[], Vec::as_slice) }
    }

    /// Other names of a parameter.
    pub fn parameter_aliases(&self, parameter: &str) -> impl ExactSizeIterator<Item = &str> {
        let found = self.stated().parameters().iter().find(|def| def.name == parameter);
        found.filter(|_| !self.is_bound(parameter)).map_or(&[][..], |def| def.aliases).iter().copied()
    }

    /// The kind of permission it asks for: what its author states, else its name.
    ///
    /// A tool of a server or a client has the kind `mcp` or `client`, whatever is stated: it must not choose which rule
    /// lets it run.
    pub fn permission(&self) -> &str {
        if let Some(kind) = self.source().remote_kind() {
            return kind;
        }
        let own = self.dynamic().and_then(|dynamic| dynamic.permission.as_deref());
        own.or(self.stated().permission).unwrap_or(self.name())
    }

    /// An icon for user interfaces.
    pub fn icon(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().icon, |dynamic| dynamic.icon.as_deref())
    }

    /// Why it should no longer be used.
    pub fn deprecated(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().deprecated, |dynamic| dynamic.deprecated.as_deref())
    }

    /// Whether it is there only where an allow list names it.
    pub fn is_optional(&self) -> bool {
        self.stated().optional || self.changes().is_some_and(|changes| changes.optional)
    }

    /// Whether it may run without asking.
    pub fn is_auto_execute(&self) -> bool {
        self.stated().auto_execute
    }

    /// How long a call may take; the host's default where `None`.
    pub fn timeout(&self) -> Option<Duration> {
        self.stated().timeout
    }

    /// How many of its calls may run at once; any number where `None`.
    pub fn concurrency(&self) -> Option<u32> {
        self.stated().concurrency
    }

    /// How its output is cut; the host's defaults where `None`.
    pub fn truncate(&self) -> Option<Truncate> {
        self.stated().truncate
    }

    /// Whether it asks by itself where it has to, so that nobody asks before it runs.
    pub fn asks(&self) -> bool {
        self.stated().asks
    }

    /// The services that it takes, as its code names their types.
    pub fn service_names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.service_defs().iter().map(|service| (service.name)())
    }

    pub(crate) fn service_defs(&self) -> &'static [&'static ServiceDef] {
        self.stated().services
    }

    /// Where it is written; unknown of a tool whose code runs elsewhere.
    ///
    /// A tool that was made at run time knows file, line and column, and not its crate.
    pub fn location(&self) -> Option<Location> {
        (!self.source().is_remote()).then(|| self.stated().location)
    }

    /// The crate that it is written in; empty where nobody knows.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.stated().location.crate_name()
    }

    /// Where it came from. Until a toolkit has it, that is [`Source::Runtime`], or what
    /// [`with_source`](Self::with_source) said.
    pub fn source(&self) -> &Source {
        &self.0.made.source
    }

    /// The plugin that it belongs to, where it is a plugin's: also for the channel that a plugin brings.
    pub fn plugin_id(&self) -> Option<&str> {
        match self.source() {
            Source::Plugin { id } => Some(id),
            _ => self.0.made.plugin.as_deref(),
        }
    }

    /// The channel in whose sessions alone it exists.
    pub fn channel(&self) -> Option<&str> {
        match self.source() {
            Source::Channel { name } => Some(name),
            _ => self.stated().channel,
        }
    }

    /// What its author stated with `#[tool]`; absent for a tool that was made at run time.
    pub fn def(&self) -> Option<&'static ToolDef> {
        match self.0.made.from {
            Origin::Static(def) => Some(def),
            Origin::Dynamic(_) => None,
        }
    }

    pub(crate) fn tokens_once(&self, count: impl FnOnce() -> usize) -> &usize {
        self.0.tokens.get_or_init(count)
    }

    /// How many of its calls may run at once.
    pub(crate) fn limit(&self) -> Option<&Arc<Semaphore>> {
        let count = self.stated().concurrency?;
        Some(self.0.limit.get_or_init(|| Arc::new(Semaphore::new(count as usize))))
    }

    pub(crate) fn run(&self) -> Runs<'_> {
        match &self.0.made.from {
            Origin::Static(def) => match def.run {
                Run::Async(function) => Runs::Waiting(Waiting::Static(function)),
                Run::Blocking(function) => Runs::Blocking(function),
            },
            Origin::Dynamic(dynamic) => Runs::Waiting(Waiting::Dynamic(dynamic)),
        }
    }

    pub(crate) fn format_error(&self) -> Option<FormatError> {
        self.stated().format_error
    }

    /// What it does to the world.
    pub fn annotations(&self) -> Annotations {
        let def = self.stated();
        Annotations {
            read_only_hint: def.read_only,
            destructive_hint: def.destructive,
            idempotent_hint: def.idempotent,
            open_world_hint: def.open_world,
        }
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0.made.services
    }
}

/// Texts that a program holds, then texts of a tool made at run time.
struct Texts<'a> {
    fixed: &'a [&'a str],
    own: &'a [Box<str>],
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if let Some((first, rest)) = self.fixed.split_first() {
            self.fixed = rest;
            return Some(first);
        }
        let (first, rest) = self.own.split_first()?;
        self.own = rest;
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.fixed.len() + self.own.len();
        (count, Some(count))
    }
}

impl ExactSizeIterator for Texts<'_> {}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name())
            .field("source", &self.source())
            .field("location", &self.location())
            .finish_non_exhaustive()
    }
}
