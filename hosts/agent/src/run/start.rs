//! The beginning of a run.

use super::Run;
use crate::agent::Agent;
use crate::events::IntoObserver;
use crate::request::DelegationRequest;
use crate::result::{RunFuture, RunUsage, StopReason, ToolAgentResult};
use crate::session::{RunOptions, Session};
use crate::transcript::TranscriptError;
use std::time::Duration;

impl Agent {
    /// Does a task to its end, in a conversation of its own.
    pub fn run(&self, request: impl Into<DelegationRequest>, events: impl IntoObserver) -> RunFuture<'_> {
        let (request, options) = (request.into(), RunOptions::new().observer(events.into_observer()));
        Box::pin(self.run_with(request, options))
    }

    /// Does a task to its end, in a conversation of its own, with a token that cancels it.
    pub async fn run_with(
        &self,
        request: impl Into<DelegationRequest>,
        options: RunOptions,
    ) -> ToolAgentResult {
        let request = request.into();
        match self.session(&request) {
            Ok(mut session) => {
                let result = session.run(request, options).await;
                session.close();
                result
            }
            Err(error) => not_begun(&error),
        }
    }
}

impl Session {
    /// Does a task, with all that was said before.
    pub async fn run(
        &mut self,
        request: impl Into<DelegationRequest>,
        options: RunOptions,
    ) -> ToolAgentResult {
        self.run_to_end(Some(request.into()), options).await
    }

    /// Goes on with the conversation as it is: after an interruption, or with the messages that wait.
    pub async fn go_on(&mut self, options: RunOptions) -> ToolAgentResult {
        self.run_to_end(None, options).await
    }

    async fn run_to_end(
        &mut self,
        request: Option<DelegationRequest>,
        options: RunOptions,
    ) -> ToolAgentResult {
        let is_resumed = self.is_resumed || self.journal.conversation.turns > 0;
        let result = Run::new(self, options, is_resumed).run(request).await;
        self.is_resumed = true;
        result
    }
}

/// The account of a run that could not begin.
fn not_begun(error: &TranscriptError) -> ToolAgentResult {
    ToolAgentResult {
        success: false,
        summary: format!("The task was not begun: {error}"),
        details: None,
        files_modified: Vec::new(),
        errors: vec![error.to_string()],
        tool_call_count: 0,
        execution_time: Duration::ZERO,
        steps: Vec::new(),
        usage: RunUsage::default(),
        stop_reason: StopReason::TranscriptError,
    }
}
