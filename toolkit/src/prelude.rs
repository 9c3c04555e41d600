//! Common items for tools and hosts: `use toolkit::prelude::*;`.

#[cfg(feature = "runtime")]
pub use crate::Toolkit;
#[cfg(not(feature = "runtime"))]
#[doc(hidden)]
pub use crate::tool::context::Toolkit;
pub use crate::{
    Caller, Content, Image, Json, State, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolResult,
    args, tool,
};
pub use std::path::{Path, PathBuf};
