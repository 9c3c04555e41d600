//! The steps before a tool's function runs: finding the tool, the policy, validating the arguments.

use super::invalid::{refuse, undecodable};
use super::kept_ask::LiveCall;
use super::repeats::note_refused;
use super::report::Report;
use super::run::{CLOSING, Start};
use super::{CallOptions, Scope, Toolbox};
use crate::ask_store::AskingCall;
use crate::history;
use crate::settings::Settings;
use crate::tool::Tool;
use crate::tool::context::{Called, ToolContext};
use serde_json::Value;
use std::sync::Arc;
use toolkit_core::arguments::{self, Arguments, Problem, Repair};
use toolkit_core::call::{CallArguments, ToolCall, ToolResult};
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::guard::guard;
use toolkit_core::redact::Redactor;
use toolkit_core::schema::Compiled;

/// A call that has begun: its arguments are valid, or it already has an outcome.
pub(super) struct Begun {
    context: ToolContext,
    start: Start,
    /// The call in the store of the host, if its questions are kept.
    kept: Option<LiveCall>,
}

impl Begun {
    pub(super) fn parts(&mut self) -> (&ToolContext, &mut Start) {
        (&self.context, &mut self.start)
    }

    /// Removes the questions of the call from the store of the host, if it has one.
    pub(super) fn forget_asks(&mut self) -> Option<impl Future<Output = ()> + Send + '_> {
        let Self { start, kept, .. } = self;
        kept.as_mut().map(|kept| Box::pin(kept.end(start.outcome.as_ref())))
    }

    #[cold]
    fn refuse(&mut self, error: ToolError) {
        let Self { context, start, .. } = self;
        let error = error.redacted(context.redactor());
        let outcome = Err(if start.of_program { error } else { note_refused(context, error) });
        start.report.finish(context, &outcome);
        start.outcome = Some(outcome);
    }

    /// Takes the result of a call that has an outcome. The call cannot be used afterwards.
    pub(super) fn take_result(&mut self) -> ToolResult {
        let outcome =
            self.start.outcome.take().unwrap_or_else(|| Err(ToolError::failed("it has no outcome")));
        self.context.take_result(outcome)
    }
}

impl Toolbox {
    /// Runs the synchronous steps before the function. Not async: see [`Toolbox::call`].
    pub(super) fn begin(&self, call: ToolCall, options: CallOptions) -> Begun {
        let Scope { toolkit, tools, .. } = &*self.0;
        let place =
            self.open().and_then(|()| self.place(&call.name)).map_err(|error| self.swapped(&call, error));
        let found = place.and_then(|place| {
            let tool = &tools[place];
            within(tool, &options).map(|()| (place, tool))
        });
        // A tool called by another tool was not named by a model.
        if let (Ok((place, _)), None) = (&found, &options.above) {
            self.0.note_called(*place);
        }
        let report = Report::begin(&self.0, &call, found.as_ref().ok().map(|(_, tool)| *tool));
        let ToolCall { id, name, arguments, .. } = call;
        let CallOptions {
            cancel,
            interrupt,
            never_begins_again,
            turn,
            timeout,
            approver,
            change_hook,
            ask_journal,
            attached,
            messages,
            above,
            within_read_only,
            reads_beside_changes,
            of_program,
        } = options;
        // The calls that a function makes do not begin again by themselves.
        let keeper = toolkit.settings.ask_store.as_ref().filter(|_| above.is_none() && !never_begins_again);
        let asking = keeper.and_then(|_| AskingCall::of(&self.0.caller, turn.clone(), &id));
        let kept = keeper
            .zip(asking)
            .map(|(keeper, call)| LiveCall::begin(keeper, call, arguments.clone(), interrupt));
        let (tool, (prepared, redactor)) = match found {
            Ok((place, tool)) => (Called::Listed(place), prepare(tool, arguments, &toolkit.settings)),
            Err(error) => (Called::Own(Tool::nameless().named(name.clone())), (Err(error), None)),
        };
        let (arguments, repairs, refused) = match prepared {
            Ok((arguments, repairs)) => (arguments, repairs, None),
            Err(error) => (Arguments::default(), Vec::new(), Some(error)),
        };
        let mut begun = Begun {
            context: ToolContext::of_call(id, name, tool, self.0.clone(), cancel, above, redactor),
            start: Start {
                arguments,
                repairs,
                timeout,
                within_read_only,
                reads_beside_changes,
                of_program,
                report,
                outcome: None,
                key: None,
            },
            kept,
        };
        begun.context.approver = approver;
        begun.context.change_hook = change_hook;
        begun.context.ask_journal = ask_journal;
        begun.context.kept_call = begun.kept.as_ref().map(|kept| Arc::clone(kept.call()));
        begun.context.turn = turn;
        begun.context.attached = attached;
        begun.context.messages = messages;
        if let Some(error) = refused {
            begun.refuse(error);
        }
        begun
    }
}

