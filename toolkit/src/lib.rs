//! Tools for AI agents, declared as annotated Rust functions.
//!
//! ```standalone_crate
//! use toolkit::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool(group = "math", read_only)]
//! async fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     #[arg(default = 1)]
//!     b: i64,
//! ) -> String {
//!     (a + b).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
//! let toolkit = Toolkit::builder().build()?;
//! let toolbox = toolkit.toolbox(&Caller::new()).await;
//! let result = toolbox.call(ToolCall::new("1", "add", r#"{ "a": 2, "b": 3 }"#)).await;
//! assert_eq!(result.text(), "5");
//! # Ok(()) }
//! ```
//!
//! The JSON Schema of the arguments, the validation by it, and the registration are generated from the function. The
//! attribute is documented at [`tool`](macro@tool); [`link!`] links the tools of other crates.
//!
//! The root has what most tools and hosts need; everything else is in the module of its subject.
//!
//! A crate of tools can do without the feature `runtime`, which is on by default: then there are the macros, and the types that a tool names.
//! Registry, toolboxes, policy, permission, history and access to files are in the feature; the program that links the crate turns it on.

#![cfg_attr(
    not(feature = "runtime"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "a part of the definitions is for the runtime"
    )
)]

#[expect(unused_extern_crates, reason = "the macros' expansions name the crate")]
extern crate self as toolkit;

// The definition of tools, and what the expansions of the macros name.

pub mod approval;
mod approver; // write `use toolkit::Approver;`, and `use toolkit::approval::{..};` for its types
pub mod arguments;
mod ask_journal;
mod ask_record;
mod ask_store;
mod change_hook;
mod closure_future;
mod config_of;
mod cut;
pub mod descriptor;
pub mod events;
mod gate;
mod lifecycle;
mod link;
mod linked;
mod listed;
mod live;
mod loop_guard;
mod macros; // write `use toolkit::tool;`
pub mod metering;
mod named_functions;
mod named_hook;
mod off_runtime;
pub mod output;
mod output_store;
pub mod prelude;
mod section;
mod service; // write `use toolkit::State;`
mod session; // write `use toolkit::{Caller, ToolContext};`
mod sink;
pub mod text;
mod tool; // write `use toolkit::{Tool, ToolContext};`

// The runtime: what a host needs.

#[cfg(feature = "runtime")]
mod approvals;
#[cfg(feature = "runtime")]
mod asks;
#[cfg(feature = "runtime")]
mod at_once;
#[cfg(feature = "runtime")]
pub mod bootstrap;
#[cfg(feature = "runtime")]
pub mod config;
#[cfg(feature = "runtime")]
mod cutter;
#[cfg(feature = "runtime")]
mod data_dir;
#[cfg(feature = "runtime")]
pub mod dialects;
#[cfg(feature = "runtime")]
pub mod discovery;
#[cfg(feature = "runtime")]
mod discovery_settings;
#[cfg(feature = "runtime")]
mod file_access;
#[cfg(feature = "runtime")]
pub mod files;
#[cfg(feature = "runtime")]
pub mod history;
#[cfg(feature = "runtime")]
mod hooks;
#[cfg(feature = "runtime")]
pub mod inspection;
#[cfg(feature = "runtime")]
mod inspector;
#[cfg(feature = "runtime")]
mod kept_output;
#[cfg(feature = "runtime")]
mod line_buffer;
#[cfg(feature = "runtime")]
pub mod lint;
#[cfg(feature = "runtime")]
pub mod memory;
#[cfg(feature = "runtime")]
mod other_names;
#[cfg(feature = "runtime")]
pub mod permission;
#[cfg(feature = "runtime")]
pub mod policy;
#[cfg(feature = "runtime")]
mod real_path;
#[cfg(feature = "runtime")]
pub mod registry;
#[cfg(feature = "runtime")]
mod result_hook;
#[cfg(feature = "runtime")]
mod rules;
#[cfg(feature = "runtime")]
mod search;
#[cfg(feature = "runtime")]
mod settings;
#[cfg(feature = "runtime")]
mod shown_path;
#[cfg(feature = "runtime")]
pub mod skills;
#[cfg(feature = "runtime")]
mod temporary_names;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "runtime")]
mod timer;
#[cfg(feature = "runtime")]
mod tokens;
#[cfg(feature = "runtime")]
mod toolbox; // write `use toolkit::Toolbox;`
#[cfg(feature = "runtime")]
pub mod views;
#[cfg(feature = "runtime")]
mod workspace;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc(inline)]
pub use approver::{AllowAll, Approver};
pub use macros::{args, service, tool, tool_factory, tools};
#[cfg(feature = "runtime")]
#[doc(inline)]
pub use registry::{BuildError, Builder, Toolkit};
#[doc(inline)]
pub use section::Config;
#[cfg(not(feature = "runtime"))]
pub use section::config;
pub use tokio_util::sync::CancellationToken;
pub use tool::context::ToolContext;
pub use tool::{Tool, ToolBuilder};
#[cfg(feature = "runtime")]
pub use toolbox::{BackgroundWork, CallOptions, Toolbox};
pub use toolkit_core::{
    Ask, Caller, Content, Image, Json, Service, State, ToolCall, ToolError, ToolErrorKind, ToolOutput,
    ToolResult,
};

// Names that a program may look for at the root: they are in the module of their subject, or in the prelude.

#[cfg(feature = "testing")]
#[doc(hidden)]
pub use testing::{TestCall, TestToolbox};
#[doc(hidden)]
pub use {
    approval::{Access, AllowScope, Answer, PendingAsk, Question, Reply},
    arguments::{IntoCallArguments, InvalidArguments, Problem},
    descriptor::{Definition, DynamicArgs, InvalidTool, Preparation, ToolArg},
    events::{CallEvent, Event, Events, LogLevel, LogMessage, Progress},
    output::{Detailed, IntoToolError, IntoToolOutput, OutputLimits, OutputSink, Retry, Structured},
};
#[cfg(feature = "runtime")]
#[doc(hidden)]
pub use {
    approval::{CallbackApprover, NoApprover, ScriptedApprover, TerminalApprover},
    config::{ConfigError, Configuration, DataDir, LoadOptions, Secret},
    dialects::{Definitions, Dialect},
    history::{History, JsonlHistory, JsonlOptions, MemoryHistory},
    inspection::{CallbackInspector, Inspector, LoopGuard, Verdict},
    permission::Permissions,
    policy::{Policy, PolicySettings, ToolPolicy, ToolRules},
    registry::{RegisterError, ToolSource},
    text::Redactor,
};

/// The result of a function that fails as a tool does.
#[doc(hidden)]
pub type Result<T, E = ToolError> = std::result::Result<T, E>;
// Names that other frameworks have: aliases, and macros whose errors say what to write.
// Types, because the compiler would name the original by an alias of an import.
#[doc(hidden)]
pub type Error = ToolError;
#[doc(hidden)]
pub type CallToolResult = ToolOutput;
#[doc(hidden)]
pub type Context = ToolContext;
#[doc(hidden)]
pub use toolkit_macros::{
    Args, ToolArg, ToolArgs, ToolInput, ToolParams, ToolSchema, arguments, input, parameters, params,
    tool_args, tool_handler, tool_impl, tool_router, toolset,
};

#[doc(hidden)]
pub use {prelude as context, prelude as error, prelude as state, prelude as types};
