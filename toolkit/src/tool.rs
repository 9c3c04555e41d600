//! A tool that can be called, whatever it was made from.

use crate::definition::{Annotations, Definition};
use crate::error::ToolError;
use crate::schema::{self, Compiled};
use crate::state::{Service, Services};
use crate::tool_def::{Location, ToolDef};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A tool. Cheap to clone.
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

struct Inner {
    def: &'static ToolDef,
    name: Option<String>,
    services: Services,
    compiled: OnceLock<Result<Compiled, String>>,
}

impl Tool {
    /// A tool from its static definition.
    pub fn new(def: &'static ToolDef) -> Self {
        Self(Arc::new(Inner { def, name: None, services: Services::default(), compiled: OnceLock::new() }))
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
        Self(Arc::new(Inner {
            def: self.0.def,
            name: Some(name.into()),
            services: self.0.services.clone(),
            compiled: OnceLock::new(),
        }))
    }

    /// The same tool with a service of its own.
    #[must_use]
    pub fn with_state<T: Service>(&self, state: T) -> Self {
        self.with_shared_state(Arc::new(state))
    }

    /// The same tool with a service of its own, shared or as a trait object.
    #[must_use]
    pub fn with_shared_state<T: ?Sized + Service>(&self, state: Arc<T>) -> Self {
        let mut services = self.0.services.clone();
        services.insert(state);
        Self(Arc::new(Inner {
            def: self.0.def,
            name: self.0.name.clone(),
            services,
            compiled: OnceLock::new(),
        }))
    }

    /// The name that models call it by.
    pub fn name(&self) -> &str {
        self.0.name.as_deref().unwrap_or(self.0.def.name)
    }

    /// Its name for people.
    pub fn title(&self) -> &str {
        self.0.def.title.unwrap_or(self.name())
    }

    /// What it does, for the model.
    pub fn description(&self) -> &str {
        self.0.def.description
    }

    /// The groups it belongs to.
    pub fn groups(&self) -> &[&'static str] {
        self.0.def.groups
    }

    /// Other names that it answers to.
    pub fn aliases(&self) -> &[&'static str] {
        // A renamed tool must not answer to the names of the one it was made from.
        if self.0.name.is_some() { &[] } else { self.0.def.aliases }
    }

    /// The kind of permission it asks for.
    pub fn permission(&self) -> &str {
        self.0.def.permission.unwrap_or(self.name())
    }

    /// Where it is written.
    pub fn location(&self) -> Location {
        self.0.def.location
    }

    /// What its author stated.
    pub fn def(&self) -> &'static ToolDef {
        self.0.def
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
    pub fn output_schema(&self) -> Option<Value> {
        self.0.def.output_schema.map(schema::of_output)
    }

    /// The tool as a model sees it.
    ///
    /// # Errors
    ///
    /// As [`Tool::input_schema`].
    pub fn definition(&self) -> Result<Definition, ToolError> {
        let def = self.0.def;
        Ok(Definition {
            name: self.name().to_owned(),
            title: def.title.map(str::to_owned),
            description: def.description.to_owned(),
            input_schema: self.input_schema()?.clone(),
            output_schema: self
                .output_schema()
                .filter(|schema| schema.get("type").is_some_and(|kind| kind == "object")),
            annotations: Annotations {
                read_only_hint: def.read_only,
                destructive_hint: def.destructive,
                idempotent_hint: def.idempotent,
                open_world_hint: def.open_world,
            },
        })
    }

    pub(crate) fn compiled(&self) -> Result<&Compiled, ToolError> {
        self.0
            .compiled
            .get_or_init(|| {
                Compiled::new(self.name(), schema::of_input(&self.0.def.input))
                    .map_err(|error| error.to_string())
            })
            .as_ref()
            .map_err(|error| ToolError::unavailable(error.clone()))
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0.services
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
