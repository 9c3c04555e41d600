//! Notes through the call path, as an agent's host has them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod bench;
mod damage;
mod finding;
mod processes;
mod settings;

toolkit::link!(toolkit_memory);
