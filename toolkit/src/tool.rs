//! A tool that can be called, whatever it was made from.

use crate::definition::{Annotations, Definition};
use crate::error::ToolError;
use crate::guard::guard;
use crate::schema::{self, Compiled};
use crate::state::{Service, Services};
use crate::tool_def::{FormatError, Location, Run, ToolDef};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};
use tokio::sync::Semaphore;

/// A tool. Cheap to clone.
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

/// What most tools never need is in boxes: a toolkit may have thousands of tools, few of which are ever called.
struct Inner {
    made: Made,
    compiled: OnceLock<Result<Box<Compiled>, Box<str>>>,
    output_schema: OnceLock<Option<Box<Value>>>,
    limit: OnceLock<Arc<Semaphore>>,
}

/// What a tool is made of; the rest follows from it.
#[derive(Clone)]
struct Made {
    def: &'static ToolDef,
    name: Option<Box<str>>,
    services: Services,
}

impl From<Made> for Tool {
    fn from(made: Made) -> Self {
        Self(Arc::new(Inner {
            made,
            compiled: OnceLock::new(),
            output_schema: OnceLock::new(),
            limit: OnceLock::new(),
        }))
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
        Made { def, name: None, services: NO_SERVICES.clone() }.into()
    }

    /// The same tool under another name.
    ///
    /// ```standalone_crate
    /// # use toolkit::prelude::*;
    /// # struct Db;
    /// /// Runs a query.
    /// #[tool(read_only)]
    /// async fn query(db: State<Db>, /** The SQL. */ sql: String) -> String { sql }
    ///
    /// let toolkit = Toolkit::empty()
    ///     .tool(toolkit::tool_ref!(query).with_state(Db).named("test_query"))
    ///     .tool(toolkit::tool_ref!(query).with_state(Db).named("prod_query"))
    ///     .build();
    /// assert_eq!(toolkit.unwrap().tools().len(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Never; a name that is not [valid](crate::is_valid_name) is an error when the toolkit is built.
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        Made { name: Some(name.into().into_boxed_str()), ..self.0.made.clone() }.into()
    }

    /// The same tool with a service of its own.
    #[must_use]
    pub fn with_state<T: Service>(&self, state: T) -> Self {
        self.with_shared_state(Arc::new(state))
    }

    /// The same tool with a service of its own, shared or as a trait object.
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Service>(&self, state: Arc<T>) -> Self {
        let mut made = self.0.made.clone();
        made.services.insert(state);
        made.into()
    }

    /// The name that models call it by.
    pub fn name(&self) -> &str {
        self.0.made.name.as_deref().unwrap_or(self.def().name)
    }

    /// Its name for people.
    pub fn title(&self) -> &str {
        self.def().title.unwrap_or(self.name())
    }

    /// What it does, for the model.
    pub fn description(&self) -> &str {
        self.def().description
    }

    /// The groups it belongs to.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &str> {
        self.def().groups.iter().copied()
    }

    /// Other names that it answers to.
    pub fn aliases(&self) -> impl ExactSizeIterator<Item = &str> {
        // A renamed tool must not answer to the names of the one it was made from.
        let aliases: &[&str] = if self.0.made.name.is_some() { &[] } else { self.def().aliases };
        aliases.iter().copied()
    }

    /// Other names of a parameter.
    pub fn parameter_aliases(&self, parameter: &str) -> impl ExactSizeIterator<Item = &str> {
        let found = self.def().parameters().iter().find(|def| def.name == parameter);
        found.map_or(&[][..], |def| def.aliases).iter().copied()
    }

    /// The kind of permission it asks for.
    pub fn permission(&self) -> &str {
        self.def().permission.unwrap_or(self.name())
    }

    /// An icon for user interfaces.
    pub fn icon(&self) -> Option<&str> {
        self.def().icon
    }

    /// Why it should no longer be used.
    pub fn deprecated(&self) -> Option<&str> {
        self.def().deprecated
    }

    /// Whether it is there only where an allow list names it.
    pub fn is_optional(&self) -> bool {
        self.def().optional
    }

    /// Whether it may run without asking.
    pub fn is_auto_execute(&self) -> bool {
        self.def().auto_execute
    }

    /// Whether it asks by itself where it has to, so that nobody asks before it runs.
    pub fn asks(&self) -> bool {
        self.def().asks
    }

    /// The services that it takes, as its code names their types.
    pub fn service_names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.def().services.iter().map(|service| (service.name)())
    }

    /// Where it is written.
    pub fn location(&self) -> Location {
        self.def().location
    }

    /// What its author stated.
    pub fn def(&self) -> &'static ToolDef {
        self.0.made.def
    }

    /// How many of its calls may run at once.
    pub(crate) fn limit(&self) -> Option<&Arc<Semaphore>> {
        let count = self.def().concurrency?;
        Some(self.0.limit.get_or_init(|| Arc::new(Semaphore::new(count as usize))))
    }

    pub(crate) fn run(&self) -> Run {
        self.def().run
    }

    pub(crate) fn format_error(&self) -> Option<FormatError> {
        self.def().format_error
    }

    /// What it does to the world.
    pub fn annotations(&self) -> Annotations {
        let def = self.def();
        Annotations {
            read_only_hint: def.read_only,
            destructive_hint: def.destructive,
            idempotent_hint: def.idempotent,
            open_world_hint: def.open_world,
        }
    }

    /// The JSON Schema of its arguments.
    ///
    /// # Errors
    ///
    /// When the types of its parameters state a schema that is not valid.
    pub fn input_schema(&self) -> Result<&Value, ToolError> {
        Ok(&self.compiled()?.schema)
    }

    /// The JSON Schema of its structured output.
    pub fn output_schema(&self) -> Option<&Value> {
        let make = self.def().output_schema?;
        // A schema that panics is the author's own `JsonSchema`; the tool works without.
        self.0
            .output_schema
            .get_or_init(|| guard(self.name(), || schema::of_output(make)).ok().map(Box::new))
            .as_deref()
    }

    /// The tool as a model sees it.
    ///
    /// # Errors
    ///
    /// As [`Tool::input_schema`].
    pub fn definition(&self) -> Result<Definition, ToolError> {
        let def = self.def();
        Ok(Definition {
            name: self.name().to_owned(),
            title: def.title.map(str::to_owned),
            description: def.description.to_owned(),
            input_schema: self.input_schema()?.clone(),
            output_schema: self.output_schema().filter(|schema| schema["type"] == "object").cloned(),
            annotations: self.annotations(),
        })
    }

    pub(crate) fn compiled(&self) -> Result<&Compiled, ToolError> {
        self.0
            .compiled
            .get_or_init(|| {
                // Types and defaults bring code of their author's along.
                guard(self.name(), || Compiled::new(self.name(), schema::of_input(&self.def().input)))
                    .flatten()
                    .map(Box::new)
                    .map_err(|error| error.to_string().into_boxed_str())
            })
            .as_deref()
            .map_err(|error| ToolError::unavailable(&**error))
    }

    /// The same tool with the host's services beside those of its own, if it has any.
    pub(crate) fn with_services(self, services: &Services) -> Self {
        if self.services().is_empty() {
            return self;
        }
        Made { services: services.with(self.services()), ..self.0.made.clone() }.into()
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0.made.services
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name())
            .field("location", &self.location())
            .finish_non_exhaustive()
    }
}
