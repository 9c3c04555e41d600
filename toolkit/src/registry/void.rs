//! Finds configured keys that have no effect in this program.
//!
//! The author of such a key relies on it, so each causes a warning.

use crate::config::Configuration;
use crate::policy::folded;
use crate::section::pointer::dotted;
use serde_json::{Map, Value};
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_line;
use toolkit_core::pointer::escape;

/// Returns a warning for each `autoExecute: true` that changes nothing.
pub(super) fn void_auto_executes(configuration: &Configuration) -> Vec<Diagnostic> {
    let servers = configuration.server_names();
    let said = configuration.auto_executes().into_iter().filter(|(_, runs)| *runs);
    let void = said.filter_map(|(tool, _)| {
        let shown = escape_line(&tool);
        let why = if servers.has(&folded(&tool)) {
            format!("tools of MCP servers need approval; `permission: {{ {shown}: \"allow\" }}` allows it")
        } else {
            configuration.why_it_asks_anyway(&tool)?
        };
        let pointer = format!("/tools/settings/{}/autoExecute", escape(&tool));
        Some(has_no_effect(configuration, &pointer, &format!("tools.settings.{shown}.autoExecute"), &why))
    });
    void.collect()
}

/// Returns a warning for each key of a section that this program does not use.
pub(super) fn void_sections(configuration: &Configuration, used: &[String]) -> Vec<Diagnostic> {
    let mut void = Vec::new();
    let document = configuration.document();
    for section in configuration.sections() {
        let Some(why) = section.is_void_because().filter(|_| !used.contains(&dotted(&section.pointer())))
        else {
            continue;
        };
        for place in section.places(&document) {
            let keys = document.pointer(&place).and_then(Value::as_object);
            for key in keys.into_iter().flat_map(Map::keys) {
                let pointer = format!("{place}/{}", escape(key));
                void.push(has_no_effect(configuration, &pointer, &escape_line(&dotted(&pointer)), why));
            }
        }
    }
    void
}

fn has_no_effect(configuration: &Configuration, pointer: &str, key: &str, why: &str) -> Diagnostic {
    let message = format!("`{key}` has no effect: {why}");
    let warning = Diagnostic::new(Level::Warning, "configuration", message);
    let place =
        configuration.origins().find(pointer).map(|origin| escape_line(&origin.to_string()).into_owned());
    place.into_iter().fold(warning, Diagnostic::with_location)
}
