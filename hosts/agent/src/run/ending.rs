//! The end of a run: why, what becomes of calls without a result, and the account.

use super::Run;
use crate::events::AgentEvent;
use crate::loop_tools::Account;
use crate::redaction::without_secrets;
use crate::result::{StopReason, ToolAgentResult};
use crate::transcript::{Record, TranscriptError};
use std::sync::Arc;
use toolkit_models::{ModelError, ToolOutput};

/// Why and how a run ends.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) reason: StopReason,
    account: Option<Account>,
    /// Why, where no account says it.
    message: String,
    is_error: bool,
}

impl Ending {
    pub(crate) fn of(reason: StopReason, message: impl Into<String>) -> Self {
        Self { reason, account: None, message: message.into(), is_error: false }
    }

    pub(crate) fn error(reason: StopReason, message: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::of(reason, message) }
    }

    pub(super) fn cancelled() -> Self {
        Self::of(StopReason::Cancelled, "The run was cancelled.")
    }

    pub(super) fn timeout() -> Self {
        Self::of(StopReason::Timeout, "The time limit was reached.")
    }

    pub(super) fn finished(account: Account) -> Self {
        Self { account: Some(account), ..Self::of(StopReason::Finished, "") }
    }
}

impl From<TranscriptError> for Ending {
    fn from(error: TranscriptError) -> Self {
        Self::error(StopReason::TranscriptError, error.to_string())
    }
}

impl Run<'_> {
    /// Ends the run: every call gets its result, and the account is written.
    pub(super) async fn end(mut self, ending: Ending) -> ToolAgentResult {
        self.stop_calls.cancel();
        self.settle(ending.reason).await;
        self.drain_events();
        let Ending { reason, account, message, is_error } = ending;
        if is_error {
            self.errors.push(message.clone());
        }
        let (success, summary, details) = match account {
            Some(Account { success, summary, details }) => (success, summary, details),
            None => (false, message, None),
        };
        let result = ToolAgentResult {
            success,
            summary,
            details,
            files_modified: self.session.files.clone(),
            errors: std::mem::take(&mut self.errors),
            tool_call_count: self.ledger.calls(),
            execution_time: self.clock.elapsed(),
            steps: self.steps.take(),
            usage: self.ledger.usage(),
            stop_reason: reason,
        };
        let result = match without_secrets(self.agent.toolkit.redactor(), &result) {
            Ok(redacted) => redacted.unwrap_or(result),
            Err(error) => ToolAgentResult {
                summary: format!("The account is left out: {error}."),
                details: None,
                errors: Vec::new(),
                files_modified: Vec::new(),
                steps: Vec::new(),
                ..result
            },
        };
        // It has no end, of which an observer would be told.
        if self.is_interrupted(reason) {
            return result;
        }
        let result = self.store(result).await;
        self.observer.send(AgentEvent::Finished { run: self.id.clone(), result: Box::new(result.clone()) });
        result
    }

    /// Writes the account. One that is not on the disk would be lost by a crash, so that it is no success.
    async fn store(&mut self, mut result: ToolAgentResult) -> ToolAgentResult {
        let written = ToolAgentResult { steps: Vec::new(), ..result.clone() };
        let record = Record::End { run: Some(self.id.clone()), result: Box::new(written) };
        let stored = match self.session.journal.record_anyway(&record) {
            Ok(()) => self.session.journal.sync().await,
            Err(error) => Err(error),
        };
        if let Err(error) = stored
            && result.stop_reason != StopReason::TranscriptError
        {
            result.success = false;
            result.stop_reason = StopReason::TranscriptError;
            result.errors.push(error.to_string());
        }
        result
    }

    /// Returns true if the run ends as by a crash, and goes on when it is resumed.
    fn is_interrupted(&self, reason: StopReason) -> bool {
        reason == StopReason::Cancelled && self.interrupt.is_cancelled()
    }

    /// Returns true if a call of an interrupted run waits for a person: it is begun and asked again when the run goes on.
    pub(super) fn is_left_open(&self, call: usize) -> bool {
        let pending = self.session.journal.conversation.pending();
        self.interrupt.is_cancelled() && pending.is_some_and(|pending| pending.may_begin_again(call))
    }

    /// Gives every call without a result one: the run ends before it does. If it is interrupted, those are left that are begun again.
    pub(super) async fn settle(&mut self, reason: StopReason) {
        let Some(pending) = self.session.journal.conversation.pending().cloned() else { return };
        if self.is_interrupted(reason) {
            let (agent, turn) = (Arc::clone(&self.agent), self.session.header.turn(pending.answer));
            let of_lost = pending.clone();
            let lost = move || of_lost.lost_but_for(|call| agent.recovered(&turn, call));
            let lost = tokio::task::spawn_blocking(lost);
            // Where it is not known what was done, the next start looks again.
            let lost = lost.await.unwrap_or_else(|_| Ok(pending.lost())).unwrap_or_default();
            for (call, output) in lost {
                self.forget_asks(pending.answer, &pending.calls[call].id).await;
                self.give_lost(pending.answer, call, output);
            }
            self.abandon_steps("the program ends");
            return;
        }
        let why = match reason {
            StopReason::Cancelled => "the user cancelled the run",
            StopReason::Timeout => "the time limit was reached",
            _ => "the run ended",
        };
        for (place, call) in
            pending.calls.iter().enumerate().filter(|(place, _)| pending.results[*place].is_none())
        {
            let text = if pending.started.contains(&place) {
                format!("interrupted: {why} while the call ran. Parts of it may have been done")
            } else {
                format!("not run: {why} before the call began")
            };
            let output = ToolOutput::error(call, text);
            self.forget_asks(pending.answer, &call.id).await;
            self.give_lost(pending.answer, place, output);
        }
        self.abandon_steps(why);
    }

    /// Removes the questions of a call from the store of the host, if the toolkit has one: for a call that does not give its result itself. It
    /// comes before the result, so that a crash in between leaves none.
    pub(super) async fn forget_asks(&self, answer: u64, call: &str) {
        let call = self.session.header.asking_call(answer, call);
        self.agent.toolkit.forget_asks(&call).await;
    }

    fn give_lost(&mut self, answer: u64, call: usize, output: ToolOutput) {
        let record = Record::Result { answer, call, output, files_modified: Vec::new(), error: None };
        // The error is that of the run's end.
        let _ = self.session.journal.record_anyway(&record);
    }
}

/// The words for a limit.
pub(crate) fn limit_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::MaxTurns => "The limit of turns is reached.",
        StopReason::MaxToolCalls => "The limit of tool calls is reached.",
        StopReason::MaxTokens => "The limit of tokens is reached.",
        StopReason::MaxCost => "The limit of cost is reached.",
        _ => "A limit is reached.",
    }
}

/// The message of a failure that ends the run.
pub(crate) fn model_failed(error: &ModelError) -> Ending {
    match error {
        ModelError::Cancelled { .. } => Ending::cancelled(),
        ModelError::Refused { .. } => Ending::error(StopReason::Refused, error.to_string()),
        ModelError::Budget { .. } => Ending::error(StopReason::Budget, error.to_string()),
        _ => Ending::error(StopReason::ModelError, error.to_string()),
    }
}
