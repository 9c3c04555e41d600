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

/// A call that has begun: its arguments fit, or it has its outcome already.
pub(super) struct Begun {
    context: ToolContext,
    start: Start,
}

impl Begun {
    pub(super) fn parts(&mut self) -> (&ToolContext, &mut Start) {
        (&self.context, &mut self.start)
    }

    /// The result of a call that has its outcome. Nothing can be done with it afterwards.
    pub(super) fn take_result(&mut self) -> ToolResult {
        let outcome =
            self.start.outcome.take().unwrap_or_else(|| Err(ToolError::failed("it has no outcome")));
        self.context.take_result(outcome)
    }
}

impl Toolbox {
    /// What can be said before the function runs. Not async: see [`Toolbox::call`].
    pub(super) fn begin(&self, call: ToolCall, options: CallOptions) -> Begun {
        let found = self.find(&call.name).and_then(|tool| within(tool, &options).map(|()| tool));
        let report = Report::begin(&self.0, &call, found.as_ref().ok().copied());
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
        let (prepared, outcome) = match prepared {
            Ok(prepared) => (prepared, None),
            Err(error) => (Prepared::default(), Some(Err(error.redacted(context.redactor())))),
        };
        let (arguments, repairs) = prepared;
        let mut start = Start { arguments, repairs, timeout, within_read_only, report, outcome };
        if let Some(outcome) = &start.outcome {
            start.report.finish(&context, outcome);
        }
        Begun { context, start }
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

/// Arguments that fit, and what was repaired for it.
type Prepared = (Arguments, Vec<Repair>);

/// Arguments that fit the tool, or every problem with them.
fn prepare(tool: &Tool, arguments: CallArguments, repairing: Repairing) -> Result<Prepared, ToolError> {
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
