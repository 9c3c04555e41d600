//! The arguments of a call: from JSON text to values that fit the schema.

mod explain;
mod json;
mod known;
mod pointer;
mod problem;
mod shape;
mod shown;
mod variant;

pub(crate) use json::deserialize as deserialize_unique;
pub use problem::{InvalidArguments, Problem};
pub(crate) use shown::KEPT_SECRET;

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
    json::parse(text).map_err(|fault| {
        let (expected, actual) = match fault {
            json::Fault::Syntax(error) => ("a JSON object", format!("text that is not valid JSON: {error}")),
            json::Fault::KeyTwice(error) => ("each key once in an object", format!("text in which {error}")),
            json::Fault::LongInteger { line, column } => (
                "integers of at most 64 bits, and any greater number with a decimal point or an exponent",
                format!("a longer integer at line {line} column {column}"),
            ),
        };
        InvalidArguments::of(vec![Problem::new("", expected, actual)])
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
    shape::whole_floats_to_integers(&mut arguments, &compiled.schema);
    if !compiled.validator.is_valid(&arguments) {
        shape::drop_optional_nulls(&mut arguments, &compiled.schema);
        problems.extend(explain::find(compiled, &arguments));
    }
    match arguments {
        Value::Object(members) if problems.is_empty() => return Ok(Arguments(members)),
        Value::Object(_) => {}
        // The schema's root is always an object, unless a tool states another one by hand.
        _ if problems.is_empty() => problems.push(Problem::new("", "an object", "another value")),
        _ => {}
    }
    Err(InvalidArguments {
        tool: compiled.name.clone(),
        signature: compiled.signature(),
        ..InvalidArguments::of(problems)
    })
}
