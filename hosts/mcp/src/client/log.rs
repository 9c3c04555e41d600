//! Log messages of servers, which the protocol has up to 2025-11-25.

#![expect(deprecated, reason = "servers of the versions that have it use it")]

use crate::level::level;
use rmcp::model::LoggingMessageNotificationParam;
use toolkit::{
    events::{LogLevel, LogMessage},
    text::escape_line,
};

/// Converts a log message, and writes it to this process's log too.
pub(super) fn message(server: &str, params: LoggingMessageNotificationParam) -> LogMessage {
    let level = level(params.level);
    let text = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
    let text = escape_line(&text);
    match level {
        LogLevel::Debug => tracing::debug!(server, "{text}"),
        LogLevel::Info | LogLevel::Notice => tracing::info!(server, "{text}"),
        LogLevel::Warning => tracing::warn!(server, "{text}"),
        _ => tracing::error!(server, "{text}"),
    }
    let mut message = LogMessage::new(level, params.data);
    message.logger = params.logger;
    message
}
