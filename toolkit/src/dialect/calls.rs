//! The calls in what a model answered, where it is there as a whole.

pub(super) mod anthropic;
mod chat;
mod failure;
mod gemini;
mod mcp;
mod responses;

pub(super) use anthropic::tool_use;
pub(super) use failure::{failed, refuse_failure};
pub(super) use responses::function_call;

use super::Dialect;
use crate::call::CallArguments;
use crate::escape::escape_line;
use data_encoding::HEXLOWER;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// How many calls one answer may have.
pub const MAX_CALLS: usize = 1000;
/// How many bytes the text of the arguments of all calls of one answer may have: 16 MiB.
pub const MAX_ARGUMENT_BYTES: usize = 16 * 1024 * 1024;

/// The beginning of ids that were made here, since the provider gave none.
const MADE: &str = "toolkit_call_";

/// Why the calls in what a model answered could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFormatError {
    /// A part is not what it is in the dialect.
    #[error("the answer is not one of the dialect `{dialect}`: {at} should be {expected}, and is {found}", at = shown(pointer))]
    Shape {
        /// The dialect.
        dialect: Dialect,
        /// Where: a JSON pointer into what was given.
        pointer: String,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// There are too many calls.
    #[error("the answer has more than {MAX_CALLS} calls")]
    TooManyCalls,
    /// The arguments are too long.
    #[error("the arguments of the calls are longer than {MAX_ARGUMENT_BYTES} bytes")]
    TooLong,
    /// The answer ended before the arguments of a call did: it reached a limit of its length, or the connection ended. Such a call
    /// must not run; ask the model again.
    #[error("the answer ended within the call of `{name}`; ask again, with room for a longer answer")]
    CutOff {
        /// The tool, as the model calls it.
        name: String,
    },
    /// The provider says that it failed, or that it answers nothing to such a prompt. Nothing of the answer is to run.
    #[error("the provider ended the answer with an error: {message}")]
    Provider {
        /// What it says, in one line of bounded length.
        message: String,
    },
    /// What came is no stream of events.
    #[error("the stream has {found} where an event in JSON should be")]
    Stream {
        /// What is there.
        found: String,
    },
}

fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "it".to_owned() } else { format!("`{}`", escape_line(pointer)) }
}

/// A call as it was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: CallArguments,
}

/// The calls in an answer.
pub(super) fn find(dialect: Dialect, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let reader = Reader { dialect };
    refuse_failure(dialect, answer)?;
    let found = match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => chat::find(reader, answer),
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => responses::find(reader, answer),
        Dialect::Anthropic => anthropic::find(reader, answer),
        Dialect::Gemini => gemini::find(reader, answer),
        Dialect::Mcp => mcp::find(reader, answer),
    }?;
    check_size(&found)?;
    Ok(found)
}

pub(super) fn check_size(found: &[Found]) -> Result<(), CallFormatError> {
    if found.len() > MAX_CALLS {
        return Err(CallFormatError::TooManyCalls);
    }
    let texts = found.iter().map(|call| match &call.arguments {
        CallArguments::Text(text) => text.len(),
        CallArguments::Json(_) => 0,
    });
    if texts.sum::<usize>() > MAX_ARGUMENT_BYTES { Err(CallFormatError::TooLong) } else { Ok(()) }
}

/// The ids of calls: each its own, unless it has none or another call has it.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// Those that the provider gives, as far as they are known.
    given: HashSet<String>,
    /// Those that a call has.
    used: HashSet<String>,
}

impl Ids {
    /// For these calls: what is made for one is none that another was given.
    pub(super) fn of(calls: &[Found]) -> Self {
        let mut ids = Self::default();
        ids.know(calls.iter().filter_map(|call| call.id.as_deref()));
        ids
    }

