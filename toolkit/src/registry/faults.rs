//! Validates tools of any author.

use super::services::{Near, short};
use crate::tool::Tool;
use toolkit_core::guard::caught;
use toolkit_core::name::is_valid_name;
use toolkit_core::parameter;
use toolkit_core::schema;
use toolkit_core::state::Services;

/// Returns a problem for each service that a tool takes and that is not provided.
pub(super) fn missing_services(tool: &Tool, services: &Services, near: &Near<'_>) -> Vec<String> {
    let missing = tool
        .service_defs()
        .iter()
        .filter(|service| !services.contains(service.id) && !tool.services().contains(service.id));
    missing
        .map(|service| {
            let others =
                "`.with_state(value)` on the tool, or write a `#[toolkit::service]` function that returns it";
            let taken = short((service.name)());
            format!("{} takes `State<{taken}>`, {}", place_of(tool), near.explain(service, others))
        })
        .collect()
}

/// Returns all other problems of a tool.
pub(super) fn faults(tool: &Tool) -> Vec<String> {
    let mut faults = Vec::new();
    let name = tool.name();
    let names = std::iter::once(("tool name", name)).chain(tool.aliases().map(|alias| ("alias", alias)));
    for (what, name) in names.filter(|(_, name)| !is_valid_name(name)) {
        faults.push(format!(
            "the {what} `{name}` ({}) is not valid: it takes a lower-case letter, then letters, digits or `_`, at most \
             64 in all",
            tool.location().map_or_else(|| tool.source().to_string(), |location| location.to_string())
        ));
    }
    if tool.concurrency() == Some(0) {
        faults.push(format!(
            "{} can never run: its `concurrency` is 0; leave it out for no limit",
            place_of(tool)
        ));
    }
    let before = faults.len();
    faults.extend(parameter_faults(tool));
    // A problem with a parameter is a problem with the schema, too.
    if faults.len() == before
        && !tool.is_certainly_valid()
        && let Err(error) = tool.compiled()
    {
        let schema = format!("the schema of the tool `{name}`");
        faults.push(error.message().replacen(&schema, &format!("the schema of {}", place_of(tool)), 1));
    }
    faults.extend(output_fault(tool));
    faults
}

/// Returns the problem with the schema of a function's structured output. A host compiles it, too, and may leave out a tool or all tools.
fn output_fault(tool: &Tool) -> Option<String> {
    let make = tool.def()?.output_schema?;
    // The tool works without a schema that panics.
    let fault = caught(|| schema::typed_output_fault(make)).ok()??;
    Some(format!("the output schema of {} is not valid: {fault}", place_of(tool)))
}

/// Returns the problems with the parameters of a function.
fn parameter_faults(tool: &Tool) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(input) = tool.input() else { return faults };
    // Types and defaults run their author's code. A panic of a type is reported when the schema is compiled.
    if let Some(fault) = caught(|| parameter::root_fault(input)).unwrap_or_default() {
        faults.push(format!("{}: {fault}", place_of(tool)));
    }
    let missing = caught(|| parameter::missing_feature(input)).unwrap_or_default();
    faults.extend(missing.map(|missing| format!("the schema of {}: {missing}", place_of(tool))));
    for parameter in tool.def().map_or(&[][..], |def| def.parameters()) {
        let fault = caught(|| parameter.default_fault())
            .unwrap_or_else(|panic| Some(format!("its type, or the default itself, panicked: {panic}")));
        if let Some(error) = fault {
            faults.push(format!(
                "the default of the parameter `{}` of {} does not fit: {error}",
                parameter.name,
                place_of(tool)
            ));
        }
    }
    faults
}

/// Returns the tool's name with its source location or its owner.
fn place_of(tool: &Tool) -> String {
    match tool.location() {
        Some(location) => format!("the tool `{}` ({location})", tool.name()),
        None => format!("the tool `{}` of {}", tool.name(), tool.source()),
    }
}
