//! The question before a tool runs that asks nothing by itself.

use super::{note_asked, shown};
use crate::arguments::Arguments;
use crate::ask::Ask;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::permission::{Decided, Decision};
use crate::tool::Tool;
use serde_json::Value;

/// Asks, where it has to be asked.
pub(super) async fn ask(context: &ToolContext, arguments: &Arguments) -> Result<(), ToolError> {
    let tool = context.tool();
    let settings = &context.scope().toolkit.settings;
    let permissions = &settings.permissions;
    // What it asks by itself is judged by what it is about; its name alone says nothing of that. A server's word that its
    // tool asks is no more than a word.
    if tool.asks() && !tool.source().is_remote() {
        if let Some(decided) = permissions.denies_tool(tool, context.caller()) {
            return Err(ToolError::denied(refusal(tool, &decided)));
        }
        return if permissions.must_ask(tool) { put(context, tool, arguments).await } else { Ok(()) };
    }
    // With the tool's kind of permission, and its name as the pattern.
    let decided = permissions.before(tool, context.caller());
    let is_default = !decided.said && !permissions.says_of(tool);
    match decided.decision {
        Decision::Allow => Ok(()),
        Decision::Ask if settings.hooks.without_asking_first && is_default => Ok(()),
        Decision::Ask => put(context, tool, arguments).await,
        Decision::Deny => Err(ToolError::denied(refusal(tool, &decided))),
    }
}

fn refusal(tool: &Tool, decided: &Decided) -> String {
    let (name, kind) = (tool.name(), tool.permission());
    let rule = decided.rule.as_ref().map(|rule| format!(" by {rule}")).unwrap_or_default();
    format!(
        "`{name}` is denied{rule}: nothing of kind `{kind}` that is called so may be done. Nothing was done; do it \
         without this tool, or say what was not allowed"
    )
}

async fn put(context: &ToolContext, tool: &Tool, arguments: &Arguments) -> Result<(), ToolError> {
    let kind = tool.permission();
    let title = format!("call `{}`", tool.name());
    let mut ask = Ask::new(kind, &title).with_pattern(tool.name());
    if let Some(shown) = shown(context, &Value::Object(arguments.members().clone())) {
        ask = ask.with_text("arguments", shown);
    }
    context.ask_person(ask, "core").await?;
    note_asked(context, "core", kind, &title);
    Ok(())
}
