//! Why a call failed: a kind for hosts, a text for the model, advice on trying again.

use crate::arguments::InvalidArguments;
use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Why a tool call failed.
///
/// Its text is written for the model: what was wrong, where, what to do. Any error with
/// [`std::error::Error`] becomes one of kind [`Failed`](ToolErrorKind::Failed) by `?`; for that it does not
/// implement `Error` itself.
///
/// ```
/// use toolkit::{ToolError, ToolErrorKind};
///
/// fn parse(text: &str) -> Result<u8, ToolError> {
///     Ok(text.parse::<u8>()?)
/// }
/// assert_eq!(parse("x").unwrap_err().kind(), ToolErrorKind::Failed);
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Retry::is_never")]
    retry: Retry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<InvalidArguments>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<Box<Facts>>,
    #[serde(skip)]
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What user interfaces show of a failure beside its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// No tool of that name is there for this caller.
    UnknownTool,
    /// The arguments do not fit the tool's schema.
    InvalidArguments,
    /// A policy, a permission or a person said no.
    Denied,
    /// What the call was about does not exist.
    NotFound,
    /// The call was cancelled.
    Aborted,
    /// The call took too long.
    TimedOut,
    /// The host went away while the call ran.
    Interrupted,
    /// Something the tool needs is missing or down.
    Unavailable,
    /// The tool panicked.
    Panicked,
    /// Anything else, also a kind that a later version knows.
    #[serde(other)]
    Failed,
}

impl fmt::Display for ToolErrorKind {
    /// As in JSON: `invalid_arguments`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::Aborted => "aborted",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Unavailable => "unavailable",
            Self::Panicked => "panicked",
            Self::Failed => "failed",
        })
    }
}

/// Whether trying the same call again may help.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Retry {
    /// It fails again.
    #[default]
    Never,
    /// It may work.
    Now,
    /// It may work after a while; in JSON a number of milliseconds.
    #[serde(rename = "after_ms", with = "milliseconds")]
    After(Duration),
}

mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

impl Retry {
    fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

impl ToolError {
    /// An error of a given kind.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry: Retry::Never,
            arguments: None,
            facts: None,
            source: None,
        }
    }

    /// The tool could not do what it was asked to.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Failed, message)
    }

    /// What the call was about does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::NotFound, message)
    }

    /// The call is not allowed.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Denied, message)
    }

    /// Something the tool needs is missing or down.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Unavailable, message)
    }

    /// The call was cancelled.
    pub fn aborted(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Aborted, message)
    }

    /// Wraps what has no [`std::error::Error`] of its own: a string, a boxed error, an `anyhow::Error`.
    ///
    /// ```
    /// # use toolkit::ToolError;
    /// let outcome: Result<(), String> = Err("no disk".into());
    /// assert_eq!(outcome.map_err(ToolError::wrap).unwrap_err().to_string(), "no disk");
    /// ```
    pub fn wrap(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::from_source(error.into())
    }

    #[doc(hidden)]
    pub fn invalid_arguments(problems: InvalidArguments) -> Self {
        let message = problems.to_string();
        Self { arguments: Some(Box::new(problems)), ..Self::new(ToolErrorKind::InvalidArguments, message) }
    }

    fn from_source(source: Box<dyn StdError + Send + Sync>) -> Self {
        let mut message = source.to_string();
        let mut cause = source.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Many errors repeat their cause in their own text.
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            cause = error.source();
        }
        Self { source: Some(source.into()), ..Self::failed(message) }
    }

    /// Says whether trying again may help.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Replaces the text for the model, keeping kind and source.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the headline for user interfaces.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.facts.get_or_insert_default().title = Some(title.into());
        self
    }

    /// Adds a fact for user interfaces. One that says `truncated` is true keeps the text from being cut to the limits: the tool
    /// did that itself.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.facts.get_or_insert_default().metadata.insert(key.into(), value.into());
        self
    }

    /// Adds what was told while the call ran, where the error says nothing of it itself.
    #[doc(hidden)]
    pub fn add_told(&mut self, title: Option<String>, metadata: Map<String, Value>) {
        if title.is_none() && metadata.is_empty() {
            return;
        }
        let facts = self.facts.get_or_insert_default();
        facts.title = facts.title.take().or(title);
        for (key, value) in metadata {
            facts.metadata.entry(key).or_insert(value);
        }
    }

    /// Replaces the text for the model, in place.
    #[doc(hidden)]
    pub fn set_message(&mut self, message: String) {
        self.message = message;
    }

    /// The same without secrets. The error behind it goes if it may hold one.
    #[doc(hidden)]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        if let Cow::Owned(message) = redactor.redact(&self.message) {
            self.message = message;
            self.source = None;
        }
        if let Some(facts) = &mut self.facts {
            if let Some(title) = &mut facts.title {
                redactor.redact_string(title, usize::MAX);
            }
            redactor.redact_members(&mut facts.metadata, usize::MAX);
        }
        if let Some(arguments) = &mut self.arguments {
            for problem in &mut arguments.problems {
                redactor.redact_string(&mut problem.actual, usize::MAX);
            }
        }
        self
    }

    /// Changes all that it says to the model; `None` leaves a text as it is. The error behind it goes where one changes.
    #[doc(hidden)]
    pub fn change_texts(&mut self, with: &mut dyn FnMut(&str) -> Option<String>) {
        if let Some(changed) = with(&self.message) {
            self.message = changed;
            self.source = None;
        }
        let problems = self.arguments.as_mut().map(|arguments| &mut arguments.problems);
        for problem in problems.into_iter().flatten() {
            if let Some(changed) = with(&problem.actual) {
                problem.actual = changed;
            }
        }
    }

    /// The kind of failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// The text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The headline for user interfaces, where there is one.
    pub fn title(&self) -> Option<&str> {
        self.facts.as_ref()?.title.as_deref()
    }

    /// A fact for user interfaces.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.facts.as_ref()?.metadata.get(key)
    }

    /// What is said beside the text, to be changed.
    #[doc(hidden)]
    pub fn facts(&mut self) -> Option<(Option<&mut String>, &mut Map<String, Value>)> {
        self.facts.as_mut().map(|facts| (facts.title.as_mut(), &mut facts.metadata))
    }

    /// Whether the tool itself cut the text to size.
    #[doc(hidden)]
    pub fn is_cut(&self) -> bool {
        self.metadata("truncated") == Some(&Value::Bool(true))
    }

    /// Whether trying again may help.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Every problem of the arguments, for [`ToolErrorKind::InvalidArguments`].
    pub fn problems(&self) -> Option<&InvalidArguments> {
        self.arguments.as_deref()
    }

    /// The error behind it, where there is one.
    pub fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.source.as_deref()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

