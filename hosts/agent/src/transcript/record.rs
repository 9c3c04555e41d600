//! The lines of a transcript.

use crate::request::DelegationRequest;
use crate::result::ToolAgentResult;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use toolkit::ToolErrorKind;
use toolkit::approval::AskingCall;
use toolkit_models::{Answer, AssistantMessage, Message, ToolOutput, Usage};

/// The version of the format. Files of version 1, which tells no ids of runs and no questions, and of version 2, which has one segment, are read
/// as well.
pub(crate) const VERSION: u32 = 3;

/// A line of a transcript. The conversation is what its lines add up to, so that what is resumed is what was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Record {
    /// The first line.
    Transcript(Header),
    /// The second line of a further segment: what the segments before add up to.
    Carried(Box<Carried>),
    /// A run began.
    Run {
        /// Its id; an earlier version wrote none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// The task; `None` for a run that goes on with the conversation as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Box<DelegationRequest>>,
        /// The configured name of the model.
        model: String,
        /// The system prompt.
        system: String,
        /// When, in milliseconds since 1970.
        at: u64,
    },
    /// A message that is no answer of the model.
    Message {
        /// Its number.
        id: u64,
        /// The author.
        kind: Kind,
        /// The message.
        message: Message,
        /// The ids of the queued messages that it holds: they are consumed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        consumes: Vec<String>,
    },
    /// An answer of the model, with the provider's own message. The results of its calls have the next number.
    Answer {
        /// Its number.
        id: u64,
        /// The turn, counted from 0.
        turn: u32,
        /// The answer.
        answer: Box<Answer>,
    },
    /// A request that got no whole answer. Its usage is unknown.
    Failed {
        /// The turn.
        turn: u32,
        /// Why.
        error: String,
        /// The part that had arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<Box<AssistantMessage>>,
    },
    /// Calls begin. A call that is not named by such a line never ran. One that begins again because of its question is named before its function
    /// runs.
    Started {
        /// The number of the answer.
        answer: u64,
        /// The places of the calls in it.
        calls: Vec<usize>,
    },
    /// A call waits for a person, and has done nothing yet.
    Asked {
        /// The number of the answer.
        answer: u64,
        /// The place of the call in it.
        call: usize,
        /// The SHA-256 of the question: its kind, patterns, conditions and details.
        digest: String,
        /// The SHA-256 of the tool: its source and its definition. A call begins again with the same tool alone.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tool: String,
        /// The SHA-256 of the question that the call asked in its place before the program ended, if that was another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead_of: Option<String>,
        /// True if the call has begun again with this question: that it has started is not a line of its own, which would make the questions before
        /// count for nothing if the program ended between the two.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        begins_again: bool,
    },
    /// The person allowed the call, which goes on.
    Allowed {
        /// The number of the answer.
        answer: u64,
        /// The place of the call in it.
        call: usize,
    },
    /// The person did not allow the call.
    Denied {
        /// The number of the answer.
        answer: u64,
        /// The place of the call in it.
        call: usize,
    },
    /// The result of a call.
    Result {
        /// The number of the answer.
        answer: u64,
        /// The place of the call in it.
        call: usize,
        /// The result, as the model gets it.
        output: ToolOutput,
        /// The files that the call reported as changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files_modified: Vec<PathBuf>,
        /// The kind of its failure, if the toolkit ran it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ToolErrorKind>,
    },
    /// Tool results were cut.
    Shortened {
        /// The number of the last message that was cut.
        until: u64,
        /// The most characters of each text.
        max_chars: usize,
    },
    /// Messages were replaced by a summary.
    Summarised {
        /// The number of the summary.
        id: u64,
        /// The number of the last message that was replaced.
        until: u64,
        /// The messages before it that stay.
        keep: Vec<u64>,
        /// The summary.
        message: Message,
        /// The tokens that it took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The end of the lines that were copied from another transcript: their runs, and the calls that they left open, belong to that one.
    Forked {
        /// The damaged line of that transcript, if this one goes on in its place: the messages that its runs consumed stay consumed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        damaged_line: Option<usize>,
        /// The ids of messages that were consumed behind the damaged line, as far as the lines there can be read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        consumed: Vec<String>,
    },
    /// Lines of this version of the format follow: the transcript was begun in an earlier one.
    Format {
        /// The version.
        version: u32,
    },
    /// The run ended.
    End {
        /// The id of the run; an earlier version wrote none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// Its account, without the steps.
        result: Box<ToolAgentResult>,
    },
}

impl Record {
    /// Returns the sum of the segments before, if it is the line that tells it.
    pub(crate) fn carried(&self) -> Option<&Carried> {
        match self {
            Self::Carried(carried) => Some(carried),
            _ => None,
        }
    }
}

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Header {
    /// The version of the format.
    pub(crate) version: u32,
    /// The id of the transcript.
    pub(crate) id: String,
    /// The session of the toolkit.
    pub(crate) session: String,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The names of the agents above it, the outermost first. Their rules hold for a fork, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) above: Vec<String>,
    /// How many agents stand above it.
    #[serde(default)]
    pub(crate) depth: u32,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<PathBuf>,
    /// The transcript of the agent that delegated; of a conversation, the one that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// The turn of that transcript that delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_turn: Option<u32>,
    /// The transcript that it was forked from, and the last message that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked_from: Option<Fork>,
    /// True if the next line is what the segments before add up to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) carries: bool,
    /// When it began, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// The sum of the segments before, so that a conversation is opened without reading them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Carried {
    /// The first task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// How many turns there were.
    pub(crate) turns: u32,
    /// The number of the next message.
    pub(crate) next_id: u64,
    /// The messages, as the model reads them.
    pub(crate) messages: Vec<CarriedMessage>,
    /// The runs.
    #[serde(default)]
    pub(crate) runs: CarriedRuns,
    /// The files that calls reported as changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files_modified: Vec<PathBuf>,
}

/// A message of an earlier segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CarriedMessage {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) message: Message,
}

/// The runs of earlier segments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CarriedRuns {
    /// The run that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<String>,
    /// The latest messages that were consumed, each with its run, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) consumed: Vec<(String, String)>,
    /// The ends of the latest runs, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended: Vec<(String, ToolAgentResult)>,
}

impl Header {
    /// The transcript of the agent that delegated, if this is that of a sub-agent and no conversation of its own.
    pub(crate) fn delegating(&self) -> Option<&String> {
        self.parent.as_ref().filter(|_| self.depth > 0)
    }

    /// The name of the turn whose answer this is: another conversation of the session may have a call of the same id, and so may a later answer.
    pub(crate) fn turn(&self, answer: u64) -> String {
        format!("{}/{answer}", self.id)
    }

    /// The name of a call of an answer in the store of questions.
    pub(crate) fn asking_call(&self, answer: u64, call: &str) -> AskingCall {
        AskingCall::new(&self.session, call).with_turn(self.turn(answer))
    }
}

/// The place at which a transcript was forked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fork {
    pub(crate) transcript: String,
    pub(crate) message: u64,
    /// The damaged line before which it was forked, if the conversation goes on here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) damaged_line: Option<usize>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The user: a task.
    Task,
    /// The user: a message that was added while a run went on.
    Addition,
    /// The host: that a job ended, that a final answer is missing.
    Note,
    /// The model: a summary that replaces older messages.
    Summary,
    /// The model.
    Answer,
    /// The tools: the results of the calls of the answer before.
    Results,
}
