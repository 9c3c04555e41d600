//! The request to do a task.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use toolkit::Content;

/// A task for an agent.
///
/// ```
/// use toolkit_agent::DelegationRequest;
///
/// let request = DelegationRequest::new("Add a licence header to every source file")
///     .with_context("The licence is in LICENSE.")
///     .with_expected_outcome("Every .rs file begins with the header, and the tests pass.");
/// assert_eq!(serde_json::to_value(&request).unwrap()["expectedOutcome"], request.expected_outcome.unwrap());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DelegationRequest {
    /// The task, in the words of whoever delegates it.
    pub task: String,
    /// Facts that the agent needs and cannot find out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The state in which the task is done. The agent succeeds only if it states that this is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Pictures, sounds and documents that go with the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Content>,
    /// The session of the toolkit that the tool calls belong to, with its approvals and its state. Without one the run has its own
    /// session, which ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The message that the tool calls belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The name of the agent that does the task, for policies and records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $setter:ident: $field:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $setter(mut self, text: impl Into<String>) -> Self {
            self.$field = Some(text.into());
            self
        })*
    };
}

impl DelegationRequest {
    /// Returns the request to do this task.
    pub fn new(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }

    /// Adds a picture, a sound or a document.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Content) -> Self {
        self.attachments.push(attachment);
        self
    }

    setters! {
        /// Adds facts that the agent needs.
        with_context: context;
        /// States when the task is done.
        with_expected_outcome: expected_outcome;
        /// Sets the session of the toolkit.
        with_session: session_id;
        /// Sets the message that the tool calls belong to.
        with_message: message_id;
        /// Names the agent.
        with_agent: agent;
    }

    /// Returns the request as the model reads it.
    pub fn to_text(&self) -> String {
        let mut text = self.task.trim().to_owned();
        for (title, part) in [("Context", &self.context), ("Expected outcome", &self.expected_outcome)] {
            if let Some(part) = part.as_deref().map(str::trim).filter(|part| !part.is_empty()) {
                let _ = write!(text, "\n\n{title}:\n{part}");
            }
        }
        text
    }
}

impl From<&str> for DelegationRequest {
    fn from(task: &str) -> Self {
        Self::new(task)
    }
}

impl From<String> for DelegationRequest {
    fn from(task: String) -> Self {
        Self::new(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_all_parts_that_say_something() {
        let request = DelegationRequest::new(" do it ").with_context(" ").with_expected_outcome("it is done");
        assert_eq!(request.to_text(), "do it\n\nExpected outcome:\nit is done");
    }
}
