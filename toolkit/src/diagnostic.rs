//! What a host should know about the tools it has, or hasn't.

use serde::Serialize;
use std::fmt;

/// Something noticed while a toolkit was put together that did not stop it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub level: Level,
    /// The crate that it is about.
    pub source: String,
    /// What it is.
    pub message: String,
    /// Where in the code.
    pub location: Option<String>,
}

/// How bad a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is probably not as meant.
    Warning,
    /// Something is missing.
    Error,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        write!(f, "{level}: {}", self.message)?;
        match &self.location {
            Some(location) => write!(f, " ({location})"),
            None => Ok(()),
        }
    }
}
