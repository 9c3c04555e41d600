//! Why a configuration cannot be used.

use crate::arguments::Problem;
use crate::config::pointer::dotted;
use crate::config_origin::ConfigOrigin;
use crate::escape::escape_line;
use std::fmt;

/// Why a configuration cannot be used: every reason at once, in the order of the sources.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration cannot be used:{}", problems.iter().fold(String::new(), |text, problem| text + "\n- " + &problem.to_string()))]
#[non_exhaustive]
pub struct ConfigError {
    /// The reasons; of one source 20 at most.
    pub problems: Vec<ConfigProblem>,
}

/// As its text, so that a `main` that returns it prints it readably.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// Where it was written.
    pub origin: Option<ConfigOrigin>,
    /// The key, as a JSON pointer; empty where it is about all of a source.
    pub pointer: String,
    /// What is wrong, what is allowed, what was probably meant.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A file that somebody else wrote is quoted in it, and its name too.
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

    /// What a schema says of a document.
    pub(crate) fn of(problem: &Problem, origin: Option<ConfigOrigin>) -> Self {
        // The words are those of a tool's arguments, and these are keys.
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
