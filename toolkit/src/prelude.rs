//! Common items for tools and hosts: `use toolkit::prelude::*;`.

pub use crate::{
    Caller, Content, Image, Json, State, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolResult,
    Toolkit, args, tool,
};
pub use std::path::{Path, PathBuf};