    /// Notes ids that calls were given.
    pub(super) fn know<'a>(&mut self, given: impl Iterator<Item = &'a str>) {
        self.given.extend(given.map(str::to_owned));
    }

    /// The id of the next call.
    pub(super) fn own(&mut self, given: Option<String>) -> String {
        let given = match given.filter(|id| !id.is_empty()) {
            Some(id) if self.used.insert(id.clone()) => return id,
            given => given,
        };
        let is_free = |id: &String| !self.given.contains(id) && !self.used.contains(id);
        let numbered = given.and_then(|id| {
            let mut others = (2..=MAX_CALLS + 1).map(|number| format!("{id}-{number}"));
            others.find(is_free)
        });
        let id = numbered.unwrap_or_else(|| {
            let mut id = made_id();
            while !is_free(&id) {
                id = made_id();
            }
            id
        });
        self.used.insert(id.clone());
        id
    }
}

fn made_id() -> String {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    format!("{MADE}{}", HEXLOWER.encode(&bytes))
}

/// Whether the provider knows nothing of an id.
pub(super) fn is_made(id: &str) -> bool {
    id.starts_with(MADE)
}

/// The arguments that a text stands for: none where it is empty.
pub(super) fn from_text(text: &str) -> CallArguments {
    if text.trim().is_empty() { CallArguments::default() } else { CallArguments::Text(text.to_owned()) }
}

/// Whether a text is a whole value.
pub(super) fn is_complete(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Arguments that came as a value: a text of JSON with some, and nothing for none.
pub(super) fn from_value(value: Option<&Value>) -> CallArguments {
    match value {
        None | Some(Value::Null) => CallArguments::default(),
        Some(Value::String(text)) => from_text(text),
        Some(value) => CallArguments::Json(value.clone()),
    }
}

/// Reads parts of an answer, and says what is wrong with them.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) dialect: Dialect,
}

impl Reader {
    pub(super) fn wrong(
        self,
        pointer: &str,
        expected: &'static str,
        found: Option<&Value>,
    ) -> CallFormatError {
        let found = match found {
            None => "missing",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "a boolean",
            Some(Value::Number(_)) => "a number",
            Some(Value::String(text)) if text.is_empty() => "empty",
            Some(Value::String(_)) => "a string",
            Some(Value::Array(_)) => "a list",
            Some(Value::Object(_)) => "an object",
        };
        CallFormatError::Shape { dialect: self.dialect, pointer: pointer.to_owned(), expected, found }
    }

    pub(super) fn object<'a>(
        self,
        value: &'a Value,
        at: &str,
    ) -> Result<&'a Map<String, Value>, CallFormatError> {
        value.as_object().ok_or_else(|| self.wrong(at, "an object", Some(value)))
    }

    /// A list, which may be missing or `null`.
    pub(super) fn list<'a>(self, value: Option<&'a Value>, at: &str) -> Result<&'a [Value], CallFormatError> {
        match value {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            other => Err(self.wrong(at, "a list", other)),
        }
    }

    /// A text, which may be missing or `null`.
    pub(super) fn text<'a>(
        self,
        value: Option<&'a Value>,
        at: &str,
    ) -> Result<Option<&'a str>, CallFormatError> {
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            other => Err(self.wrong(at, "a string", other)),
        }
    }

    pub(super) fn name(self, value: Option<&Value>, at: &str) -> Result<String, CallFormatError> {
        match value {
            Some(Value::String(name)) if !name.is_empty() => Ok(name.clone()),
            other => Err(self.wrong(at, "the name of a tool", other)),
        }
    }

    /// An id: a text, and a number where somebody counts.
    pub(super) fn id(self, value: Option<&Value>, at: &str) -> Result<Option<String>, CallFormatError> {
        match value {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            other => Ok(self.text(other, at)?.map(str::to_owned)),
        }
    }
}

/// Refuses a last call that is not whole.
pub(super) fn refuse_cut(found: &[Found]) -> Result<(), CallFormatError> {
    match found.last() {
        Some(Found { name, arguments: CallArguments::Text(text), .. }) if !is_complete(text) => {
            Err(CallFormatError::CutOff { name: name.clone() })
        }
        Some(Found { name, arguments: CallArguments::Json(Value::Object(members)), .. })
            if members.is_empty() =>
        {
            Err(CallFormatError::CutOff { name: name.clone() })
        }
        _ => Ok(()),
    }
}
