//! The formats of model providers: tool definitions, tool calls and tool results.
//!
//! This is a layer of [`agent-toolkit`](https://docs.rs/agent-toolkit), which re-exports all of it: depend on that crate, and name its
//! items as `toolkit::…`. The module is for the layers above; only what stands at the root is stable.

#[doc(hidden)]
pub mod dialect;

pub use dialect::{
    CallFormatError, CallStream, Definitions, Dialect, DialectSchema, DialectTool, JsonEvents,
    MAX_ARGUMENT_BYTES, MAX_CALLS, MAX_RECURSION, SchemaLoss, StreamedCall, Strictness, UnknownDialect,
};
