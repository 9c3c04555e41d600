//! Tools that can be called, of any origin: their definitions, their preparation for a caller, and the context of their calls.
//!
//! These types refer to each other: the definition holds a function of the context, and the context returns its tool.

mod args;
mod bind;
pub(crate) mod context;
pub(crate) mod def;
mod dynamic;
mod make;
mod output_check;
pub(crate) mod prepare;
mod shown;
mod weak;

pub use args::DynamicArgs;
pub use dynamic::{InvalidTool, ToolBuilder};
pub(crate) use weak::WeakTool;

use crate::tool::context::ToolContext;
use crate::tool::def::{BoxFuture, FormatError, Run, ServiceDef, ToolDef};
use bind::Bindings;
use dynamic::Dynamic;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use toolkit_core::arguments::Arguments;
use toolkit_core::definition::Annotations;
use toolkit_core::error::ToolError;
use toolkit_core::location::Location;
use toolkit_core::output::ToolOutput;
use toolkit_core::schema::Compiled;
use toolkit_core::source::Source;
use toolkit_core::state::Services;
use toolkit_core::truncate::Truncate;

/// A tool. Cheap to clone.
///
/// It is made from an annotated function, or created at run time: [`Tool::from_fn`] and [`Tool::builder`].
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

/// Fields that most tools never need are boxed: a toolkit may have thousands of tools, few of which are ever called.
struct Inner {
    made: Made,
    compiled: OnceLock<Result<Box<Compiled>, Box<str>>>,
    output_schema: OnceLock<Option<Box<Value>>>,
    limit: OnceLock<Arc<Semaphore>>,
    /// The estimated number of tokens of its definition.
    tokens: OnceLock<usize>,
}

/// The parts of a tool from which everything else is derived.
#[derive(Clone)]
struct Made {
    from: Origin,
    name: Option<Box<str>>,
    services: Services,
    source: Source,
    plugin: Option<Arc<str>>,
    /// Changes to the original definition, which few tools have.
    changes: Option<Box<Changes>>,
}

/// The changes made to a tool after its author's definition.
#[derive(Clone, Default)]
struct Changes {
    description: Option<Arc<str>>,
    /// The schema with annotations, before arguments are bound.
    schema: Option<Arc<Value>>,
    bindings: Bindings,
    optional: bool,
}

/// The origin of a tool's definition.
#[derive(Clone)]
enum Origin {
    Static(&'static ToolDef),
    Dynamic(Arc<Dynamic>),
}

/// The way in which a tool runs.
pub(crate) enum Runs<'a> {
    /// An async function.
    Waiting(Waiting<'a>),
    /// A blocking function, which runs on tokio's blocking pool.
    Blocking(fn(&ToolContext, &mut Arguments) -> Result<ToolOutput, ToolError>),
}

/// An async function.
pub(crate) enum Waiting<'a> {
    Static(for<'b> fn(&'b ToolContext, &mut Arguments) -> Result<BoxFuture<'b>, ToolError>),
    Dynamic(&'a Dynamic),
}

impl Waiting<'_> {
    /// Calls the function with the arguments of the call and the bound arguments.
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

/// The own services of most tools: none.
static NO_SERVICES: LazyLock<Services> = LazyLock::new(Services::default);

/// The definition of a placeholder.
static NAMELESS: ToolDef = ToolDef::BASE;

impl Tool {
    /// Returns a placeholder for a missing tool: outside a toolkit, or for an unknown name.
    pub(crate) fn nameless() -> Self {
        Self::new(&NAMELESS)
    }

    /// Creates a tool from its static definition.
    pub fn new(def: &'static ToolDef) -> Self {
        Self::linked(def, Source::Runtime, None, false)
    }

    /// Returns the author's definition, except for the texts, which a tool created at run time stores separately.
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

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        match (&self.0.made.name, &self.0.made.from) {
            (Some(name), _) => name,
            (None, Origin::Static(def)) => def.name,
            (None, Origin::Dynamic(dynamic)) => &dynamic.name,
        }
    }

    /// Returns the display name.
    pub fn title(&self) -> &str {
        self.own_title().unwrap_or(self.name())
    }

