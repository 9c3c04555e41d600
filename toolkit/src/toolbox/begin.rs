//! Everything before a tool's function runs: find, policy, arguments.

use super::report::Report;
use super::run::Start;
use super::{CallOptions, Toolbox};
use crate::arguments::{self, Arguments, InvalidArguments, Repair, Repairing};
use crate::call::{CallArguments, ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::guard::guard;
use crate::history;
use crate::redact::Redactor;
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
        let found = self.find(&call.name).and_then(|tool| within(tool, &options).map(|()| tool));
        let mut report = Report::begin(&self.0, &call, self.0.toolkit.tool(&call.name));
        let ToolCall { id, name, arguments } = call;
        let CallOptions { cancel, timeout, above, within_read_only } = options;
        let (tool, prepared) = match found {
            Ok(tool) => {
                let settings = &self.0.toolkit.settings;
                let prepared = guard(&name, || {
                    let redactor = own_redactor(tool, &arguments, &settings.redactor)?;
                    Ok((prepare(tool, arguments, settings.repairing), redactor))
                });
                (tool.clone(), prepared.flatten())
            }
            Err(error) => (Tool::nameless().named(name.clone()), Err(error)),
        };
        let (prepared, redactor) = match prepared {
            Ok((prepared, redactor)) => (prepared, redactor),
            Err(error) => (Err(error), None),
        };
        let context = ToolContext::new(id, name, tool, Arc::clone(&self.0), cancel, above, redactor);
        match prepared {
            Ok((arguments, repairs)) => {
                let start = Start { arguments, repairs, timeout, within_read_only, report };
                Ok(Ready { context, start })
            }
            Err(error) => {
                let outcome = Err(error.redacted(context.redactor()));
                report.finish(&context, &outcome);
                Err(Box::new(context.into_result(outcome)))
            }
        }
    }
}

/// What takes the secrets of this very call out of what is told of it: the values of arguments marked so.
fn own_redactor(
    tool: &Tool,
    arguments: &CallArguments,
    redactor: &Redactor,
) -> Result<Option<Redactor>, ToolError> {
    let compiled = tool.compiled()?;
    if !compiled.has_secrets {
        return Ok(None);
    }
    let mut value = match arguments {
        CallArguments::Json(value) => value.clone(),
        // What is no JSON is not repeated in any error.
        CallArguments::Text(text) => serde_json::from_str(text).unwrap_or_default(),
    };
    Ok(Some(redactor.with_own(history::secrets::strip(compiled, &mut value))))
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
