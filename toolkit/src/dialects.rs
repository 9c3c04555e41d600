//! The formats of model providers: tool definitions, tool calls and tool results.

pub use toolkit_dialects::{
    CallFormatError, CallStream, Definitions, Dialect, DialectSchema, DialectTool, JsonEvents,
    MAX_ARGUMENT_BYTES, MAX_CALLS, MAX_RECURSION, SchemaLoss, StreamedCall, Strictness, UnknownDialect,
};
