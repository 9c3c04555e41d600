//! The errors of arguments that do not fit a tool.

use crate::tool::Tool;
use crate::tool::def::ToolDef;
use serde_json::Value;
use toolkit_core::arguments::{InvalidArguments, Problem};
use toolkit_core::error::ToolError;
use toolkit_core::guard::guard;
use toolkit_core::schema::Compiled;

/// Returns problems of arguments that match the schema but do not decode, to be reported together with schema
/// violations.
pub(super) fn undecodable(tool: &Tool, arguments: &Value, known: &[Problem]) -> Vec<Problem> {
    let parameters = tool.def().map(ToolDef::parameters).unwrap_or_default();
    let undecodable = parameters.iter().filter_map(|parameter| {
        let value = arguments.get(parameter.name)?;
        let pointer = Problem::pointer_to(parameter.name);
        let is_known = known.iter().any(|problem| {
            problem
                .pointer
                .strip_prefix(&pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if is_known { None } else { parameter.undecodable(value) }
    });
    undecodable.collect()
}

/// Adds the schema's expectation if a type rejected a value.
fn add_expected(compiled: &Compiled, problems: &mut InvalidArguments) {
    for problem in &mut problems.problems {
        let schema = compiled.schema.pointer(&format!("/properties{}", problem.pointer));
        if let Some(schema) =
            schema.filter(|_| problem.expected == Problem::DECODES && !problem.pointer.is_empty())
        {
            problem.expected = compiled.describe_type(schema);
        }
    }
}

/// Formats the problems with the arguments, with the tool's own function if it has one.
pub(super) fn refuse(tool: &Tool, mut problems: InvalidArguments) -> ToolError {
    if let Ok(compiled) = tool.compiled() {
        add_expected(compiled, &mut problems);
    }
    if problems.tool.is_empty() {
        tool.name().clone_into(&mut problems.tool);
        problems.signature = tool.compiled().map(Compiled::signature).unwrap_or_default();
    }
    let worded = tool.format_error().map(|format| format(&problems));
    let error = ToolError::of_arguments(problems);
    match worded {
        Some(message) => error.with_message(message),
        None => error,
    }
}

/// Completes a type's own error about an argument from decoding.
pub(super) fn complete(tool: &Tool, error: ToolError) -> ToolError {
    match error.problems() {
        Some(problems) if problems.tool.is_empty() => {
            guard(tool.name(), || refuse(tool, problems.clone())).unwrap_or_else(|panic| panic)
        }
        _ => error,
    }
}
