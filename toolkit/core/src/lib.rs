//! The definition of a tool: its parameters and their JSON Schema, arguments and how they are checked and repaired, outputs, errors, calls,
//! and the questions that a call asks a person.
//!
//! This is the lowest layer of [`agent-toolkit`](https://docs.rs/agent-toolkit), which re-exports all of it: depend on that crate, and
//! name its items as `toolkit::…`. The modules are for the layers above; only what stands at the root is stable.

#![cfg_attr(not(feature = "runtime"), allow(dead_code, reason = "a part is called by the runtime alone"))]

#[doc(hidden)]
pub mod arg;
#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod ask;
#[doc(hidden)]
pub mod attachment;
#[doc(hidden)]
pub mod call;
mod call_arguments;
#[doc(hidden)]
pub mod caller;
#[doc(hidden)]
pub mod config_origin;
#[doc(hidden)]
pub mod content;
#[doc(hidden)]
pub mod definition;
#[doc(hidden)]
pub mod diagnostic;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod escape;
#[doc(hidden)]
pub mod excerpt;
#[doc(hidden)]
pub mod guard;
mod invalid_arguments;
#[doc(hidden)]
pub mod json_seed;
#[doc(hidden)]
pub mod location;
#[doc(hidden)]
pub mod message;
#[doc(hidden)]
pub mod name;
mod other_names;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod parameter;
#[doc(hidden)]
pub mod plugin;
#[doc(hidden)]
pub mod pointer;
#[doc(hidden)]
pub mod redact;
#[doc(hidden)]
pub mod schema;
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub mod server_names;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod state;
#[doc(hidden)]
pub mod truncate;
mod unique_json;
#[doc(hidden)]
pub mod unix_time;

#[doc(hidden)]
pub use other_names::TextOfOutput;

pub use arg::{LengthArg, PatternArg, RangeArg, ToolArg};
pub use arguments::{Arguments, InvalidArguments, Problem, Repair, RepairKind};
pub use ask::AskAnswer;
pub use ask::{
    Access, AllowScope, Answer, Ask, AskDetail, DeniedBy, Elicitation, Origin, PendingAsk, Question, Reply,
};
pub use attachment::Attachment;
pub use call::{CallArguments, IntoCallArguments, ToolCall, ToolResult};
pub use caller::{Caller, SharedReads};
pub use config_origin::{ConfigOrigin, ConfigOrigins, ConfigSource};
pub use content::{Bytes, Content, Resource, ResourceBody};
pub use definition::{Annotations, Definition};
pub use diagnostic::{Diagnostic, Level};
pub use error::{IntoToolError, Retry, SharedError, ToolError, ToolErrorKind};
pub use escape::{
    MAX_BLOCK_CHARS, MAX_BLOCK_LINES, MAX_LINE_CHARS, escape_block, escape_hidden, escape_line,
    escape_terminal,
};
pub use location::Location;
pub use message::{Message, MessageRole};
pub use name::{MAX_NAME_BYTES, is_valid_name, nearest};
pub use output::{Detailed, Image, IntoToolOutput, Json, JsonOutput, Structured, ToolOutput};
pub use parameter::Input;
pub use parameter::{Literal, ParameterDef, Rule, Shown};
pub use plugin::{Plugin, PluginDef};
pub use redact::Redactor;
pub use schema::SchemaFn;
#[cfg(feature = "runtime")]
pub use server_names::server_prefixes;
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use server_names::{MAX_OF_LONG_PREFIX, in_letters_of_names};
pub use source::Source;
pub use state::{Service, State};
pub use truncate::{Keep, Truncate};
