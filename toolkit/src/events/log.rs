//! Log messages of a call, for debugging.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The severity of a [`LogMessage`]: the levels of syslog (RFC 5424), the least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "syslog has these")]
pub enum LogLevel {
    /// Debugging details.
    Debug,
    /// Normal operation.
    Info,
    /// Normal, but significant.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
    /// A critical failure of a component.
    Critical,
    /// Action is needed immediately.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// A log message of a call, for debugging; no model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogMessage {
    /// The severity.
    pub level: LogLevel,
    /// The component that logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The message: a text, or any JSON.
    pub data: Value,
}

impl LogMessage {
    /// Creates a log message.
    pub fn new(level: LogLevel, data: impl Into<Value>) -> Self {
        Self { level, logger: None, data: data.into() }
    }

    /// Sets the component that logs.
    #[must_use]
    pub fn with_logger(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }
}

impl From<&str> for LogMessage {
    /// Creates a message of the level [`Info`](LogLevel::Info).
    fn from(text: &str) -> Self {
        Self::new(LogLevel::Info, text)
    }
}

impl From<String> for LogMessage {
    /// Creates a message of the level [`Info`](LogLevel::Info).
    fn from(text: String) -> Self {
        Self::new(LogLevel::Info, text)
    }
}
