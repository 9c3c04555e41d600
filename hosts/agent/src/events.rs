//! The events of a run, for user interfaces and records.

use crate::redaction::without_secrets;
use crate::result::{RunUsage, ToolAgentResult};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use toolkit::{text::Redactor, views::Step};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The run began.
    Started {
        /// The id of the transcript.
        transcript: String,
        /// The id of the run.
        #[serde(default)]
        run: String,
        /// The configured name of the model.
        model: String,
        /// The agent, if it has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// How many agents stand above this one.
        depth: u32,
        /// True if the run continues a conversation.
        resumed: bool,
    },
    /// The queued messages that the task holds are consumed: its line in the transcript is on the disk.
    Consumed {
        /// The ids of the messages.
        ids: Vec<String>,
    },
    /// A turn of the model began.
    TurnStarted {
        /// The turn, counted from 0 over the whole conversation.
        turn: u32,
    },
    /// More of the model's text.
    Text {
        /// The text.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The text.
        text: String,
    },
    /// The answer broke off and is asked for again: what came of it does not count.
    Discarded {
        /// Why.
        reason: String,
    },
    /// A request failed and is sent again after a wait.
    Retrying {
        /// The number of the next attempt; the first one was 1.
        attempt: u32,
        /// The wait, in milliseconds.
        after_ms: u64,
        /// Why it failed.
        reason: String,
    },
    /// The model failed and another one is used.
    Fallback {
        /// The name of the model that failed.
        from: String,
        /// The name of the model that is used.
        to: String,
        /// Why it failed.
        reason: String,
    },
    /// A tool call is asked for, has changed, or is over.
    Step {
        /// The step as it is now.
        step: Box<Step>,
        /// The change that the call made to files, as a unified diff, once it is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    },
    /// More of the output of a call that runs.
    Output {
        /// The id of the call.
        call_id: String,
        /// The text.
        text: String,
    },
    /// A message that was queued while the run went on is delivered to the model.
    Delivered {
        /// The message.
        text: String,
        /// Its id, if it was sent with one: it is consumed, since its line in the transcript is on the disk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A message of the host to the model: that a final answer is missing, or that a limit is near.
    HostMessage {
        /// The message.
        text: String,
    },
    /// The conversation was shortened to fit the context window.
    Compacted {
        /// How.
        how: Compaction,
        /// The estimated tokens before.
        before: u64,
        /// The estimated tokens after.
        after: u64,
    },
    /// The usage of the run so far, after a request.
    Usage {
        /// The usage.
        usage: RunUsage,
        /// The estimated tokens of the conversation.
        context_tokens: u64,
        /// The size of the context window, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_limit: Option<u64>,
    },
    /// An event of a sub-agent.
    Delegated {
        /// The id of the call of `delegate`.
        call_id: String,
        /// The event.
        event: Box<AgentEvent>,
    },
    /// The run is over.
    Finished {
        /// The id of the run.
        #[serde(default)]
        run: String,
        /// Its account.
        result: Box<ToolAgentResult>,
    },
}

/// How a conversation was shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Compaction {
    /// Old tool results were cut.
    Shortened,
    /// Old messages were replaced by a summary.
    Summarised,
}

/// The receiver of a run's events. Cheap to clone.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(AgentEvent) + Send + Sync>);

impl Observer {
    /// Calls a function with each event. It must not block: the run waits for it.
    pub fn new(observe: impl Fn(AgentEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    /// Ignores all events.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn send(&self, event: AgentEvent) {
        (self.0)(event);
    }

    /// The receiver that gets each event without the secrets that a redactor knows.
    pub(crate) fn redacting(self, redactor: &Redactor) -> Self {
        if !redactor.has_named() {
            return self;
        }
        let redactor = redactor.clone();
        Self::new(move |event| match without_secrets(&redactor, &event) {
            Ok(redacted) => self.send(redacted.unwrap_or(event)),
            Err(error) => tracing::error!(target: "toolkit::agent", %error, "an event is not shown"),
        })
    }

    /// The receiver of the events of a sub-agent that the call `call_id` started.
    pub(crate) fn of_delegate(&self, call_id: &str) -> Self {
        let (observer, call_id) = (self.clone(), call_id.to_owned());
        Self::new(move |event| {
            observer.send(AgentEvent::Delegated { call_id: call_id.clone(), event: Box::new(event) });
        })
    }
}

/// An observer of a run: an [`Observer`], or a closure with an [`AgentEvent`].
// A trait of its own, so that anything else is one compile error that says what to write.
#[diagnostic::on_unimplemented(
    message = "a run is observed by an `Observer`, and this is none",
    label = "not an `Observer`, and no closure with an `AgentEvent`",
    note = "without an observer: `Observer::none()`; of a closure: `|event: AgentEvent| println!(\"{{event:?}}\")`",
    note = "a closure must be `Send + Sync + 'static`: it takes what it uses by `move`"
)]
pub trait IntoObserver {
    #[doc(hidden)]
    fn into_observer(self) -> Observer;
}

#[diagnostic::do_not_recommend]
impl<O: Into<Observer>> IntoObserver for O {
    fn into_observer(self) -> Observer {
        self.into()
    }
}

impl<F: Fn(AgentEvent) + Send + Sync + 'static> From<F> for Observer {
    fn from(observe: F) -> Self {
        Self::new(observe)
    }
}

impl Default for Observer {
    fn default() -> Self {
        Self::none()
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