    fn own_title(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().title, |dynamic| dynamic.title.as_deref())
    }

    /// Returns the description for the model.
    pub fn description(&self) -> &str {
        match (self.changes().and_then(|changes| changes.description.as_deref()), &self.0.made.from) {
            (Some(description), _) => description,
            (None, Origin::Static(def)) => def.description,
            (None, Origin::Dynamic(dynamic)) => &dynamic.description,
        }
    }

    /// Returns the groups of the tool.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &str> {
        let own = self.dynamic().map(|dynamic| &dynamic.groups);
        Texts { fixed: self.stated().groups, own: own.map_or(&[], Vec::as_slice) }
    }

    /// Returns the aliases.
    pub fn aliases(&self) -> impl ExactSizeIterator<Item = &str> {
        // A renamed tool must not have the aliases of the original tool.
        if self.0.made.name.is_some() {
            return Texts { fixed: &[], own: &[] };
        }
        let own = self.dynamic().map(|dynamic| &dynamic.aliases);
        Texts { fixed: self.stated().aliases, own: own.map_or(&[], Vec::as_slice) }
    }

    /// Returns the aliases of a parameter.
    pub fn parameter_aliases(&self, parameter: &str) -> impl ExactSizeIterator<Item = &str> {
        let found = self.stated().parameters().iter().find(|def| def.name == parameter);
        found.filter(|_| !self.is_bound(parameter)).map_or(&[][..], |def| def.aliases).iter().copied()
    }

    /// Returns the kind of permission under which it asks: the one that its author states, or else its name.
    ///
    /// A tool of a server or a client always has the kind `mcp` or `client`, because it must not choose which rule
    /// allows it.
    pub fn permission(&self) -> &str {
        if let Some(kind) = self.source().remote_kind() {
            return kind;
        }
        let own = self.dynamic().and_then(|dynamic| dynamic.permission.as_deref());
        own.or(self.stated().permission).unwrap_or(self.name())
    }

    /// Returns the icon for user interfaces.
    pub fn icon(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().icon, |dynamic| dynamic.icon.as_deref())
    }

    /// Returns the reason why it should no longer be used.
    pub fn deprecated(&self) -> Option<&str> {
        self.dynamic().map_or(self.stated().deprecated, |dynamic| dynamic.deprecated.as_deref())
    }

    /// Returns true if it exists only if an allow list names it.
    pub fn is_optional(&self) -> bool {
        self.stated().optional || self.changes().is_some_and(|changes| changes.optional)
    }

    /// Returns true if it may run without approval.
    pub fn is_auto_execute(&self) -> bool {
        self.stated().auto_execute
    }

    /// Returns the time limit of a call; `None` for the host's default.
    pub fn timeout(&self) -> Option<Duration> {
        self.stated().timeout
    }

    /// Returns the maximum number of simultaneous calls; `None` for no maximum.
    pub fn concurrency(&self) -> Option<u32> {
        self.stated().concurrency
    }

    /// Returns the limits of its output; `None` for the host's defaults.
    pub fn truncate(&self) -> Option<Truncate> {
        self.stated().truncate
    }

    /// Returns true if it asks for approval itself, so that no approval is needed before it runs.
    pub fn asks(&self) -> bool {
        self.stated().asks || self.always_asks()
    }

    /// Returns true if it asks for approval itself in each call, whatever the arguments are, under its
    /// [kind of permission](Self::permission).
    pub fn always_asks(&self) -> bool {
        self.stated().always_asks
    }

    /// Returns the services that it takes, by the names of their types in the code.
    pub fn service_names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.service_defs().iter().map(|service| (service.name)())
    }

    pub(crate) fn service_defs(&self) -> &'static [&'static ServiceDef] {
        self.stated().services
    }

    /// Returns the source location; unknown for a tool whose code runs elsewhere.
    ///
    /// The location of a tool created at run time has file, line and column, but not its crate.
    pub fn location(&self) -> Option<Location> {
        (!self.source().is_remote()).then(|| self.stated().location)
    }

    /// Returns the crate that defines it; empty if unknown.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.stated().location.crate_name()
    }

    /// Returns the source of the tool. Before a toolkit has the tool, that is [`Source::Runtime`], or the source set by
    /// [`with_source`](Self::with_source).
    pub fn source(&self) -> &Source {
        &self.0.made.source
    }

    /// Returns the plugin that defines it, if any, including a plugin that defines the tool's channel.
    pub fn plugin_id(&self) -> Option<&str> {
        match self.source() {
            Source::Plugin { id } => Some(id),
            _ => self.0.made.plugin.as_deref(),
        }
    }

    /// Returns the channel to whose sessions it is limited.
    pub fn channel(&self) -> Option<&str> {
        match self.source() {
            Source::Channel { name } => Some(name),
            _ => self.stated().channel,
        }
    }

    /// Returns the definition from `#[tool]`; `None` for a tool created at run time.
    pub fn def(&self) -> Option<&'static ToolDef> {
        match self.0.made.from {
            Origin::Static(def) => Some(def),
            Origin::Dynamic(_) => None,
        }
    }

    pub(crate) fn tokens_once(&self, count: impl FnOnce() -> usize) -> &usize {
        self.0.tokens.get_or_init(count)
    }

    /// Returns the semaphore that limits simultaneous calls.
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

    /// Returns the annotations about its effects.
    pub fn annotations(&self) -> Annotations {
        let def = self.stated();
        let mut annotations = Annotations::default();
        annotations.read_only_hint = def.read_only;
        annotations.destructive_hint = def.destructive;
        annotations.idempotent_hint = def.idempotent;
        annotations.open_world_hint = def.open_world;
        annotations
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0.made.services
    }
}

/// An iterator over static texts, then texts of a tool created at run time.
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
