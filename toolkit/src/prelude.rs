//! Common items for tools and hosts: `use toolkit::prelude::*;`.

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
