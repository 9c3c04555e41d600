//! What came of a call in a test.

use super::place::TestWorkspace;
use crate::ask::PendingAsk;
use crate::call::ToolResult;
use crate::content::Content;
use crate::error::{ToolError, ToolErrorKind};
use crate::events::{CallEvent, Event, Progress};
use crate::output::ToolOutput;
use serde_json::Value;
use std::fmt::Write as _;

/// A call that is over, with all that there was to see of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct TestCall {
    /// Its result.
    pub result: ToolResult,
    /// What happened in its session while it ran, in order; calls that it made itself are among it.
    pub events: Vec<CallEvent>,
    /// What was asked while it ran, in order.
    pub asks: Vec<PendingAsk>,
    pub(super) workspace: TestWorkspace,
}

impl TestCall {
    /// The text that the model gets: the answer's or the error's.
    pub fn text(&self) -> String {
        self.result.text()
    }

    /// The structured data of the answer.
    ///
    /// # Panics
    ///
    /// When the call failed, or its answer has none.
    #[track_caller]
    pub fn details(&self) -> &Value {
        match &self.expect_ok().details {
            Some(details) => details,
            None => panic!("{}", self.story(&format!("has no structured data; its text: {}", self.text()))),
        }
    }

    /// The answer.
    ///
    /// # Panics
    ///
    /// When the call failed; with its error and what was asked.
    #[track_caller]
    pub fn expect_ok(&self) -> &ToolOutput {
        match &self.result.outcome {
            Ok(output) => output,
            Err(error) => {
                panic!("{}", self.story(&format!("failed ({}): {}", error.kind(), error.message())))
            }
        }
    }

    /// The error.
    ///
    /// # Panics
    ///
    /// When the call succeeded, or failed in another way; with what came instead and what was asked.
    #[track_caller]
    pub fn expect_error(&self, kind: ToolErrorKind) -> &ToolError {
        match &self.result.outcome {
            Err(error) if error.kind() == kind => error,
            Err(error) => panic!(
                "{}",
                self.story(&format!("failed as {}, not as {kind}: {}", error.kind(), error.message()))
            ),
            Ok(output) => {
                panic!(
                    "{}",
                    self.story(&format!("should have failed as {kind}; it answered: {}", output.to_text()))
                )
            }
        }
    }

    /// The text of a file of the workspace, as it is now.
    ///
    /// # Panics
    ///
    /// When there is none, or it is not UTF-8.
    #[track_caller]
    pub fn file(&self, path: &str) -> String {
        self.workspace.read(path)
    }

    /// The workspace, as it is now.
    pub fn workspace(&self) -> &TestWorkspace {
        &self.workspace
    }

    /// How far it said it got, in order.
    pub fn progress(&self) -> impl Iterator<Item = &Progress> {
        self.own_events().filter_map(|event| match event {
            Event::Progress(progress) => Some(progress),
            _ => None,
        })
    }

    /// The parts of its answer that it gave while it ran, in order.
    pub fn partial(&self) -> impl Iterator<Item = &Content> {
        self.own_events().filter_map(|event| match event {
            Event::Partial { content } => Some(content),
            _ => None,
        })
    }

    /// Its events without those of other calls.
    fn own_events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.call_id == self.result.id).map(|event| &event.event)
    }

    fn story(&self, what: &str) -> String {
        let mut story = format!("the call of `{}` {what}", self.result.name);
        for ask in &self.asks {
            let _ = write!(story, "\n\nit asked:\n{}", ask.to_text());
        }
        story
    }
}
