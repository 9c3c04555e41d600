//! Questions about a call that a component other than the tool asks: the arguments that a person is shown, and the note of the question.

use crate::tool::context::ToolContext;
use serde_json::{Value, json};

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