impl Toolbox {
    /// Returns the error of a call that is not found, and says so if its id is the name of a tool.
    #[cold]
    fn swapped(&self, call: &ToolCall, error: ToolError) -> ToolError {
        if error.kind() != ToolErrorKind::UnknownTool || self.tool(&call.id).is_none() {
            return error;
        }
        let message = format!(
            "{}; the id of this call, `{}`, is the name of a tool: the order is `ToolCall::new(id, name, arguments)`",
            error.message(),
            call.id
        );
        ToolError::new(ToolErrorKind::UnknownTool, message)
    }

    /// Checks that the toolkit is not shut down.
    fn open(&self) -> Result<(), ToolError> {
        if self.0.toolkit.lifecycle.is_closing() {
            return Err(ToolError::unavailable(CLOSING));
        }
        Ok(())
    }
}

/// Returns the redactor for the secrets of this call, which are the values of arguments marked as secret.
fn own_redactor(compiled: &Compiled, arguments: &CallArguments, redactor: &Redactor) -> Option<Redactor> {
    if !compiled.has_secrets {
        return None;
    }
    let mut value = match arguments.as_text() {
        // Text that is not JSON is not repeated in any error.
        Ok(text) => serde_json::from_str(text).unwrap_or_default(),
        Err(value) => value.clone(),
    };
    Some(redactor.with_own(history::secrets::strip(compiled, &mut value)))
}

/// Rejects calls by a read-only tool of tools that are not read-only.
fn within(tool: &Tool, options: &CallOptions) -> Result<(), ToolError> {
    if options.within_read_only && !tool.annotations().read_only_hint {
        return Err(ToolError::denied(format!(
            "`{0}` may change something, and a tool that is declared `read_only` cannot call it; call `{0}` by itself \
             (the author of the calling tool can declare it `auto_execute` instead)",
            tool.name()
        )));
    }
    Ok(())
}

/// Validates the arguments, and returns them with their repairs, or with every problem; also returns the redactor for
/// the secrets among them.
pub(super) fn prepare(
    tool: &Tool,
    arguments: CallArguments,
    settings: &Settings,
) -> (Prepared, Option<Redactor>) {
    let compiled = match tool.compiled() {
        Ok(compiled) => compiled,
        Err(error) => return (Err(error), None),
    };
    let arguments = match arguments::certain(compiled, arguments) {
        // No code of the tool has run for them.
        Ok(arguments) if !compiled.has_secrets => return (Ok((arguments, Vec::new())), None),
        Ok(mut arguments) => CallArguments::Json(arguments.take_all()),
        Err(arguments) => arguments,
    };
    let prepared = guard(tool.name(), || {
        let redactor = own_redactor(compiled, &arguments, &settings.redactor);
        let undecodable = |value: &Value, known: &[Problem]| undecodable(tool, value, known);
        let prepared = arguments::prepare_with(compiled, arguments, settings.repairing, undecodable);
        (prepared.map_err(|problems| refuse(tool, problems)), redactor)
    });
    prepared.unwrap_or_else(|panicked| (Err(panicked), None))
}

pub(super) type Prepared = Result<(Arguments, Vec<Repair>), ToolError>;
