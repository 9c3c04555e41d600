//! Tasks through the call path, against a server that knows Chat Completions as they are documented.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod answers;
mod bench;
mod failures;
mod limits;
mod metered;
mod secrets;
mod settings;

toolkit::link!(toolkit_llm_task);
