//! Everything before a tool's function runs: find, policy, arguments.

use super::report::Report;
use super::run::Start;
use super::{CallOptions, Toolbox};
use crate::arguments::{self, Arguments, InvalidArguments, Repair, Repairing};
use crate::call::{CallArguments, ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::guard::guard;
use crate::schema::Compiled;
use crate::tool::Tool;
use std::sync::Arc;

/// A call whose arguments fit.
pub(super) struct Ready {
    context: ToolContext,
    start: Start,
}

impl Ready {
    pub(super) fn split(self) -> (ToolContext, Start) {
        (self.context, self.start)
    }
}

impl Toolbox {
    /// What can be said before the function runs. Not async: see [`Toolbox::call`].
    pub(super) fn begin(&self, call: ToolCall, options: CallOptions) -> Result<Ready, Box<ToolResult>> {
        let ToolCall { id, name, arguments } = call;
        let began = Report::begins(&self.0);
        let tool = match self.find(&name).and_then(|tool| within(tool, &options).map(|()| tool)) {
            Ok(tool) => tool,
            Err(error) => return Err(Box::new(ToolResult::new(id, name, Err(error)))),
        };
        let CallOptions { cancel, timeout, above, within_read_only } = options;
        let prepared = guard(&name, || prepare(tool, arguments, self.0.toolkit.settings.repairing)).flatten();
        let context = ToolContext::new(id, name, tool.clone(), Arc::clone(&self.0), cancel, above);
        let report = Report::new(began);
        match prepared {
            Ok((arguments, repairs)) => {
                let start = Start { arguments, repairs, timeout, within_read_only, report };
                Ok(Ready { context, start })
            }
            Err(error) => {
                let outcome = Err(error);
                report.finish(&context, &outcome);
                Err(Box::new(context.into_result(outcome)))
            }
        }
    }
}

/// What only reads must not change anything by a detour.
fn within(tool: &Tool, options: &CallOptions) -> Result<(), ToolError> {
    if options.within_read_only && !tool.annotations().read_only_hint {
        return Err(ToolError::denied(format!(
            "`{}` may change something, and a tool that is declared `read_only` cannot call it",
            tool.name()
        )));
    }
    Ok(())
}

/// Arguments that fit the tool, or every problem with them.
fn prepare(
    tool: &Tool,
    arguments: CallArguments,
    repairing: Repairing,
) -> Result<(Arguments, Vec<Repair>), ToolError> {
    let compiled = tool.compiled()?;
    arguments::prepare(compiled, arguments, repairing).map_err(|problems| refuse(tool, problems))
}

/// What is wrong with the arguments, as the tool words it.
fn refuse(tool: &Tool, mut problems: InvalidArguments) -> ToolError {
    if problems.tool.is_empty() {
        tool.name().clone_into(&mut problems.tool);
        problems.signature = tool.compiled().map(Compiled::signature).unwrap_or_default();
    }
    let worded = tool.format_error().map(|format| format(&problems));
    let error = ToolError::invalid_arguments(problems);
    match worded {
        Some(message) => error.with_message(message),
        None => error,
    }
}

/// Completes what a type itself said of an argument while it was decoded.
pub(super) fn complete(tool: &Tool, error: ToolError) -> ToolError {
    match error.problems() {
        Some(problems) if problems.tool.is_empty() => {
            guard(tool.name(), || refuse(tool, problems.clone())).unwrap_or_else(|panic| panic)
        }
        _ => error,
    }
}
