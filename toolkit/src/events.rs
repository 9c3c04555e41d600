//! What a host can watch while calls run.

mod log;
mod stream;
mod teller;

pub use log::{LogLevel, LogMessage};
pub use stream::Events;
pub(crate) use stream::Hub;
pub use teller::Teller;

use crate::ask::PendingAsk;
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

    /// Takes secrets out of what tools say.
    fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::Progress(Progress { message: Some(text), .. }) => redactor.redact_string(text, usize::MAX),
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
            | Self::Interrupted => {}
        }
    }

    /// Whether a reader that is late may miss it.
    fn is_intermediate(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Metadata { .. } | Self::Log(_) | Self::Partial { .. })
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
