//! The trait of a subcommand that works with the tools of a caller.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
#[cfg(feature = "mcp")]
use crate::mcp::Only;
use std::fmt;
use tokio::runtime::Runtime;
use toolkit::{Toolbox, Toolkit, registry::Diagnostic};

/// The values that a subcommand runs with.
pub(crate) struct Context<'a> {
    pub(crate) toolkit: &'a Toolkit,
    /// The tools of the caller.
    pub(crate) toolbox: &'a Toolbox,
    /// The diagnostics of MCP servers.
    pub(crate) noticed: &'a [Diagnostic],
    #[cfg_attr(
        not(feature = "runtime"),
        expect(dead_code, reason = "only shell commands are explained asynchronously")
    )]
    pub(crate) runtime: &'a Runtime,
    pub(crate) format: Format,
}

/// A parsed subcommand that works with the tools of a caller.
pub(crate) trait Run: fmt::Debug {
    /// Runs the subcommand.
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop>;

    /// Returns the MCP servers whose tools the subcommand needs; only these are started.
    #[cfg(feature = "mcp")]
    fn servers(&self) -> Only<'_> {
        Only::None
    }

    /// Returns true if the subcommand prints all diagnostics, so that they are not printed before it.
    fn shows_diagnostics(&self) -> bool {
        false
    }
}
