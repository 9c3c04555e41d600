//! What a tool may change of itself for one caller, before a toolbox shows it.

mod narrow;
mod placeholders;

pub(crate) use placeholders::{fill, has_placeholder};

use crate::diagnostic::Level;
use crate::error::{IntoToolError, ToolError, ToolErrorKind};
use crate::guard::guard;
use crate::off_runtime::off_runtime;
use crate::state::{Service, Services, State};
use crate::tool::Tool;
use crate::{Caller, schema};
use serde_json::{Map, Value};
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

/// The most that one preparation can say.
const MAX_SAID: usize = 100;

/// Makes a tool ready for a caller: what `#[tool(prepare = path)]` makes of the function at that path.
pub type PrepareFn = for<'a> fn(&'a Caller, &'a mut Preparation) -> Preparing<'a>;

/// A preparation under way.
pub type Preparing<'a> = Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>>;

/// A tool as one caller will see it, for its `prepare` function to change: another description, fewer values for a
/// parameter, or not there at all.
///
/// It can only narrow. What it leaves of the schema is what this caller's calls are checked against.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::Preparation;
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
    /// With annotations.
    schema: Value,
    is_narrowed: bool,
    hidden: Option<String>,
    services: Services,
    /// The toolkit that prepares it, for modules above this one.
    toolkit: Option<Arc<dyn Any + Send + Sync>>,
    said: Vec<(Level, String)>,
}

/// What came of a preparation.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// For this caller, with nothing left to fill in.
    pub(crate) description: String,
    /// With annotations, where it is another one.
    pub(crate) schema: Option<Value>,
    /// Why the tool is not there, if it is not.
    pub(crate) hidden: Option<String>,
    /// What a host should know.
    pub(crate) said: Vec<(Level, String)>,
}

impl Preparation {
    /// Begins with the tool as its author wrote it.
    ///
    /// # Errors
    ///
    /// When the types of the tool's parameters state a schema that is not valid.
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

    /// The name that the tool has in this toolkit.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a model will read of it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Says to the model what the tool does for this caller. Placeholders are not filled in it.
    pub fn describe(&mut self, description: impl Into<String>) {
        self.description = description.into();
    }

    /// The JSON Schema of its arguments, as narrowed so far.
    pub fn schema(&self) -> Value {
        schema::shown(&self.schema)
    }

    /// Lets a parameter have these values only; of those that it could not have before, none is added. Its examples that do
    /// not fit any more are left out.
    ///
    /// # Errors
    ///
    /// `Failed` when the tool has no such parameter, and when no value is left for one that is required: such a tool
    /// cannot be called, so [hide](Self::hide) it. An optional parameter without a value left is taken out.
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

    /// Demands of a parameter that it also fits this JSON Schema (draft 2020-12), which holds beside what it had to fit
    /// before: `{ "maximum": 10 }`, say. Its examples that do not fit any more are left out.
    ///
    /// # Errors
    ///
    /// `Failed` when the tool has no such parameter.
    pub fn narrow(&mut self, parameter: &str, also: &Value) -> Result<(), ToolError> {
        let Some(property) = self.schema.pointer_mut(&pointer(parameter)) else {
            return Err(self.no_parameter(parameter));
        };
        narrow::narrow(property, also);
        schema::drop_unfitting_examples(&mut self.schema, &pointer(parameter));
        self.is_narrowed = true;
        Ok(())
    }

    /// Takes an optional parameter out: this caller cannot give it.
    ///
    /// # Errors
    ///
    /// `Failed` when the tool has no such parameter, requires it, or takes any other parameter beside its own, this one then
    /// among them.
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
                "the parameter `{parameter}` cannot be taken out of the tool `{}`, which {why}",
                self.name
            )));
        }
        if let Some(properties) = self.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.shift_remove(parameter);
        }
        self.is_narrowed = true;
        Ok(())
    }

    /// Leaves the tool out for this caller, and says why to whoever asks.
    pub fn hide(&mut self, reason: impl Into<String>) {
        self.hidden = Some(reason.into());
    }

    /// Tells the host what it should know, in the [diagnostics](crate::Toolbox::diagnostics) of the toolbox. At most 100 a tool.
    pub fn diagnose(&mut self, level: Level, message: impl Into<String>) {
        if self.said.len() < MAX_SAID {
            self.said.push((level, message.into()));
        }
    }

    /// A service of the host.
    pub fn service<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        self.services.get()
    }

    /// A service that the preparation cannot do without.
    ///
    /// # Errors
    ///
    /// `Unavailable`, naming the type, when the host does not provide it.
    pub fn require_service<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.services.require()
    }

    /// Runs what blocks, such as reading files, where that is allowed, and waits for it.
    ///
    /// # Errors
    ///
    /// `Panicked` when it panicked, `Interrupted` when the host is shutting down.
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

    /// The description that it begins with, for this caller.
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
    format!("/properties/{}", parameter.replace('~', "~0").replace('/', "~1"))
}

/// What a `prepare` function can end with.
#[diagnostic::on_unimplemented(
    message = "a `prepare` function cannot return `{Self}`",
    label = "not `()`, nor a `Result<(), E>`",
    note = "change the `&mut Preparation` that it gets, and return nothing or an error"
)]
pub trait Ending {
    /// As what the runtime sees.
    ///
    /// # Errors
    ///
    /// What the function failed with.
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
