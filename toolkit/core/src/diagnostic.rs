//! What a host should know about the tools it has, or hasn't.

use crate::escape::escape_rest;
use serde::Serialize;
use std::fmt;

/// Something noticed while a toolkit was put together that did not stop it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub level: Level,
    /// What it is about: a crate, a file of the configuration.
    pub source: String,
    /// The plugin that it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    /// What it is.
    pub message: String,
    /// Where in the code or the configuration.
    pub location: Option<String>,
    #[serde(skip)]
    concerns_deny: bool,
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

impl Diagnostic {
    /// Something about a source: a crate, a file of the configuration.
    pub fn new(level: Level, source: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            level,
            source: source.into(),
            plugin_id: None,
            message: message.into(),
            location: None,
            concerns_deny: false,
        }
    }

    /// Whether something that was to be taken away may be there all the same: a name in a list that denies is that of no
    /// tool, say. A host tells such a warning without being asked.
    pub fn concerns_deny(&self) -> bool {
        self.concerns_deny
    }

    #[doc(hidden)]
    pub fn with_concern(self, concerns_deny: bool) -> Self {
        Self { concerns_deny, ..self }
    }

    /// The plugin that it is about.
    #[must_use]
    pub fn with_plugin(mut self, id: impl Into<String>) -> Self {
        self.plugin_id = Some(id.into());
        self
    }

    /// Where it is.
    #[must_use]
    pub fn with_location(mut self, location: impl fmt::Display) -> Self {
        self.location = Some(location.to_string());
        self
    }
}

/// In one line that is safe to show: it may quote a file that somebody else wrote.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        write!(f, "{level}: {}", escape_rest(&self.message))?;
        let location = self.location.as_deref().map(escape_rest);
        match (self.plugin_id.as_deref().map(escape_rest), location) {
            (Some(id), Some(location)) => write!(f, " (plugin `{id}`, {location})"),
            (Some(id), None) => write!(f, " (plugin `{id}`)"),
            (None, Some(location)) => write!(f, " ({location})"),
            (None, None) => Ok(()),
        }
    }
}
