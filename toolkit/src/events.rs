//! Events that a host can receive while calls run.

mod log;
mod other_names;
mod stream;
mod teller;

pub use log::{LogLevel, LogMessage};
pub use stream::Events;
pub(crate) use stream::{CallOrigin, Hub, Wanted};
pub use teller::EventSender;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::ask::{AllowScope, Answer, AskAnswer, DeniedBy, PendingAsk, Reply};
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;
use toolkit_core::redact::Redactor;

/// An event of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallEvent {
    /// Its number, from 1, which grows from event to event of a toolkit. A reader of all events finds no number missing, except of events that
    /// it [lost](Events::lost).
    pub seq: u64,
    /// The time at which it happened, in milliseconds since 1970.
    pub at: u64,
    /// The call's id.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The session, if the host named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent, if the host named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The message that the call belongs to, if the host named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// A kind of event, with its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Event {
    /// The arguments are valid, and the function starts. A call that is refused before has no such event.
    Started,
    /// The call made progress.
    Progress(Progress),
    /// The title or metadata for user interfaces has changed.
    Metadata {
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Metadata values.
        metadata: Map<String, Value>,
    },
    /// A log message, for debugging.
    Log(LogMessage),
    /// A part of the answer is available.
    Partial {
        /// The part.
        content: Content,
    },
    /// The call needed permission, and has it without a question to a person now.
    Allowed {
        /// The kind of permission.
        kind: String,
        /// The operation, in one line.
        title: String,
        /// The source of the permission.
        by: AllowedBy,
    },
    /// A person is asked. The question can also be answered through [`Toolkit::asks`](crate::Toolkit::asks). Calls that ask the
    /// same at the same time share one question, which names the first of them; each of them has this event.
    Asked {
        /// The question.
        ask: PendingAsk,
    },
    /// A question of the call is answered, and the function is about to continue. Calls that share a question each have this
    /// event. A question that is withdrawn, because its call is cancelled or over, is not answered.
    Answered {
        /// The id of the question, as [`Event::Asked`] gave it.
        ask_id: String,
        /// The answer. A value that was given is not part of the event.
        answer: AskAnswer,
        /// The scope of the permission, if it was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<AllowScope>,
        /// The source of the answer.
        by: AnsweredBy,
        /// The name of the person who answered, if the host knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<String>,
        /// The person's message to the model, or the reason for a denial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The call found tools that the model was not shown. The model gets their [definitions](crate::Toolbox::definitions) from
    /// now on in this session.
    Found {
        /// Their names, in the order in which they follow the earlier definitions.
        tools: Vec<String>,
    },
    /// The call is over.
    Finished {
        /// The result, as the caller gets it, but redacted.
        #[serde(with = "shared")]
        result: Arc<ToolResult>,
        /// The duration of the call, including waiting; in JSON, seconds and nanoseconds.
        duration: Duration,
    },
    /// A task that the call left running has ended, such as a background command. It may come long after the end of the call.
    Ended {
        /// The tool's id for the task.
        task_id: String,
        /// The task and how it ended, in one line.
        title: String,
        /// Metadata values.
        metadata: Map<String, Value>,
    },
    /// The caller dropped the call, so there is no result.
    Interrupted,
}

mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

impl Event {
    /// Returns the size of the content, in bytes of text and pictures; it never changes.
    fn bytes(&self) -> usize {
        match self {
            Self::Partial { content } => content.bytes(),
            Self::Log(message) => message.data.to_string().len(),
            Self::Finished { result, .. } => match &result.outcome {
                Ok(output) => output.content.iter().map(Content::bytes).sum(),
                Err(error) => error.message().len(),
            },
            _ => 0,
        }
    }

    /// Returns the event for an answer to the question `ask_id`.
    pub(crate) fn answered(ask_id: &str, reply: &Reply) -> Self {
        let Reply { answer, answered_by, .. } = reply;
        let (scope, message) = match answer {
            Answer::Allow { scope, .. } => (Some(*scope), None),
            Answer::Deny { message, .. } => (None, message.clone()),
            _ => (None, None),
        };
        let by = AnsweredBy::of(answer);
        Self::Answered {
            ask_id: ask_id.to_owned(),
            answer: answer.outcome(),
            scope,
            by,
            answered_by: answered_by.clone(),
            message,
        }
    }

