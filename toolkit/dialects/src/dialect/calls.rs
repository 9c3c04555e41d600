//! Reads the tool calls in a complete answer of a model.

mod failure;

pub(super) use failure::{error_of, failed, provider_error, told};

use super::Dialect;
use data_encoding::HEXLOWER;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::HashSet;
use toolkit_core::call::CallArguments;
use toolkit_core::escape::escape_line;

/// The most calls in one answer.
pub const MAX_CALLS: usize = 1000;
/// The most bytes of the arguments of all calls of one answer: 16 MiB.
pub const MAX_ARGUMENT_BYTES: usize = 16 * 1024 * 1024;

/// The prefix of ids that were generated here, because the provider gave none.
const MADE: &str = "toolkit_call_";

/// The error for an answer whose calls could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFormatError {
    /// A part does not have the form that the dialect requires.
    #[error("the answer is not one of the dialect `{dialect}`: {at} should be {expected}, and is {found}", at = shown(pointer))]
    Shape {
        /// The dialect.
        dialect: Dialect,
        /// The place: a JSON pointer into the answer.
        pointer: String,
        /// The expected value.
        expected: &'static str,
        /// The actual value.
        found: &'static str,
    },
    /// There are too many calls.
    #[error("the answer has more than {MAX_CALLS} calls")]
    TooManyCalls,
    /// The arguments are too long.
    #[error("the arguments of the calls are longer than {MAX_ARGUMENT_BYTES} bytes")]
    TooLong,
    /// The answer ended before the arguments of a call did: it reached a length limit, or the connection ended. Such a call must
    /// not run; ask the model again.
    #[error("the answer ended within the call of `{name}`; ask again, with room for a longer answer")]
    CutOff {
        /// The tool, by the name that the model uses.
        name: String,
    },
    /// The provider reports that it failed, or that it blocked the prompt. No call of the answer may run.
    #[error("the provider ended the answer with an error: {message}")]
    Provider {
        /// The provider's message, in one line of bounded length.
        message: String,
    },
    /// The data is no stream of events.
    #[error("the stream has {found} where an event in JSON should be")]
    Stream {
        /// The actual data.
        found: String,
    },
}

fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "it".to_owned() } else { format!("`{}`", escape_line(pointer)) }
}

/// A call, as found in the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: CallArguments,
}

/// Finds the calls in an answer.
pub(super) fn find(dialect: Dialect, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let provider = dialect.provider();
    provider.refuse_failure(answer)?;
    let found = provider.find(Reader { dialect }, answer)?;
    check_size(&found)?;
    Ok(found)
}

pub(super) fn check_size(found: &[Found]) -> Result<(), CallFormatError> {
    if found.len() > MAX_CALLS {
        return Err(CallFormatError::TooManyCalls);
    }
    let texts = found.iter().map(|call| call.arguments.as_text().map_or(0, str::len));
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
    /// Prepares ids for these calls: a generated id never equals one that another call was given.
    pub(super) fn of(calls: &[Found]) -> Self {
        let mut ids = Self::default();
        ids.know(calls.iter().filter_map(|call| call.id.as_deref()));
        ids
    }

    /// Notes ids that calls were given.
    pub(super) fn know<'a>(&mut self, given: impl Iterator<Item = &'a str>) {
        self.given.extend(given.map(str::to_owned));
    }

    /// Returns the id of the next call.
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

/// Returns true if an id was generated here, so that the provider does not know it.
pub(super) fn is_made(id: &str) -> bool {
    id.starts_with(MADE)
}

/// Returns the arguments in a text: empty arguments for an empty text.
pub(super) fn from_text(text: &str) -> CallArguments {
    if text.trim().is_empty() { CallArguments::default() } else { CallArguments::Text(text.to_owned()) }
}

/// Returns true if a text is a complete JSON value.
pub(super) fn is_complete(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns arguments that were given as a value; `None` and empty text give empty arguments.
pub(super) fn from_value(value: Option<&Value>) -> CallArguments {
    match value {
        None | Some(Value::Null) => CallArguments::default(),
        Some(Value::String(text)) => from_text(text),
        Some(value) => CallArguments::Json(value.clone()),
    }
}

/// Reads parts of an answer, and reports their errors.
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

    /// Reads a list, which may be missing or `null`.
    pub(super) fn list<'a>(self, value: Option<&'a Value>, at: &str) -> Result<&'a [Value], CallFormatError> {
        match value {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            other => Err(self.wrong(at, "a list", other)),
        }
    }

    /// Reads a text, which may be missing or `null`.
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

    /// Reads an id: a text, or a number, which some providers use.
    pub(super) fn id(self, value: Option<&Value>, at: &str) -> Result<Option<String>, CallFormatError> {
        match value {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            other => Ok(self.text(other, at)?.map(str::to_owned)),
        }
    }
}

/// Refuses an incomplete last call.
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
