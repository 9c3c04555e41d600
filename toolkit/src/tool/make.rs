//! Creates variants of a tool: with another name, with its own services, with bound arguments.

use super::{Changes, Inner, Made, NO_SERVICES, Origin, Tool};
use crate::tool::def::ToolDef;
use crate::tool::prepare::Prepared;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use toolkit_core::error::ToolError;
use toolkit_core::source::Source;
use toolkit_core::state::{Service, Services};

impl From<Made> for Tool {
    fn from(made: Made) -> Self {
        Self(Arc::new(Inner {
            made,
            compiled: OnceLock::new(),
            output_schema: OnceLock::new(),
            limit: OnceLock::new(),
            tokens: OnceLock::new(),
        }))
    }
}

impl Tool {
    /// Returns the tool with another name.
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
    /// Never panics; a name that is not [valid](crate::text::is_valid_name) is an error when the toolkit is built.
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        Made { name: Some(name.into().into_boxed_str()), ..self.0.made.clone() }.into()
    }

    /// Returns the tool with a service of its own.
    #[must_use]
    pub fn with_state<T: Service>(&self, state: T) -> Self {
        self.with_shared_state(Arc::new(state))
    }

    /// Returns the tool with a service of its own, shared or as a trait object.
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Service>(&self, state: Arc<T>) -> Self {
        let mut made = self.0.made.clone();
        made.services.insert(state);
        made.into()
    }

    /// Returns the tool with one argument bound: models can neither see nor send it.
    ///
    /// ```
    /// # use toolkit::prelude::*;
    /// /// Tells the weather.
    /// #[tool(read_only)]
    /// async fn weather(/** Where. */ city: String, /** How many days. */ days: u8) -> String {
    ///     format!("{city}, {days} days: rain")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let here = toolkit::tool_ref!(weather).bind("city", "Turku").named("weather_here");
    /// let toolbox = Toolkit::empty().tool(here).build()?.toolbox(&Caller::new()).await;
    /// let result = toolbox.call(ToolCall::new("1", "weather_here", r#"{ "days": 3 }"#)).await;
    /// assert_eq!(result.text(), "Turku, 3 days: rain");
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    ///
    /// Never panics; an unknown argument, or a value that does not match its schema, is an error when the toolkit is
    /// built or the tool is registered.
    #[must_use]
    pub fn bind(&self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.changed(|changes| changes.bindings.add(argument.into(), value.into()))
    }

    /// Returns the tool with another description.
    #[must_use]
    pub fn with_description(&self, description: impl Into<String>) -> Self {
        self.changed(|changes| changes.description = Some(description.into().into()))
    }

    /// Returns the tool with another source: for hosts that add the tools of servers and clients.
    ///
    /// [`Source::Core`] has no effect here: the toolkit decides which tools are core.
    #[must_use]
    pub fn with_source(&self, source: Source) -> Self {
        Made { source, ..self.0.made.clone() }.into()
    }

    /// Returns the facts that a lasting answer to the question before a call relies on; see
    /// [`ToolBuilder::condition`](crate::ToolBuilder::condition).
    pub fn conditions(&self) -> impl Iterator<Item = &str> {
        let conditions = match &self.0.made.from {
            Origin::Dynamic(dynamic) => &*dynamic.conditions,
            Origin::Static(_) => &[],
        };
        conditions.iter().map(|condition| &**condition)
    }

    /// Returns the tool as an optional one, which exists only if an allow list names it.
    #[must_use]
    pub fn optional(&self) -> Self {
        self.changed(|changes| changes.optional = true)
    }

    /// Returns the tool with another schema of its arguments, with annotations.
    fn with_annotated_schema(&self, schema: Value) -> Self {
        self.changed(|changes| changes.schema = Some(Arc::new(schema)))
    }

    /// Creates a linked tool, with the registry's data.
    pub(crate) fn linked(
        def: &'static ToolDef,
        source: Source,
        plugin: Option<Arc<str>>,
        optional: bool,
    ) -> Self {
        let optional = optional && !def.optional;
        let changes = optional.then(|| Box::new(Changes { optional, ..Changes::default() }));
        let (from, services) = (Origin::Static(def), NO_SERVICES.clone());
        Made { from, name: None, services, source, plugin, changes }.into()
    }

    /// Returns the tool as one caller sees it. Its calls count toward the limit of the original tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the narrowed schema is not valid.
    pub(crate) fn prepared(&self, prepared: Prepared) -> Result<Self, ToolError> {
        let Some(schema) = prepared.schema else { return Ok(self.described(prepared.description)) };
        let tool = self.with_description(prepared.description).with_annotated_schema(schema);
        tool.compiled()?;
        Ok(tool.counted_as(self))
    }

    /// Returns the tool with another description for one caller. Its calls count toward the limit of the original tool.
    pub(crate) fn described(&self, description: impl Into<String>) -> Self {
        self.with_description(description).counted_as(self)
    }

    fn counted_as(self, other: &Self) -> Self {
        if let Some(limit) = other.limit() {
            let _ = self.0.limit.set(Arc::clone(limit));
        }
        self
    }

    /// Returns the tool with the registry's data.
    pub(crate) fn placed(&self, source: Source, plugin: Option<Arc<str>>, optional: bool) -> Self {
        let optional = optional && !self.is_optional();
        if *self.source() == source && self.0.made.plugin == plugin && !optional {
            return self.clone();
        }
        let mut made = Made { source, plugin, ..self.0.made.clone() };
        if optional {
            made.changes.get_or_insert_default().optional = true;
        }
        made.into()
    }

    /// Returns the tool with the host's services, in addition to its own.
    pub(crate) fn with_services(self, services: &Services) -> Self {
        if self.services().is_empty() {
            return self;
        }
        Made { services: services.with(self.services()), ..self.0.made.clone() }.into()
    }

    fn changed(&self, change: impl FnOnce(&mut Changes)) -> Self {
        let mut made = self.0.made.clone();
        change(made.changes.get_or_insert_default());
        made.into()
    }
}
