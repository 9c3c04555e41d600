//! The error of a tool call: a kind for hosts, a text for the model, and advice on retrying.

use crate::invalid_arguments::InvalidArguments;
use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The error of a tool call.
///
/// Its text is written for the model: what was wrong, where, what to do. The operator `?` converts any error with
/// [`std::error::Error`] to one of kind [`Failed`](ToolErrorKind::Failed); to allow that, this type does not implement `Error`
/// itself. In a function that returns `Box<dyn Error>`, the operator `?` converts it; in one that returns an `anyhow::Error`, use
/// [`into_error`](Self::into_error).
///
/// ```
/// use toolkit::{ToolError, ToolErrorKind};
///
/// fn parse(text: &str) -> Result<u8, ToolError> {
///     Ok(text.parse::<u8>()?)
/// }
/// assert_eq!(parse("x").unwrap_err().kind(), ToolErrorKind::Failed);
///
/// fn parse_in_host(text: &str) -> Result<u8, Box<dyn std::error::Error>> {
///     Ok(parse(text)?)
/// }
/// assert!(parse_in_host("x").is_err());
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

/// The title and metadata of an error, for user interfaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Facts {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// There is no tool of that name for this caller.
    UnknownTool,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// A policy, a permission or a person denied the call.
    Denied,
    /// The object of the call, such as a file, does not exist.
    NotFound,
    /// The call was cancelled.
    Aborted,
    /// The call took too long.
    TimedOut,
    /// The host ended while the call ran.
    Interrupted,
    /// Something that the tool needs is missing or not working.
    Unavailable,
    /// The tool panicked.
    Panicked,
    /// Any other error, also of a kind that only a later version knows.
    #[serde(other)]
    Failed,
}

impl fmt::Display for ToolErrorKind {
    /// Formats the kind as in JSON: `invalid_arguments`.
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

/// Advice on retrying the same call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Retry {
    /// It will fail again.
    #[default]
    Never,
    /// It may succeed immediately.
    Now,
    /// It may succeed after this time; in JSON a number of milliseconds.
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
    /// Creates an error of a given kind.
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

    /// Creates an error for an operation that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Failed, message)
    }

    /// Creates an error for an object of the call that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::NotFound, message)
    }

    /// Creates an error for a call that is not allowed.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Denied, message)
    }

    /// Creates an error for something that the tool needs and that is missing or not working.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Unavailable, message)
    }

    /// Creates an error for a cancelled call.
    pub fn aborted(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Aborted, message)
    }

    /// Wraps an error without [`std::error::Error`]: a string, a boxed error, an `anyhow::Error`.
    ///
    /// ```
    /// # use toolkit::ToolError;
    /// let outcome: Result<(), String> = Err("no disk".into());
    /// assert_eq!(outcome.map_err(ToolError::wrap).unwrap_err().to_string(), "no disk");
    /// ```
    pub fn wrap(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::from_source(error.into())
    }

    /// Creates an error for arguments that the schema takes and the tool does not, such as two that exclude each other. Name the argument, and what
    /// is right instead.
    ///
    /// ```
    /// # use toolkit::{ToolError, ToolErrorKind};
    /// let error = ToolError::invalid_arguments("`until` must not be before `from`");
    /// assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    /// ```
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::InvalidArguments, message)
    }

    #[doc(hidden)]
    pub fn of_arguments(problems: InvalidArguments) -> Self {
        let message = problems.to_string();
        Self { arguments: Some(Box::new(problems)), ..Self::new(ToolErrorKind::InvalidArguments, message) }
    }

    /// Returns the same error as a type with [`std::error::Error`], for a host whose own errors demand it:
    /// `result.outcome.map_err(ToolError::into_error)?` in a function that returns an `anyhow::Error`. Converted to a
    /// `ToolError` again, it is the one it was made from.
    pub fn into_error(self) -> impl StdError + Send + Sync + 'static {
        AsError(self)
    }

    fn from_source(source: Box<dyn StdError + Send + Sync>) -> Self {
        let source = match source.downcast::<AsError>() {
            Ok(error) => return error.0,
            Err(source) => source,
        };
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

    /// Sets the advice on retrying.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Replaces the text for the model, and keeps kind and source.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the title for user interfaces.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.facts.get_or_insert_default().title = Some(title.into());
        self
    }

    /// Adds a metadata value for user interfaces. If `truncated` is `true`, the text is not truncated to the limits, because
    /// the tool did that itself.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.facts.get_or_insert_default().metadata.insert(key.into(), value.into());
        self
    }

    /// Adds the title and metadata that were set while the call ran, where the error has none of its own.
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

    /// Redacts secrets. The source is removed if it may contain one.
    #[doc(hidden)]
    #[must_use]
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

    /// Changes all texts for the model; `None` leaves a text as it is. The source is removed if a text changes.
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

    /// Returns the kind.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Returns the text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the title for user interfaces, if there is one.
    pub fn title(&self) -> Option<&str> {
        self.facts.as_ref()?.title.as_deref()
    }

    /// Returns a metadata value for user interfaces.
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.facts.as_ref()?.metadata.get(key)
    }

    /// Returns the title and the metadata, to be changed.
    #[doc(hidden)]
    pub fn facts(&mut self) -> Option<(Option<&mut String>, &mut Map<String, Value>)> {
        self.facts.as_mut().map(|facts| (facts.title.as_mut(), &mut facts.metadata))
    }

    /// Returns true if the tool itself truncated the text.
    #[doc(hidden)]
    pub fn is_cut(&self) -> bool {
        self.metadata("truncated") == Some(&Value::Bool(true))
    }

    /// Returns the advice on retrying.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Returns every problem of the arguments, for [`ToolErrorKind::InvalidArguments`].
    pub fn problems(&self) -> Option<&InvalidArguments> {
        self.arguments.as_deref()
    }

    /// Returns the source of the error, if there is one.
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

