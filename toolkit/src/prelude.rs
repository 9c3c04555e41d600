//! Common items for tools and hosts: `use toolkit::prelude::*;`.

pub use crate::approval::{Access, Answer};
#[cfg(feature = "runtime")]
pub use crate::approval::{CallbackApprover, TerminalApprover};
#[cfg(feature = "runtime")]
pub use crate::config::{Configuration, LoadOptions, Secret};
#[cfg(feature = "runtime")]
pub use crate::dialects::Dialect;
pub use crate::events::{LogLevel, LogMessage, Progress};
pub use crate::output::Retry;
#[cfg(feature = "runtime")]
pub use crate::policy::{PolicySettings, ToolPolicy, ToolRules};
#[cfg(feature = "testing")]
pub use crate::testing::TestToolbox;
#[cfg(not(feature = "runtime"))]
#[doc(hidden)]
pub use crate::tool::context::Toolkit;
#[cfg(feature = "runtime")]
pub use crate::{AllowAll, BuildError, Toolbox, Toolkit};
pub use crate::{
    Ask, Caller, Config, Content, Image, Json, State, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind,
    ToolOutput, ToolResult, args, service, tool, tool_factory, tool_ref, tools,
};
pub use std::path::{Path, PathBuf};
// A trait and macros whose errors say what to write.
#[doc(hidden)]
pub use toolkit_core::TextOfOutput as _;
#[doc(hidden)]
pub use toolkit_macros::{
    ToolArgs, ToolInput, ToolParams, serde, tool_args, tool_handler, tool_impl, tool_router,
};
