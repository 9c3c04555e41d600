//! Panics of a tool's own code: its function, its destructors, its types, its defaults.

use crate::error::{ToolError, ToolErrorKind};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Converts a panic of a tool's code into an error.
#[doc(hidden)]
pub fn guard<T>(tool: &str, run: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panicked(tool, panic))
}

/// Same as [`guard`], with the panic's own message.
#[doc(hidden)]
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(message)
}

/// Returns the error for a panic.
#[doc(hidden)]
pub fn panicked(tool: &str, panic: Box<dyn Any + Send>) -> ToolError {
    ToolError::new(
        ToolErrorKind::Panicked,
        format!(
            "the tool `{tool}` stopped on an internal error ({}); calling it again the same way will not help",
            message(panic)
        ),
    )
}

/// Returns the message of a panic.
fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => match panic.downcast::<&str>() {
            Ok(message) => (*message).to_owned(),
            Err(payload) => {
                // The payload is leaked, because dropping it runs the tool's code, which may panic
                // again.
                std::mem::forget(payload);
                "no message".to_owned()
            }
        },
    }
}
