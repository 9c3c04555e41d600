//! What is told of a call to those that watch: exactly one end, whatever comes.

use super::Scope;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::events::Event;
use crate::output::ToolOutput;
use std::sync::Arc;
use std::time::Instant;

/// What will be told of a call.
pub(super) struct Report {
    /// When it began; unknown where nobody watches.
    began: Option<Instant>,
}

impl Report {
    /// When the call begins, if anybody wants to know.
    pub(super) fn begins(scope: &Scope) -> Option<Instant> {
        scope.toolkit.events.is_watched().then(Instant::now)
    }

    pub(super) fn new(began: Option<Instant>) -> Self {
        Self { began }
    }

    pub(super) fn start(context: &ToolContext) {
        context.send(|| Event::Started);
    }

    pub(super) fn finish(&self, context: &ToolContext, outcome: &Result<ToolOutput, ToolError>) {
        let duration = self.began.map(|began| began.elapsed()).unwrap_or_default();
        context.send(|| Event::Finished { result: Arc::new(context.copy_result(outcome)), duration });
    }

    /// Whoever called is gone.
    pub(super) fn interrupt(context: &ToolContext) {
        context.send(|| Event::Interrupted);
    }
}
