//! The state of MCP servers, as notes and diagnostics.

use crate::console::Console;
use toolkit::{registry::Diagnostic, text::escape_line};
use toolkit_mcp::{McpServers, ServerState};

/// Returns the diagnostics of all servers.
pub(crate) fn noticed(servers: &McpServers) -> Vec<Diagnostic> {
    servers.status().into_iter().flat_map(|status| status.diagnostics).collect()
}

/// Prints which servers are unavailable.
pub(crate) fn note(servers: &McpServers, console: &mut Console<'_>) {
    for status in servers.status() {
        let name = escape_line(&status.name);
        match status.state {
            ServerState::Failed { why } => {
                console.note(&format!("warning: the MCP server `{name}` cannot be reached: {why}"));
            }
            ServerState::Starting => {
                console.note(&format!("warning: the MCP server `{name}` is not connected yet"));
            }
            _ => {}
        }
    }
}

/// Prints which servers are still starting, and returns true if there are any.
pub(crate) fn note_slow(servers: &McpServers, console: &mut Console<'_>) -> bool {
    let status = servers.status();
    let starting = status.iter().filter(|status| matches!(status.state, ServerState::Starting));
    let mut found = false;
    for status in starting {
        let name = escape_line(&status.name);
        console.note(&format!("note: waiting for the MCP server `{name}`, which is slow to start"));
        found = true;
    }
    found
}
