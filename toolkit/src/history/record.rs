//! A call as it is handed to a history, with secrets in it.

use super::copy::{Arguments, USUAL, copy_arguments, copy_output, fits, short_text, shorten};
use super::entry::{CallStatus, HistoryEntry, LONGEST, RecordedCaller, RecordedContent, RecordedOutput};
use super::secrets;
use crate::ask_record::{BEYOND, LONGEST_PART, RecordedAsk, beginning};
use crate::tool::Tool;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use toolkit_core::call::CallArguments;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use toolkit_core::redact::{REDACTED, Redactor};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A call that is about to run, as recorded before its outcome is known.
pub struct RecordedCall(Box<Begun>);

#[derive(Clone)]
struct Begun {
    number: u64,
    time: SystemTime,
    instant: Instant,
    /// The call's id, the arguments kept as text, and a short output, in one allocation: thousands of records are kept,
    /// and a record is seldom in the processor's cache when it is freed.
    words: String,
    id_len: usize,
    /// The offset in `words` at which the arguments end.
    arguments_end: usize,
    /// `None` if the call used the tool's own name.
    name: Option<String>,
    tool: Option<Tool>,
    caller: Arc<Caller>,
    arguments: Arguments,
    /// True if the arguments were cut.
    cut: bool,
    is_started: bool,
    /// Allocated only for a call that asked.
    asks: Vec<RecordedAsk>,
    bytes: usize,
}

impl Begun {
    fn id(&self) -> &str {
        &self.words[..self.id_len]
    }

    /// Returns the arguments, if they are kept as text.
    fn text(&self) -> &str {
        &self.words[self.id_len..self.arguments_end]
    }

    fn answer(&self) -> &str {
        &self.words[self.arguments_end..]
    }
}

impl RecordedCall {
    /// Creates the record of a call that begins now. `arguments` are as they were sent; `tool` is `None` if no tool has
    /// that name.
    pub fn new(
        caller: Arc<Caller>,
        id: impl Into<String>,
        name: &str,
        tool: Option<Tool>,
        arguments: &CallArguments,
    ) -> Self {
        let mut words: String = id.into();
        words.reserve(USUAL);
        let id_len = words.len();
        let name = match &tool {
            Some(tool) if tool.name() == name => None,
            _ => Some(name.chars().take(256).collect()),
        };
        let (arguments, bytes, cut) = copy_arguments(tool.as_ref(), arguments, &mut words);
        let bytes = size_of::<Begun>() + size_of::<Record>() + words.capacity() + bytes;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (time, instant) = (SystemTime::now(), Instant::now());
        Self(Box::new(Begun {
            number,
            time,
            instant,
            arguments_end: words.len(),
            words,
            id_len,
            name,
            tool,
            caller,
            arguments,
            cut,
            is_started: false,
            asks: Vec::new(),
            bytes,
        }))
    }

    /// Sets the questions that the call asked.
    pub(crate) fn asked(&mut self, asks: Vec<RecordedAsk>) {
        self.0.bytes += asks.iter().map(RecordedAsk::bytes).sum::<usize>();
        self.0.asks = asks;
    }

    /// Returns the record of the start, for a call that has to wait.
    pub fn started(&mut self) -> Record {
        self.0.is_started = true;
        Record {
            call: self.0.clone(),
            outcome: Outcome::Running,
            duration: Duration::ZERO,
            bytes: self.0.bytes,
            cut: false,
        }
    }

    /// Returns the record of the call's outcome.
    pub fn finished(mut self, outcome: &Result<ToolOutput, ToolError>) -> Record {
        let mut bytes = self.0.bytes;
        let duration = self.0.instant.elapsed();
        let mut cut = false;
        let outcome = match outcome {
            Ok(output) => match short_text(output) {
                Some(text) => {
                    bytes += text.len();
                    self.0.words.push_str(text);
                    Outcome::Text
                }
                None => Outcome::Ok(copy_output(output, &mut bytes, &mut cut)),
            },
            Err(error) => {
                let message = beginning(error.message(), LONGEST + BEYOND).to_owned();
                cut |= message.len() > LONGEST;
                bytes += message.len();
                Outcome::Error(ToolError::new(error.kind(), message).with_retry(error.retry()))
            }
        };
        Record { call: self.0, outcome, duration, bytes, cut }
    }

    /// Returns the record that the call was dropped before it ended.
    pub fn interrupted(self) -> Record {
        let (duration, bytes) = (self.0.instant.elapsed(), self.0.bytes);
        Record { call: self.0, outcome: Outcome::Interrupted, duration, bytes, cut: false }
    }
}

impl fmt::Debug for RecordedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedCall").field("number", &self.0.number).finish_non_exhaustive()
    }
}

