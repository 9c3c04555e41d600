//! The steps between a call's turn and its function: inspectors, the loop guard, the approval before a tool runs.
//!
//! They are part of the function's own stage: they are cancelled, timed and dropped with it, and their questions stop
//! the clock and let other calls run, like any question of a tool.

mod first;
mod inspect;

pub(crate) use first::ask_for;

use super::Scope;
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use serde_json::{Value, json};
use toolkit_core::arguments::Arguments;
use toolkit_core::error::ToolError;

/// Returns true if the function can start at once.
pub(super) fn is_free(scope: &Scope, tool: &Tool) -> bool {
    let (settings, rules) = (&scope.toolkit.settings, &scope.rules);
    settings.hooks.inspectors.is_empty()
        && rules.permissions.says_nothing()
        && (settings.hooks.without_asking_first || tool.runs_by_its_word())
        && !scope.session.recent.is_alarmed()
}

/// Runs all steps before the function, and returns the arguments for it. `key` is the call's key for the loop guard.
pub(super) async fn before(
    context: &ToolContext,
    arguments: Arguments,
    key: Option<u64>,
) -> Result<Arguments, ToolError> {
    let arguments = inspect::inspect(context, arguments).await?;
    if let Some(key) = key {
        super::repeats::mind(context, key, &arguments).await?;
    }
    first::ask(context, &arguments).await?;
    // The steps so far may have taken long.
    context.check_cancelled()?;
    Ok(arguments)
}

/// Returns the complete arguments, for a person to read.
pub(super) fn shown(context: &ToolContext, arguments: &Value) -> Option<String> {
    let mut shown = arguments.clone();
    if let Ok(compiled) = context.tool().compiled() {
        crate::history::secrets::strip(compiled, &mut shown);
    }
    context.redactor().redact_value(&mut shown);
    let is_empty = shown.as_object().is_some_and(serde_json::Map::is_empty);
    (!is_empty).then(|| format!("{shown:#}"))
}

/// Notes for user interfaces that a component other than the tool asked a person.
pub(super) fn note_asked(context: &ToolContext, by: &str, kind: &str, title: &str) {
    let asked = json!({ "by": by, "kind": kind, "title": title });
    context.live().tell(|told| match told.metadata.get_mut("asked") {
        Some(Value::Array(list)) => list.push(asked),
        _ => {
            told.metadata.insert("asked".to_owned(), vec![asked].into());
        }
    });
}
