//! Where clients of the protocol keep their servers.

use serde_json::{Value, json};
use std::env;
use std::path::{Path, PathBuf};

/// A client whose configuration can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Claude,
    ClaudeCode,
    Cursor,
    VsCode,
}

impl Client {
    pub(super) const NAMES: [&str; 4] = ["claude", "claude-code", "cursor", "vscode"];

    pub(super) fn of(name: &str) -> Option<Self> {
        let all = [Self::Claude, Self::ClaudeCode, Self::Cursor, Self::VsCode];
        Self::NAMES.iter().position(|known| *known == name).map(|place| all[place])
    }

    /// The key that its servers stand under.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            _ => "mcpServers",
        }
    }

    /// What it starts.
    pub(super) fn entry(self, command: &str, args: &[String]) -> Value {
        match self {
            Self::VsCode | Self::ClaudeCode => json!({"type": "stdio", "command": command, "args": args}),
            _ => json!({"command": command, "args": args}),
        }
    }

    /// Its file, for this user, or for one workspace where it has no other.
    pub(super) fn file(self, workspace: &Path) -> Option<PathBuf> {
        match self {
            Self::Claude => Some(settings_dir()?.join("Claude/claude_desktop_config.json")),
            Self::ClaudeCode => Some(workspace.join(".mcp.json")),
            Self::Cursor => Some(home()?.join(".cursor/mcp.json")),
            Self::VsCode => Some(settings_dir()?.join("Code/User/mcp.json")),
        }
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn home() -> Option<PathBuf> {
    variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
}

/// Where programs with windows keep what is set in them.
fn settings_dir() -> Option<PathBuf> {
    if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
    }
}