/// A record that a call has started to wait, or of its outcome. It may hold secrets: [`Record::entry`] returns the call
/// without them.
pub struct Record {
    call: Box<Begun>,
    outcome: Outcome,
    duration: Duration,
    bytes: usize,
    cut: bool,
}

enum Outcome {
    Running,
    /// A short text and nothing else, kept in the text of the call.
    Text,
    Ok(Box<RecordedOutput>),
    Error(ToolError),
    Interrupted,
}

impl Record {
    /// Returns the call, without secrets.
    pub fn entry(&self, redactor: &Redactor) -> HistoryEntry {
        let call = &*self.call;
        let (mut arguments, found) = self.arguments();
        let own = redactor.with_own(found);
        let longest = if call.cut { LONGEST_PART } else { usize::MAX };
        own.redact_value_to(&mut arguments, longest);
        // Arguments of a tool with secrets are copied whole.
        let is_long = !fits(&arguments, &mut { LONGEST });
        if is_long {
            arguments = shorten(&arguments, &mut { LONGEST });
        }
        let name = call.name.as_ref().map(|name| own.redact(name).into_owned());
        let tool = call.tool.as_ref().map(|tool| tool.name().to_owned());
        let mut entry = HistoryEntry {
            time: call.time,
            key: call.number.to_string(),
            id: own.redact(call.id()).into_owned(),
            called_as: if tool.is_some() { name.clone() } else { None },
            tool: tool.or(name).unwrap_or_default(),
            caller: RecordedCaller::new(&call.caller, redactor),
            arguments,
            cut: self.cut || call.cut || is_long,
            status: CallStatus::Running,
            duration: None,
            asks: call.asks.clone(),
            output: None,
            error: None,
        };
        for ask in &mut entry.asks {
            ask.cut(&own);
        }
        match &self.outcome {
            Outcome::Running => return entry,
            Outcome::Interrupted => entry.status = CallStatus::Interrupted,
            Outcome::Text => {
                entry.status = CallStatus::Ok;
                entry.output = Some(text_alone(call.answer().to_owned()).redacted(&own));
            }
            Outcome::Ok(output) => {
                entry.status = CallStatus::Ok;
                entry.output = Some(output.redacted(&own));
            }
            Outcome::Error(error) => {
                entry.status = CallStatus::Error;
                let message = own.redact_to(error.message(), LONGEST).into_owned();
                entry.error = Some(error.clone().with_message(message));
            }
        }
        entry.duration = Some(self.duration);
        entry
    }

    /// Returns true if the record says that a call started to wait, and false if it says how the call ended.
    pub fn is_start(&self) -> bool {
        matches!(self.outcome, Outcome::Running)
    }

    /// Returns the approximate memory of the record, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of the call in this process.
    pub(super) fn number(&self) -> u64 {
        self.call.number
    }

    /// Returns true if the start of the call was recorded before.
    pub(super) fn was_started(&self) -> bool {
        self.call.is_started && !self.is_start()
    }

    pub(super) fn time(&self) -> SystemTime {
        self.call.time
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.call.caller
    }

    pub(super) fn tool_name(&self) -> &str {
        let own = self.call.tool.as_ref().map(Tool::name);
        own.or(self.call.name.as_deref()).unwrap_or_default()
    }

    /// Returns the arguments with secret values replaced, and the secret values.
    fn arguments(&self) -> (Value, Vec<String>) {
        let parsed = match &self.call.arguments {
            Arguments::Value(value) => Some(value.clone()),
            Arguments::Sent | Arguments::Written => serde_json::from_str(self.call.text()).ok(),
        };
        let text = || Value::from(self.call.text());
        let Some(tool) = &self.call.tool else { return (parsed.unwrap_or_else(text), Vec::new()) };
        match (tool.compiled(), parsed) {
            // Without a valid schema the secret arguments are unknown; the tool cannot have run.
            (Err(_), _) => (REDACTED.into(), Vec::new()),
            (Ok(compiled), None) if compiled.has_secrets => (REDACTED.into(), Vec::new()),
            (Ok(_), None) => (text(), Vec::new()),
            (Ok(compiled), Some(mut value)) => {
                let found = secrets::strip(compiled, &mut value);
                (value, found)
            }
        }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("number", &self.call.number).finish_non_exhaustive()
    }
}

/// Returns the output whose only content is the given short text (see [`short_text`]).
fn text_alone(text: String) -> RecordedOutput {
    let content = vec![RecordedContent::Text { text, omitted_bytes: 0 }];
    RecordedOutput { content, ..RecordedOutput::default() }
}

const _: () = assert!(size_of::<Record>() <= 128);
