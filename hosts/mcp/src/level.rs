//! The levels of logging, which the protocol has up to 2025-11-25, as they are here.

#![expect(deprecated, reason = "peers of the versions that have logging use it")]

use rmcp::model::LoggingLevel;
use toolkit::events::LogLevel;

/// The same level.
pub(crate) fn level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
