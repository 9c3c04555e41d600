//! Preparations: changes to a tool for one caller, before a toolbox shows it.

mod narrow;
mod placeholders;

pub(crate) use placeholders::{PLACEHOLDERS, fill, has_placeholder};

use crate::off_runtime::off_runtime;
use crate::tool::Tool;
use serde_json::{Map, Value};
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::diagnostic::Level;
use toolkit_core::error::{IntoToolError, ToolError, ToolErrorKind};
use toolkit_core::guard::guard;
use toolkit_core::schema;
use toolkit_core::state::{Service, Services, State};

/// The maximum number of diagnostics of one preparation.
const MAX_SAID: usize = 100;

/// Prepares a tool for a caller: `#[tool(prepare = path)]` creates it from the function at that path.
pub type PrepareFn = for<'a> fn(&'a Caller, &'a mut Preparation) -> Preparing<'a>;

/// The future of a preparation.
pub type Preparing<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

/// A tool as one caller will see it. Its `prepare` function can change the description, restrict the values of a
/// parameter, or hide the tool.
///
/// It can only narrow the schema. This caller's calls are validated against the narrowed schema.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::descriptor::Preparation;
///
/// async fn which_skills(caller: &Caller, tool: &mut Preparation) -> Result<(), ToolError> {
///     let skills = match caller.agent.as_deref() {
///         Some("ada") => ["review", "release"],
///         _ => {
///             tool.hide("this agent has no skills");
///             return Ok(());
///         }
///     };
///     tool.describe(format!("Loads one of {} skills.", skills.len()));
///     tool.allow_only("skill", skills)
/// }
///
/// /// Loads a skill.
/// #[tool(read_only, prepare = which_skills)]
/// async fn skill(/** Which one. */ skill: String) -> String {
///     format!("how to {skill}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ToolError> {
/// // Still an ordinary function:
/// let mut tool = Preparation::new(&toolkit::tool_ref!(skill))?;
/// which_skills(&Caller::new().with_agent("ada"), &mut tool).await?;
/// assert_eq!(tool.description(), "Loads one of 2 skills.");
/// assert_eq!(tool.schema()["properties"]["skill"]["enum"][1], "release");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Preparation {
    name: String,
    description: String,
    /// The schema with annotations.
    schema: Value,
    is_narrowed: bool,
    hidden: Option<String>,
    services: Services,
    /// The toolkit that prepares it, for modules above this one.
    toolkit: Option<Arc<dyn Any + Send + Sync>>,
    said: Vec<(Level, String)>,
}

/// The result of a preparation.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The description for this caller, with placeholders filled in.
    pub(crate) description: String,
    /// The schema with annotations, if it was changed.
    pub(crate) schema: Option<Value>,
    /// The reason why the tool is hidden, if it is.
    pub(crate) hidden: Option<String>,
    /// Diagnostics for the host.
    pub(crate) said: Vec<(Level, String)>,
}

impl Preparation {
    /// Creates a preparation of the tool as its author wrote it.
    ///
    /// # Errors
    ///
    /// Returns an error if the types of the tool's parameters produce an invalid schema.
    pub fn new(tool: &Tool) -> Result<Self, ToolError> {
        Ok(Self {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.annotated_schema(),
            is_narrowed: false,
            hidden: None,
            services: tool.services().clone(),
            toolkit: None,
            said: Vec::new(),
        })
    }

    /// Returns the name of the tool in this toolkit.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description that a model will read.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Sets the description for this caller. Placeholders in it are not filled in.
    pub fn describe(&mut self, description: impl Into<String>) {
        self.description = description.into();
    }

    /// Returns the JSON Schema of the arguments, as narrowed so far.
    pub fn schema(&self) -> Value {
        schema::shown(&self.schema)
    }

