//! Diagnostics about the tools that a toolkit has or lacks.

use crate::escape::escape_rest;
use serde::Serialize;
use std::fmt;

/// A problem that was found while a toolkit was built, but did not prevent building it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostic {
    /// The severity.
    pub level: Level,
    /// The subject: a crate, a file of the configuration.
    pub source: String,
    /// The plugin concerned, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    /// The message.
    pub message: String,
    /// The place in the code or the configuration.
    pub location: Option<String>,
    #[serde(skip)]
    concerns_deny: bool,
}

/// The severity of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Information only.
    Info,
    /// A probable mistake.
    Warning,
    /// A tool or another part is missing.
    Error,
}

impl Diagnostic {
    /// Creates a diagnostic about a source: a crate, a file of the configuration.
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

    /// Returns true if something that was to be denied may still be available: for example, a name in a deny list that
    /// no tool has. A host shows such a warning without being asked.
    pub fn concerns_deny(&self) -> bool {
        self.concerns_deny
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_concern(self, concerns_deny: bool) -> Self {
        Self { concerns_deny, ..self }
    }

    /// Sets the plugin concerned.
    #[must_use]
    pub fn with_plugin(mut self, id: impl Into<String>) -> Self {
        self.plugin_id = Some(id.into());
        self
    }

    /// Sets the place.
    #[must_use]
    pub fn with_location(mut self, location: impl fmt::Display) -> Self {
        self.location = Some(location.to_string());
        self
    }
}

/// Formats one line that is safe to show: it may quote a file that another person wrote.
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
