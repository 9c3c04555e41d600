//! The error of a configuration that cannot be used.

use crate::section::pointer::dotted;
use std::fmt;
use toolkit_core::arguments::Problem;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_line;

/// The error of a configuration that cannot be used: all problems at once, in the order of the
/// sources.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration cannot be used:{}", problems.iter().fold(String::new(), |text, problem| text + "\n- " + &problem.to_string()))]
#[non_exhaustive]
pub struct ConfigError {
    /// The problems; at most 20 for each source.
    pub problems: Vec<ConfigProblem>,
}

/// Formats the same text as `Display`, so that a `main` that returns the error prints it readably.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One problem of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// The origin of the value.
    pub origin: Option<ConfigOrigin>,
    /// The key, as a JSON pointer; empty if the problem concerns a whole source.
    pub pointer: String,
    /// The message: what is wrong, what is allowed, what was probably meant.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message and the path may contain text that another person wrote, so both are escaped.
        if let Some(origin) = &self.origin {
            write!(f, "{}: ", escape_line(&origin.to_string()))?;
        }
        if !self.pointer.is_empty() {
            write!(f, "{}: ", escape_line(&dotted(&self.pointer)))?;
        }
        f.write_str(&escape_line(&self.message))
    }
}

impl ConfigProblem {
    pub(crate) fn new(
        origin: Option<ConfigOrigin>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { origin, pointer: pointer.into(), message: message.into() }
    }

    /// Converts a schema's validation problem.
    pub(crate) fn of(problem: &Problem, origin: Option<ConfigOrigin>) -> Self {
        // The messages are worded for a tool's arguments; here they concern keys.
        let expected = ["one of the arguments ", "one of the fields "]
            .iter()
            .find_map(|lead| Some(format!("one of the keys {}", problem.expected.strip_prefix(lead)?)));
        let expected = match (expected, problem.expected.as_str()) {
            (Some(expected), _) => expected,
            (None, "no arguments" | "no fields") => "no keys".to_owned(),
            (None, other) => other.to_owned(),
        };
        let mut message = format!("expected {expected}, got {}", problem.actual);
        if let Some(nearest) = &problem.nearest {
            message = format!("{message}; did you mean `{nearest}`?");
        }
        Self::new(origin, problem.pointer.clone(), message)
    }
}

/// Returns the reasons why something is unavailable, in one line.
pub(super) fn reasons(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Returns a warning about the configuration.
pub(super) fn warning(message: String, location: Option<String>) -> Diagnostic {
    let warning = Diagnostic::new(Level::Warning, "configuration", message);
    location.into_iter().fold(warning, Diagnostic::with_location)
}
