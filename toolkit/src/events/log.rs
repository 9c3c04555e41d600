//! What a call says for those who look for faults.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How grave it is what a [`LogMessage`] says: the levels of syslog (RFC 5424), the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "syslog has these")]
pub enum LogLevel {
    /// For who looks for a fault.
    Debug,
    /// What is done.
    Info,
    /// What is unusual.
    Notice,
    /// What may be wrong.
    Warning,
    /// What went wrong.
    Error,
    /// A part of it fails.
    Critical,
    /// Somebody has to do something at once.
    Alert,
    /// Nothing of it works.
    Emergency,
}

/// Something that a call says for those who look for faults; no model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogMessage {
    /// How grave it is.
    pub level: LogLevel,
    /// Which part says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says: a text, or any JSON.
    pub data: Value,
}

impl LogMessage {
    /// Says this.
    pub fn new(level: LogLevel, data: impl Into<Value>) -> Self {
        Self { level, logger: None, data: data.into() }
    }

    /// Names the part that says it.
    #[must_use]
    pub fn with_logger(mut self, logger: impl Into<String>) -> Self {
        self.logger = Some(logger.into());
        self
    }
}
