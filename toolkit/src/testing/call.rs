//! The result of a call in a test.

use super::place::TestWorkspace;
use crate::events::{CallEvent, Event, Progress};
use serde_json::Value;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use toolkit_core::ask::PendingAsk;
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::output::ToolOutput;

/// A finished call, with everything that can be observed.
#[derive(Debug)]
#[non_exhaustive]
pub struct TestCall {
    /// Its result.
    pub result: ToolResult,
    /// The events in its session while it ran, in order, including those of calls that it made itself.
    pub events: Vec<CallEvent>,
    /// The questions asked while it ran, in order.
    pub asks: Vec<PendingAsk>,
    pub(super) workspace: TestWorkspace,
}

/// A call in a test, which runs when it is awaited.
// A type of its own, so that what a test wants from it before is one compile error that says to await it.
#[must_use = "a call runs when it is awaited: write `.await`"]
pub struct Calling<'a>(pub(super) Pin<Box<dyn Future<Output = TestCall> + Send + 'a>>);

impl Future for Calling<'_> {
    type Output = TestCall;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<TestCall> {
        self.0.as_mut().poll(context)
    }
}

/// The kind that the error of a call is expected to have.
// A trait of its own, so that a text is one compile error that says what to write.
#[diagnostic::on_unimplemented(
    message = "a test expects the kind of an error",
    label = "not a `ToolErrorKind`",
    note = "write `.expect_error(ToolErrorKind::NotFound)`; it returns the error, whose text is `.message()`"
)]
pub trait AsErrorKind {
    #[doc(hidden)]
    fn into_kind(self) -> ToolErrorKind;
}

impl AsErrorKind for ToolErrorKind {
    fn into_kind(self) -> ToolErrorKind {
        self
    }
}

impl TestCall {
    /// Returns the text that the model gets: that of the output or the error.
    pub fn text(&self) -> String {
        self.result.text()
    }

    /// Returns the structured data of the output.
    ///
    /// # Panics
    ///
    /// Panics if the call failed, or its output has none.
    #[track_caller]
    pub fn details(&self) -> &Value {
        match &self.expect_ok().details {
            Some(details) => details,
            None => panic!("{}", self.story(&format!("has no structured data; its text: {}", self.text()))),
        }
    }

    /// Returns the output.
    ///
    /// # Panics
    ///
    /// Panics if the call failed; the message contains the error and the questions asked.
    #[track_caller]
    pub fn expect_ok(&self) -> &ToolOutput {
        match &self.result.outcome {
            Ok(output) => output,
            Err(error) => {
                panic!("{}", self.story(&format!("failed ({}): {}", error.kind(), error.message())))
            }
        }
    }

    /// Returns the output, as [`expect_ok`](Self::expect_ok) does.
    ///
    /// # Panics
    ///
    /// Panics if the call failed; the message contains the error and the questions asked.
    #[track_caller]
    pub fn unwrap(&self) -> &ToolOutput {
        self.expect_ok()
    }

    /// Returns the error.
    ///
    /// # Panics
    ///
    /// Panics if the call succeeded, or failed with another kind; the message contains the actual result and the
    /// questions asked.
    #[track_caller]
    pub fn expect_error(&self, kind: impl AsErrorKind) -> &ToolError {
        let kind = kind.into_kind();
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

    /// Returns the current text of a file of the workspace.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file, or it is not UTF-8.
    #[track_caller]
    pub fn file(&self, path: &str) -> String {
        self.workspace.read(path)
    }

    /// Returns the workspace in its current state.
    pub fn workspace(&self) -> &TestWorkspace {
        &self.workspace
    }

    /// Returns the progress that it reported, in order.
    pub fn progress(&self) -> impl Iterator<Item = &Progress> {
        self.own_events().filter_map(|event| match event {
            Event::Progress(progress) => Some(progress),
            _ => None,
        })
    }

    /// Returns the partial output that it sent while it ran, in order.
    pub fn partial(&self) -> impl Iterator<Item = &Content> {
        self.own_events().filter_map(|event| match event {
            Event::Partial { content } => Some(content),
            _ => None,
        })
    }

    /// Returns its events without those of other calls.
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
