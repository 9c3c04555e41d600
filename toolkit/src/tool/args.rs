//! Arguments of tools created at run time.

use super::Tool;
use crate::tool::context::ToolContext;
use crate::tool::def::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolkit_core::arguments::{self, Arguments, InvalidArguments, KEPT_SECRET, Problem};
use toolkit_core::error::ToolError;

/// The function of a tool created at run time.
pub(super) type Handler = dyn Fn(ToolContext, DynamicArgs) -> BoxFuture<'static> + Send + Sync;

/// The arguments of a call of a tool created at run time. They match its schema.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::{Tool, descriptor::DynamicArgs};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = json!({
///     "type": "object",
///     "description": "Repeats a text.",
///     "properties": { "text": { "type": "string" }, "times": { "type": "integer", "minimum": 1 } },
///     "required": ["text"],
///     "additionalProperties": false,
/// });
/// let tool = Tool::from_fn("repeat", schema, |_: ToolContext, args: DynamicArgs| async move {
///     let text: String = args.required("text")?;
///     let times = args.optional::<usize>("times")?.unwrap_or(2);
///     Ok::<_, ToolError>(text.repeat(times))
/// })?;
/// let toolkit = Toolkit::empty().tool(tool).without_asking_first().build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "repeat", r#"{"text": "ab"}"#)).await.text(), "abab");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct DynamicArgs {
    tool: Tool,
    values: Value,
}

impl DynamicArgs {
    pub(super) fn new(tool: Tool, arguments: &mut Arguments) -> Self {
        Self { tool, values: arguments.take_all() }
    }

    /// Returns all arguments as a JSON object.
    pub fn value(&self) -> &Value {
        &self.values
    }

    /// Returns all arguments, by name.
    pub fn into_map(self) -> Map<String, Value> {
        match self.values {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    /// Returns a required argument.
    ///
    /// # Errors
    ///
    /// Returns `InvalidArguments`, with the text of a schema validation error, if the argument is absent or does not
    /// decode to `T`.
    pub fn required<T: DeserializeOwned>(&self, key: &str) -> Result<T, ToolError> {
        match self.values.get(key) {
            Some(value) => self.decode(key, value),
            None => Err(self.refused(key, "a value (required)", "nothing".to_owned())),
        }
    }

    /// Returns an optional argument; `null` counts as absent.
    ///
    /// # Errors
    ///
    /// Returns `InvalidArguments` if the argument is present and does not decode to `T`.
    pub fn optional<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.decode(key, value).map(Some),
        }
    }

    fn decode<T: DeserializeOwned>(&self, key: &str, value: &Value) -> Result<T, ToolError> {
        T::deserialize(value).map_err(|error| {
            // A type's message may repeat the value.
            let is_secret = self.tool.is_bound(key)
                || self
                    .tool
                    .compiled()
                    .is_ok_and(|compiled| arguments::is_secret(compiled, &Problem::pointer_to(key)));
            let actual = if is_secret { KEPT_SECRET.to_owned() } else { Problem::undecoded(&error) };
            self.refused(key, Problem::DECODES, actual)
        })
    }

    // The tool's name and usage are added in the same place as for all argument errors.
    fn refused(&self, key: &str, expected: &str, actual: String) -> ToolError {
        let expected = self
            .tool
            .compiled()
            .ok()
            .and_then(|compiled| {
                let schema = compiled.schema.get("properties")?.get(key)?;
                (actual == "nothing").then(|| format!("{} (required)", compiled.describe_type(schema)))
            })
            .unwrap_or_else(|| expected.to_owned());
        let problem = Problem::new(Problem::pointer_to(key), expected, actual);
        ToolError::of_arguments(InvalidArguments::of(vec![problem]))
    }
}
