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