/// Two errors are equal if a model could not distinguish them.
impl PartialEq for ToolError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.message == other.message && self.retry == other.retry
    }
}

/// A [`ToolError`] with the trait that it does not have itself.
struct AsError(ToolError);

impl fmt::Display for AsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for AsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for AsError {}

impl From<ToolError> for Box<dyn StdError + Send + Sync> {
    fn from(error: ToolError) -> Self {
        Box::new(AsError(error))
    }
}

impl From<ToolError> for Box<dyn StdError> {
    fn from(error: ToolError) -> Self {
        Box::new(AsError(error))
    }
}

impl<E: SharedError> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_source(error.boxed())
    }
}

/// An error that the operator `?` converts into a [`ToolError`]: every type with [`std::error::Error`] that is `Send`, `Sync` and
/// `'static`.
// A trait of its own, so that any other error is one compile error that shows the solution. Beside `?`, the compiler shows the label alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert into a `ToolError` by itself",
    label = "a text, a `Box<dyn Error + Send + Sync>` or an `anyhow::Error` takes `.map_err(ToolError::wrap)?`; an error of your own needs `std::error::Error`",
    note = "a text alone is an error as `ToolError::failed(text)`"
)]
pub trait SharedError {
    #[doc(hidden)]
    fn boxed(self) -> Box<dyn StdError + Send + Sync>;
}

#[diagnostic::do_not_recommend]
impl<E: StdError + Send + Sync + 'static> SharedError for E {
    fn boxed(self) -> Box<dyn StdError + Send + Sync> {
        Box::new(self)
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
    /// Converts the error.
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
    fn a_host_gets_the_error_as_its_own_and_a_tool_gets_it_back() {
        let error = || ToolError::denied("no").with_retry(Retry::Now).with_title("t");
        let boxed: Box<dyn StdError + Send + Sync> = error().into();
        assert_eq!(boxed.to_string(), "no");
        for back in [ToolError::wrap(boxed), ToolError::from(error().into_error())] {
            assert_eq!((&back, back.title()), (&error(), Some("t")));
        }
        let host = || -> Result<(), Box<dyn StdError>> { Err(error())? };
        assert_eq!(host().unwrap_err().to_string(), "no");
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