    /// Redacts secrets in the texts of tools.
    fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::Progress(Progress { message: Some(text), .. })
            | Self::Answered { message: Some(text), .. } => {
                redactor.redact_string(text, usize::MAX);
            }
            Self::Metadata { title, metadata } => {
                if let Some(title) = title {
                    redactor.redact_string(title, usize::MAX);
                }
                redactor.redact_members(metadata, usize::MAX);
            }
            Self::Ended { title, metadata, .. } => {
                redactor.redact_string(title, usize::MAX);
                redactor.redact_members(metadata, usize::MAX);
            }
            Self::Partial { content } => content.redact(redactor),
            Self::Log(message) => redactor.redact_value_to(&mut message.data, usize::MAX),
            Self::Allowed { title, .. } => redactor.redact_string(title, usize::MAX),
            Self::Finished { result, .. } => Arc::make_mut(result).redact(redactor),
            Self::Started
            | Self::Found { .. }
            | Self::Progress(_)
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::Interrupted => {}
        }
    }

    /// Returns true if a slow reader may miss this event.
    fn is_intermediate(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Metadata { .. } | Self::Log(_) | Self::Partial { .. })
    }
}

/// The source of an answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnsweredBy {
    /// A person, or the host's approver on a person's behalf.
    Person,
    /// No person could be asked.
    NobodyThere,
    /// No answer came in time.
    TimeOut,
    /// Too many questions were already pending.
    Limit,
    /// The approver failed.
    Fault,
}

impl AnsweredBy {
    fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Deny { by: DeniedBy::NobodyThere, .. } => Self::NobodyThere,
            Answer::Deny { by: DeniedBy::TimeOut, .. } => Self::TimeOut,
            Answer::Deny { by: DeniedBy::Limit, .. } => Self::Limit,
            Answer::Deny { by: DeniedBy::Fault, .. } => Self::Fault,
            _ => Self::Person,
        }
    }
}

/// The source of a permission, if no person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllowedBy {
    /// A rule of the configuration.
    Rule {
        /// The rule, and its place.
        rule: String,
    },
    /// A person's earlier approval for the session.
    Session,
    /// A person's earlier approval that is always valid in this workspace.
    Approval {
        /// The ids with which the approvals can be revoked, one for each pattern.
        ids: Vec<String>,
    },
    /// A person's answer to the question of this call that a host [kept](crate::approval::AskStore) while the call did not wait.
    Answer {
        /// The person, if the host knows who it was.
        #[serde(default, rename = "answeredBy", skip_serializing_if = "Option::is_none")]
        answered_by: Option<String>,
    },
}

/// An amount of [`Progress`]: any number of up to 64 bits, such as a `usize`.
#[diagnostic::on_unimplemented(
    message = "the amount of a `Progress` is a number, and `{Self}` is none",
    label = "not a number of up to 64 bits",
    note = "a text goes to `Progress::new(done).with_message(text)`, of `toolkit::events`"
)]
pub trait Amount {
    /// Returns the number; one beyond 2^53 is rounded.
    fn amount(self) -> f64;
}

macro_rules! amounts {
    ($($number:ty),*) => {
        $(#[diagnostic::do_not_recommend]
        impl Amount for $number {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, reason = "progress is shown, not counted on")]
            fn amount(self) -> f64 {
                self as f64
            }
        })*
    };
}

amounts!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);

/// The progress of a call.
///
/// ```
/// use toolkit::events::Progress;
///
/// let files = ["a.txt", "b.txt"];
/// let progress = Progress::new(1).with_total(files.len()).with_message(files[0]);
/// assert_eq!((progress.done, progress.total), (1.0, Some(2.0)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// The amount done, in units that the tool chooses. JSON has no infinite number and no NaN: they are `null`, which is read as NaN.
    #[serde(deserialize_with = "amount")]
    pub done: f64,
    /// The total amount, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A description of the present step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|amount| amount.unwrap_or(f64::NAN))
}

impl<T: Amount> From<T> for Progress {
    fn from(done: T) -> Self {
        Self::new(done)
    }
}

impl Progress {
    /// Creates a progress report with the amount done.
    pub fn new(done: impl Amount) -> Self {
        Self { done: done.amount(), ..Self::default() }
    }

    /// Sets the total amount.
    #[must_use]
    pub fn with_total(mut self, total: impl Amount) -> Self {
        self.total = Some(total.amount());
        self
    }

    /// Sets the description of the present step.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

#[cfg(test)]
mod tests;