    /// Restricts a parameter to these values; a value that the parameter did not allow before is not added. Examples
    /// that no longer match are removed.
    ///
    /// # Errors
    ///
    /// Returns `Failed` if the tool has no such parameter, or if no value is left for a required parameter: such a tool
    /// cannot be called, so [hide](Self::hide) it. An optional parameter without a value left is removed.
    pub fn allow_only<V: Into<Value>>(
        &mut self,
        parameter: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<(), ToolError> {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let mut only = Map::new();
        only.insert("enum".to_owned(), values.into());
        self.narrow(parameter, &Value::Object(only))?;
        let left = self.schema.pointer(&pointer(parameter)).and_then(|schema| schema.get("enum"));
        if left.and_then(Value::as_array).is_some_and(Vec::is_empty) {
            return self.remove(parameter).map_err(|_| {
                ToolError::failed(format!(
                    "no value is left for the parameter `{parameter}` of the tool `{}`, which requires one: call \
                     `hide` where a caller cannot use the tool",
                    self.name
                ))
            });
        }
        Ok(())
    }

    /// Adds a JSON Schema (draft 2020-12) that a parameter must match in addition to its own: `{ "maximum": 10 }`, for
    /// example. Examples that no longer match are removed.
    ///
    /// # Errors
    ///
    /// Returns `Failed` if the tool has no such parameter.
    pub fn narrow(&mut self, parameter: &str, also: &Value) -> Result<(), ToolError> {
        let Some(property) = self.schema.pointer_mut(&pointer(parameter)) else {
            return Err(self.no_parameter(parameter));
        };
        narrow::narrow(property, also);
        schema::drop_unfitting_examples(&mut self.schema, &pointer(parameter));
        self.is_narrowed = true;
        Ok(())
    }

    /// Removes an optional parameter, so that this caller cannot use it.
    ///
    /// # Errors
    ///
    /// Returns `Failed` if the tool has no such parameter, requires it, or accepts additional parameters, which would
    /// then include this one.
    pub fn remove(&mut self, parameter: &str) -> Result<(), ToolError> {
        if self.schema.pointer(&pointer(parameter)).is_none() {
            return Err(self.no_parameter(parameter));
        }
        let required = self.schema.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|required| required.iter().any(|name| name == parameter));
        let is_closed = self.schema.get("additionalProperties") == Some(&Value::Bool(false));
        if is_required || !is_closed {
            let why = if is_required { "requires it" } else { "takes parameters of any name" };
            return Err(ToolError::failed(format!(
                "the parameter `{parameter}` cannot be removed from the tool `{}`, which {why}",
                self.name
            )));
        }
        if let Some(properties) = self.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.shift_remove(parameter);
        }
        self.is_narrowed = true;
        Ok(())
    }

    /// Hides the tool from this caller, and records the reason.
    pub fn hide(&mut self, reason: impl Into<String>) {
        self.hidden = Some(reason.into());
    }

    /// Adds a diagnostic for the host to the [diagnostics](crate::Toolbox::diagnostics) of the toolbox. At most 100 are
    /// kept per tool.
    pub fn diagnose(&mut self, level: Level, message: impl Into<String>) {
        if self.said.len() < MAX_SAID {
            self.said.push((level, message.into()));
        }
    }

    /// Returns a service of the host.
    pub fn service<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        self.services.get()
    }

    /// Returns a service that the preparation requires.
    ///
    /// # Errors
    ///
    /// Returns `Unavailable`, naming the type, if the host does not provide the service.
    pub fn require_service<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.services.require()
    }

    /// Runs blocking code, such as reading files, on a thread for it, and waits for the result.
    ///
    /// # Errors
    ///
    /// Returns `Panicked` if the code panicked, and `Interrupted` if the host is shutting down.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let name = self.name().to_owned();
        let done = off_runtime(move || guard(&name, work)).await;
        done.unwrap_or_else(|| Err(ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down")))
    }

    fn no_parameter(&self, parameter: &str) -> ToolError {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let names: Vec<String> =
            properties.into_iter().flat_map(Map::keys).map(|name| format!("`{name}`")).collect();
        ToolError::failed(format!(
            "the tool `{}` has no parameter `{parameter}`; it has: {}",
            self.name,
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ))
    }

    pub(crate) fn with_toolkit(mut self, toolkit: Arc<dyn Any + Send + Sync>) -> Self {
        self.toolkit = Some(toolkit);
        self
    }

    /// Returns the toolkit, where it is a `T`.
    pub(crate) fn toolkit<T: Any>(&self) -> Option<&T> {
        self.toolkit.as_ref()?.downcast_ref()
    }

    pub(crate) fn with_services(mut self, services: &Services) -> Self {
        if self.services.is_empty() {
            self.services = services.clone();
        }
        self
    }

    /// Sets the initial description for this caller.
    pub(crate) fn with_description(mut self, description: String) -> Self {
        self.description = description;
        self
    }

    pub(crate) fn finish(self) -> Prepared {
        Prepared {
            description: self.description,
            schema: self.is_narrowed.then_some(self.schema),
            hidden: self.hidden,
            said: self.said,
        }
    }
}

fn pointer(parameter: &str) -> String {
    format!("/properties/{}", toolkit_core::pointer::escape(parameter))
}

/// A return type of a `prepare` function.
#[diagnostic::on_unimplemented(
    message = "a `prepare` function cannot return `{Self}`",
    label = "not `()`, nor a `Result<(), E>`",
    note = "change the `&mut Preparation` that it gets, and return nothing or an error"
)]
pub trait Ending {
    /// Converts the value into the result that the runtime uses.
    ///
    /// # Errors
    ///
    /// Returns the function's error.
    fn end(self) -> Result<(), ToolError>;
}

impl Ending for () {
    fn end(self) -> Result<(), ToolError> {
        Ok(())
    }
}

impl<E: IntoToolError> Ending for Result<(), E> {
    fn end(self) -> Result<(), ToolError> {
        self.map_err(IntoToolError::into_tool_error)
    }
}

#[cfg(test)]
mod tests;
