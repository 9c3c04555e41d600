//! The approval before a tool runs that does not ask itself.

use crate::permission::{Decision, RuleDecision};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use crate::toolbox::asked::{note_asked, shown};
use serde_json::{Map, Value};
use toolkit_core::arguments::Arguments;
use toolkit_core::ask::Ask;
use toolkit_core::error::ToolError;

/// Asks for approval, if it is needed.
pub(super) async fn ask(context: &ToolContext, arguments: &Arguments) -> Result<(), ToolError> {
    let tool = context.tool();
    let permissions = &context.scope().rules.permissions;
    // Questions that the tool asks itself are specific; the tool's name alone says little. A remote tool's claim that
    // it asks is not trusted.
    if tool.asks() && !tool.source().is_remote() {
        if let Some(decided) = permissions.denies_tool(tool, context.caller()) {
            return Err(ToolError::denied(refusal(tool, &decided)));
        }
        return if permissions.must_ask(tool) {
            put(context, tool, arguments.members(), None).await
        } else {
            Ok(())
        };
    }
    ask_for(context, tool, arguments.members()).await
}

/// Asks for approval of a tool, with its kind of permission and its name as the pattern, if it is needed.
pub(crate) async fn ask_for(
    context: &ToolContext,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Result<(), ToolError> {
    let settings = &context.scope().toolkit.settings;
    let permissions = &context.scope().rules.permissions;
    let decided = permissions.before(tool, context.caller());
    let is_default = !decided.said && !permissions.says_of(tool);
    match decided.decision {
        Decision::Allow => Ok(()),
        Decision::Ask if settings.hooks.without_asking_first && is_default => Ok(()),
        Decision::Ask => put(context, tool, arguments, is_default.then(|| author_hint(tool)).flatten()).await,
        Decision::Deny => Err(ToolError::denied(refusal(tool, &decided))),
    }
}

fn refusal(tool: &Tool, decided: &RuleDecision) -> String {
    let (name, kind) = (tool.name(), tool.permission());
    let rule = decided.rule.as_ref().map(|rule| format!(" by {rule}")).unwrap_or_default();
    format!(
        "`{name}` is denied{rule}: its actions of kind `{kind}` are not allowed. Nothing was done; continue without this tool, or say what was not allowed"
    )
}

/// Returns a hint on how to allow the call, including attributes that the tool's author can set. A remote tool's
/// attributes allow nothing.
fn author_hint(tool: &Tool) -> Option<String> {
    let kind = tool.permission();
    (!tool.source().is_remote()).then(|| {
        format!(
            "the setting `permission.{kind}`; a tool asks before it runs unless its author marks it `read_only` (it changes \
             nothing) or `auto_execute`"
        )
    })
}

async fn put(
    context: &ToolContext,
    tool: &Tool,
    arguments: &Map<String, Value>,
    hint: Option<String>,
) -> Result<(), ToolError> {
    let kind = tool.permission();
    let title = format!("call `{}`", tool.name());
    let mut ask = Ask::new(kind, &title).with_pattern(tool.name());
    ask = tool.conditions().fold(ask, Ask::with_condition);
    if let Some(shown) = shown(context, &Value::Object(arguments.clone())) {
        ask = ask.with_text("arguments", shown);
    }
    if let Some(hint) = hint {
        ask = ask.with_hint(hint);
    }
    context.ask_person(ask, "core").await?;
    note_asked(context, "core", kind, &title);
    Ok(())
}
