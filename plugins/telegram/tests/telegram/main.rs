//! Polls and pins through the call path, against a server that knows the Bot API as it is documented.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod bench;
mod channel;
mod failures;
mod hosts;
mod limits;
mod secrets;
mod sending;
mod settings;

toolkit::link!(toolkit_telegram);
