//! Sections that are not configured, and have a key that must be.

use super::configuration::Configuration;
use super::schema::linked_sections;
use crate::section::pointer::dotted;
use serde_json::{Map, Value};
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_rest;
use toolkit_core::guard::guard;
use toolkit_core::pointer::escape;

/// Returns a diagnostic for each section of these tools and plugins that is absent and cannot be read from `{}`. Loading checks the
/// sections that are there.
pub(crate) fn absent_sections<'a>(
    configuration: &Configuration,
    tools: &[&str],
    plugins: &(impl Iterator<Item = &'a str> + Clone),
) -> Vec<Diagnostic> {
    let Configuration(configuration) = configuration;
    let sections = match &configuration.schemas {
        Some(schemas) => schemas.sections.clone(),
        // Nothing is configured, or the files that were named do not exist.
        None => linked_sections(),
    };
    let mut diagnostics = Vec::new();
    for section in sections {
        let pointer = section.pointer();
        let is_of_plugin = |id: &str| {
            let rest = pointer.strip_prefix("/plugins/").and_then(|rest| rest.strip_prefix(&*escape(id)));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_taken = section.its_tool().is_some_and(|tool| tools.contains(&tool))
            || section.is_of_function() && plugins.clone().any(is_of_plugin);
        if !is_taken || configuration.document.pointer(&pointer).is_some() {
            continue;
        }
        let place = dotted(&pointer);
        // A type that panics is reported by the call.
        let read = guard(&place, || section.decodes(Value::Object(Map::new())));
        let Ok(Err(error)) = read else { continue };
        let file = configuration.own_files.first().map(|file| format!(" in `{}`", file.display()));
        let message = format!(
            "`{place}` is not configured, so {} cannot be read: {error}; set it{}, or give the field a default, or make it \
             an `Option`",
            section.taker(),
            file.unwrap_or_default()
        );
        let message = escape_rest(&message);
        // A host that ignores diagnostics may still have a log.
        tracing::warn!("{message}");
        diagnostics.push(Diagnostic::new(Level::Warning, "configuration", message));
    }
    diagnostics
}