/// Two errors are equal when a model could not tell them apart.
impl PartialEq for ToolError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.message == other.message && self.retry == other.retry
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_source(Box::new(error))
    }
}

/// An error that converts into a [`ToolError`]: every type with [`std::error::Error`], and [`ToolError`] itself.
///
/// A function with `#[tool]` or `#[toolkit::service]` may also return an error that is none itself and converts into
/// `Box<dyn Error + Send + Sync>`: a string, such a box, an `anyhow::Error`. This trait cannot cover these types, since the
/// standard library may implement `Error` for them one day.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return the error `{Self}`",
    label = "this error does not convert into a `ToolError`",
    note = "on an error of your own, implement `std::error::Error`, for instance with `thiserror`, or `From<{Self}> for ToolError`",
    note = "a boxed error needs `+ Send + Sync`: `Box<dyn std::error::Error + Send + Sync>`",
    note = "where a string or an `anyhow::Error` is refused, convert it with `.map_err(ToolError::wrap)`"
)]
pub trait IntoToolError {
    /// Converts it.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn the_whole_chain_is_told_once() {
        let error: ToolError = Outer("x".parse::<u8>().unwrap_err()).into();
        assert_eq!(error.to_string(), "outer: invalid digit found in string");
        assert!(error.source().unwrap().is::<Outer>());
    }

    #[test]
    fn a_kind_is_named_as_in_json() {
        use ToolErrorKind as Kind;
        for kind in [
            Kind::UnknownTool,
            Kind::InvalidArguments,
            Kind::Denied,
            Kind::NotFound,
            Kind::Aborted,
            Kind::TimedOut,
            Kind::Interrupted,
            Kind::Unavailable,
            Kind::Panicked,
            Kind::Failed,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.to_string());
        }
    }

    #[test]
    fn json_keeps_what_a_host_needs() {
        let error = ToolError::unavailable("down").with_retry(Retry::After(Duration::from_secs(2)));
        let json = serde_json::to_value(&error).unwrap();
        assert_eq!(json["kind"], "unavailable");
        assert_eq!(json["retry"], serde_json::json!({"after_ms": 2000}));
        assert_eq!(serde_json::from_value::<ToolError>(json).unwrap(), error);
    }
}
