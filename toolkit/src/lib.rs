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

#[expect(unused_extern_crates, reason = "the macros' expansions name the crate")]
extern crate self as toolkit;

pub mod approval;
mod approvals;
mod approver;
pub mod arguments;
mod ask_record;
mod asks;
mod at_once;
pub mod bootstrap;
mod change_hook;
pub mod config;
mod config_of;
mod cut;
mod cutter;
mod data_dir;
pub mod descriptor;
pub mod dialects;
pub mod discovery;
mod discovery_settings;
pub mod events;
mod file_access;
pub mod files;
mod gate;
pub mod history;
mod hooks;
pub mod inspection;
mod inspector;
mod kept_output;
mod lifecycle;
mod link;
pub mod lint;
mod listed;
mod live;
mod loop_guard;
mod macros;
mod named_hook;
mod off_runtime;
pub mod output;
mod output_store;
pub mod permission;
pub mod policy;
pub mod prelude;
mod real_path;
pub mod registry;
mod result_hook;
mod rules;
mod search;
mod service;
mod session;
mod settings;
mod shown_path;
mod sink;
pub mod skills;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
mod timer;
mod tokens;
mod tool;
mod toolbox;
pub mod views;
mod workspace;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc(inline)]
pub use approver::{AllowAll, Approver};
#[doc(inline)]
pub use config::Config;
pub use macros::{args, service, tool, tool_factory, tools};
#[doc(inline)]
pub use registry::{BuildError, Builder, Toolkit};
pub use tokio_util::sync::CancellationToken;
pub use tool::context::ToolContext;
pub use tool::{Tool, ToolBuilder};
pub use toolbox::{CallOptions, Toolbox};
pub use toolkit_core::{
    Ask, Caller, Content, Image, Json, Service, State, ToolCall, ToolError, ToolErrorKind, ToolOutput,
    ToolResult,
};
