//! The arguments of a call: from JSON text to values that fit the schema.

mod json;
mod problem;
mod shape;

pub use problem::{InvalidArguments, Problem};

use crate::error::ToolError;
use crate::schema::Compiled;
use serde_json::{Map, Value};
use std::mem;

/// Arguments that fit their tool's schema, as the tool's function takes them one by one.
#[derive(Debug, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.get_mut(name).map(mem::take)
    }

    pub(crate) fn take_all(&mut self) -> Value {
        Value::Object(mem::take(&mut self.0))
    }

    pub(crate) fn missing(name: &str) -> ToolError {
        ToolError::invalid_arguments(InvalidArguments::of(vec![Problem::new(
            "",
            format!("`{name}` is required"),
            "nothing",
        )]))
    }
}

/// Parses JSON text; a duplicate key is refused, since it would be unclear which value was meant.
///
/// # Errors
///
/// What is wrong with the text, and where.
pub(crate) fn parse(text: &str) -> Result<Value, InvalidArguments> {
    json::parse(text).map_err(|error| {
        InvalidArguments::of(vec![Problem::new(
            "",
            "a JSON object",
            format!("text that is not valid JSON: {error}"),
        )])
    })
}

/// Aliases, then the schema: what comes out is what the function gets.
pub(crate) fn prepare(compiled: &Compiled, arguments: Value) -> Result<Arguments, InvalidArguments> {
    let mut arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    let mut problems = Vec::new();
    if compiled.has_aliases {
        shape::rename_aliases(&mut arguments, &compiled.annotated, &mut problems);
    }
    if !compiled.validator.is_valid(&arguments) {
        shape::drop_optional_nulls(&mut arguments, &compiled.schema);
        problems.extend(problem::find(compiled, &arguments));
    }
    match arguments {
        Value::Object(members) if problems.is_empty() => Ok(Arguments(members)),
        _ => Err(InvalidArguments { problems, tool: compiled.name.clone(), signature: compiled.signature() }),
    }
}
