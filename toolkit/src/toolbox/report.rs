//! Reports a call to event subscribers and the history: exactly one end in any case.

use super::Scope;
use crate::events::Event;
use crate::history::{History, Record, RecordedCall, USUAL};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use std::sync::Arc;
use std::time::Instant;
use toolkit_core::call::ToolCall;
use toolkit_core::error::ToolError;
use toolkit_core::guard::guard;
use toolkit_core::output::ToolOutput;

/// The data for the events and the record of a call.
pub(super) struct Report {
    /// The start time; `None` if there are no subscribers.
    began: Option<Instant>,
    /// The record, if there is a history.
    recorded: Option<RecordedCall>,
    waits: bool,
}

impl Report {
    /// Starts the report, before the call is validated.
    pub(super) fn begin(scope: &Scope, call: &ToolCall, found: Option<&Tool>) -> Self {
        let recorded = scope.toolkit.settings.history.as_ref().map(|_| {
            let caller = Arc::clone(&scope.caller);
            // A rejected call is recorded with its tool too.
            let tool = found.or_else(|| scope.tools.get(&call.name)).cloned();
            // The recorded texts of a call are stored after its id.
            let mut id = String::with_capacity(call.id.len() + USUAL);
            id.push_str(&call.id);
            RecordedCall::new(caller, id, &call.name, tool, &call.arguments)
        });
        Self { began: scope.toolkit.events.is_watched().then(Instant::now), recorded, waits: false }
    }

    /// Reports that the function runs.
    pub(super) fn start(context: &ToolContext) {
        context.send(|| Event::Started);
    }

    /// Reports that the call has to wait. It is recorded, so that it is known if the process ends before the call does.
    pub(super) fn wait(&mut self, context: &ToolContext) {
        if let (false, Some(recorded), Some(history)) = (self.waits, &mut self.recorded, history(context)) {
            record(history, recorded.started());
        }
        self.waits = true;
    }

    pub(super) fn finish(&mut self, context: &ToolContext, outcome: &Result<ToolOutput, ToolError>) {
        let began = self.began;
        context.send(|| {
            let duration = began.map(|began| began.elapsed()).unwrap_or_default();
            Event::Finished { result: Arc::new(context.copy_result(outcome)), duration }
        });
        if let (Some(mut recorded), Some(history)) = (self.recorded.take(), history(context)) {
            add_asks(context, &mut recorded);
            match context.live_if_made().and_then(|live| live.redactor()) {
                None => record(history, recorded.finished(outcome)),
                // The record knows only the secrets that the call was sent with.
                Some(redactor) => {
                    let mut result = context.copy_result(outcome);
                    result.redact(redactor);
                    record(history, recorded.finished(&result.outcome));
                }
            }
        }
    }

    /// Reports that the caller dropped the call.
    pub(super) fn interrupt(&mut self, context: &ToolContext) {
        context.send(|| Event::Interrupted);
        if let (Some(mut recorded), Some(history)) = (self.recorded.take(), history(context)) {
            add_asks(context, &mut recorded);
            record(history, recorded.interrupted());
        }
    }
}

/// Adds the questions that the call asked; few calls ask any.
fn add_asks(context: &ToolContext, recorded: &mut RecordedCall) {
    let Some(live) = context.live_if_made() else { return };
    let mut asks = live.asks.take();
    if let Some(redactor) = live.redactor() {
        for ask in &mut asks {
            ask.redact(redactor);
        }
    }
    if !asks.is_empty() {
        recorded.asked(asks);
    }
}

fn history(context: &ToolContext) -> Option<&dyn History> {
    context.scope().toolkit.settings.history.as_deref()
}

/// Records a call. A history that panics must neither lose the call's result nor abort the process: a dropped call is
/// recorded while it is dropped.
fn record(history: &dyn History, record: Record) {
    if guard("history", || history.record(record)).is_err() {
        tracing::error!(target: "toolkit", "the history stopped on an internal error, and a call is not recorded");
    }
}
