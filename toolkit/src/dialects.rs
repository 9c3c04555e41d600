//! The formats of model providers: tool definitions, tool calls and tool results.

pub use toolkit_dialects::{
    CallFormatError, CallStream, Definitions, Dialect, DialectSchema, DialectTool, JsonEvents, Loosened,
    MAX_ARGUMENT_BYTES, MAX_CALLS, MAX_RECURSION, StreamedCall, Strictness, UnknownDialect,
};
