//! What a host can watch while calls run.

mod log;
mod stream;
mod teller;

pub use log::{LogLevel, LogMessage};
pub use stream::Events;
pub(crate) use stream::{CallOrigin, Hub, Wanted};
pub use teller::Teller;

use crate::ask::{AllowScope, Answer, AskAnswer, DeniedBy, PendingAsk};
use crate::call::ToolResult;
use crate::content::Content;
use crate::redact::Redactor;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Something that happened to a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallEvent {
    /// The call's id.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The session, if the host named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent, if the host named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The message that the call belongs to, if the host named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What can happen to a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Event {
    /// Its arguments fit, and it begins. A call that is refused before has no such event.
    Started,
    /// It got further.
    Progress(Progress),
    /// What user interfaces show of it has changed.
    Metadata {
        /// The headline.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Facts.
        metadata: Map<String, Value>,
    },
    /// It said something for those who look for faults.
    Log(LogMessage),
    /// A part of its answer is there.
    Partial {
        /// The part.
        content: Content,
    },
    /// It wanted leave for something and has it without a person being asked now.
    Allowed {
        /// The kind of permission.
        kind: String,
        /// What will be done, in one line.
        title: String,
        /// What it has leave by.
        by: AllowedBy,
    },
    /// A person is asked. The question can be answered through [`Toolkit::asks`](crate::Toolkit::asks) too. Calls that
    /// ask the same at once have one question, which names the first of them; each of them has this event.
    Asked {
        /// The question.
        ask: PendingAsk,
    },
    /// A question of the call is answered, and the function is about to go on. Calls that wait for one question together each
    /// have this event. A question that is withdrawn, because its call is cancelled or over, is not answered.
    Answered {
        /// The id of the question, as [`Event::Asked`] gave it.
        ask_id: String,
        /// The answer. A value that was given is not part of the event.
        answer: AskAnswer,
        /// How long the permission lasts, where it was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<AllowScope>,
        /// Who answered.
        by: AnsweredBy,
        /// The person's message to the model, or the reason for a denial.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It found tools that a model was not shown, and gets the [definitions](crate::Toolbox::definitions) of from now on in this
    /// session.
    Found {
        /// Their names, in the order in which they come behind the definitions before.
        tools: Vec<String>,
    },
    /// It is over.
    Finished {
        /// Its result, as the caller gets it, but for secrets.
        #[serde(serialize_with = "shared")]
        result: Arc<ToolResult>,
        /// How long it took, waiting included; in JSON seconds and nanoseconds.
        duration: Duration,
    },
    /// Something that it left running is over: a command in the background, say. It may come long after the end of the call.
    Ended {
        /// By what the tool names it.
        task_id: String,
        /// What it was and how it ended, in one line.
        title: String,
        /// Facts.
        metadata: Map<String, Value>,
    },
    /// Whoever called dropped it: there is nobody to get a result.
    Interrupted,
}

fn shared<S: Serializer>(result: &Arc<ToolResult>, serializer: S) -> Result<S::Ok, S::Error> {
    result.as_ref().serialize(serializer)
}

impl Event {
    /// How much it says, in bytes of text and pictures; it never changes.
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

    /// The event for an answer to the question `ask_id`.
    pub(crate) fn answered(ask_id: &str, answer: &Answer) -> Self {
        let (kind, scope, message) = match answer {
            Answer::Allow { scope } => (AskAnswer::Allowed, Some(*scope), None),
            Answer::Deny { message, .. } => (AskAnswer::Denied, None, message.clone()),
            Answer::Value { .. } => (AskAnswer::Given, None, None),
            Answer::Declined => (AskAnswer::Declined, None, None),
            Answer::Cancelled => (AskAnswer::Cancelled, None, None),
        };
        let by = AnsweredBy::of(answer);
        Self::Answered { ask_id: ask_id.to_owned(), answer: kind, scope, by, message }
    }

    /// Takes secrets out of what tools say.
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

    /// Whether a reader that is late may miss it.
    fn is_intermediate(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Metadata { .. } | Self::Log(_) | Self::Partial { .. })
    }
}

/// Who answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnsweredBy {
    /// A person, or the host's approver on a person's behalf.
    Person,
    /// Nobody: there is nobody to ask.
    NobodyThere,
    /// Nobody: the question waited too long.
    TimeOut,
    /// Nobody: too many questions wait already.
    Limit,
    /// Nobody: the approver failed.
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

/// What something is allowed by, where no person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllowedBy {
    /// A rule of the configuration.
    Rule {
        /// Which one, and where it was written.
        rule: String,
    },
    /// A person, who allowed it for the session.
    Session,
    /// A person, who allowed it always in this workspace.
    Approval {
        /// The ids by which that can be revoked, one for each pattern.
        ids: Vec<String>,
    },
}

/// How far a call got.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in units of the tool's own.
    pub done: f64,
    /// How much there is to do, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// So much is done.
    pub fn new(done: impl Into<f64>) -> Self {
        Self { done: done.into(), ..Self::default() }
    }

    /// Of so much.
    #[must_use]
    pub fn with_total(mut self, total: impl Into<f64>) -> Self {
        self.total = Some(total.into());
        self
    }

    /// What is being done.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
