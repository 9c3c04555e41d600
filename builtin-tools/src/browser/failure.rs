//! Errors of the browser for a model.

use super::cdp::CdpError;
use toolkit::{ToolError, ToolErrorKind, output::Retry, text::escape_line};

/// The error of a command.
pub(super) fn failure(error: &CdpError) -> ToolError {
    match error {
        CdpError::Closed(why) => ToolError::unavailable(format!(
            "the browser is gone: {}; its tabs are lost. Call again to start a new one",
            escape_line(why)
        ))
        .with_retry(Retry::Now),
        CdpError::PageCrashed => {
            ToolError::failed("the page's process crashed; `navigate` again, or `close` the tab")
        }
        CdpError::Detached => {
            ToolError::failed("the tab or frame was closed meanwhile; see `tabs` for those that are open")
        }
        CdpError::TimedOut { within, .. } => ToolError::new(
            ToolErrorKind::TimedOut,
            format!(
                "the page did not respond within {within:?}: its scripts may be in a loop; `navigate` elsewhere, or `close` the tab"
            ),
        ),
        CdpError::TooLarge { .. } => {
            ToolError::failed("the answer of the page is too large; ask for less of it")
        }
        CdpError::Refused { method, message } => {
            ToolError::failed(format!("the browser refused {method}: {}", escape_line(message)))
        }
    }
}
