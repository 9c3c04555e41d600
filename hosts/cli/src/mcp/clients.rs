//! MCP clients whose configuration can be changed, with the location and format of their server lists.

use super::edit::Format;
use serde_json::{Map, Value, json};
use std::env;
use std::path::{Path, PathBuf};

/// A client whose configuration can be changed.
#[derive(Debug)]
pub(super) struct Client {
    /// Name of the client on the command line.
    pub(super) name: &'static str,
    format: Format,
    /// The keys that lead to its servers.
    keys: &'static [&'static str],
    /// Creates the entry for a server.
    entry: fn(&Start<'_>) -> Value,
    /// The file of a user, where it has one.
    user: fn() -> Option<PathBuf>,
    /// Path of the client's configuration file within a project, if it supports one.
    project: Option<&'static str>,
}

/// A server that a client starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) name: &'a str,
    pub(super) program: &'a str,
    pub(super) args: &'a [String],
}

/// The supported clients, one line each. The functions below create their entries.
#[rustfmt::skip]
pub(super) static CLIENTS: &[Client] = &[
    Client { name: "claude",      format: Format::Json, keys: &["mcpServers"],      entry: plain,    user: claude,   project: None },
    Client { name: "claude-code", format: Format::Json, keys: &["mcpServers"],      entry: typed,    user: nowhere,  project: Some(".mcp.json") },
    Client { name: "codex",       format: Format::Toml, keys: &["mcp_servers"],     entry: plain,    user: codex,    project: Some(".codex/config.toml") },
    Client { name: "cursor",      format: Format::Json, keys: &["mcpServers"],      entry: plain,    user: cursor,   project: Some(".cursor/mcp.json") },
    Client { name: "gemini-cli",  format: Format::Json, keys: &["mcpServers"],      entry: plain,    user: gemini,   project: Some(".gemini/settings.json") },
    Client { name: "goose",       format: Format::Yaml, keys: &["extensions"],      entry: goose,    user: of_goose, project: None },
    Client { name: "opencode",    format: Format::Json, keys: &["mcp"],             entry: opencode, user: of_opencode, project: Some("opencode.json") },
    Client { name: "vscode",      format: Format::Json, keys: &["servers"],         entry: typed,    user: vscode,   project: Some(".vscode/mcp.json") },
    Client { name: "windsurf",    format: Format::Json, keys: &["mcpServers"],      entry: plain,    user: windsurf, project: None },
    Client { name: "zed",         format: Format::Json, keys: &["context_servers"], entry: zed,      user: of_zed,   project: Some(".zed/settings.json") },
    // Not a client, but the form that most of them read, printed or written to a given file.
    Client { name: "json",        format: Format::Json, keys: &["mcpServers"],      entry: plain,    user: nowhere,  project: None },
];

impl Client {
    /// Returns the names of all clients.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        CLIENTS.iter().map(|client| client.name)
    }

    pub(super) fn of(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Returns true if the entry is printed where no file is named.
    pub(super) fn is_printed(&self) -> bool {
        self.name == "json"
    }

    /// The keys that lead to its servers in a file with this text.
    pub(super) fn keys(&self, text: &str) -> Vec<&'static str> {
        let mut keys = self.keys.to_vec();
        // The second version of opencode has them one level below. There no server is called so, since each has a type.
        if self.name == "opencode"
            && let Ok(Some(servers)) = self.format.entry(text, &["mcp"], "servers")
            && servers.is_object()
            && servers.get("type").is_none()
        {
            keys.push("servers");
        }
        keys
    }

    /// Returns the entry for a server in the client's file.
    pub(super) fn entry(&self, start: &Start<'_>) -> Value {
        (self.entry)(start)
    }

    /// Returns the file with the client's servers: that of the project if it is requested or the only one, else that of the user.
    pub(super) fn file(&self, workspace: &Path, of_project: bool) -> Option<PathBuf> {
        let in_project = || self.project.map(|file| workspace.join(file));
        let file = if of_project { in_project() } else { (self.user)().or_else(in_project) }?;
        // opencode reads both names.
        let with_comments = file.with_extension("jsonc");
        let is_commented = self.name == "opencode" && !file.exists() && with_comments.exists();
        Some(if is_commented { with_comments } else { file })
    }
}

fn plain(start: &Start<'_>) -> Value {
    json!({"command": start.program, "args": start.args})
}

fn typed(start: &Start<'_>) -> Value {
    json!({"type": "stdio", "command": start.program, "args": start.args})
}

fn zed(start: &Start<'_>) -> Value {
    json!({"command": start.program, "args": start.args, "env": {}})
}

fn opencode(start: &Start<'_>) -> Value {
    let command: Vec<&str> =
        [start.program].into_iter().chain(start.args.iter().map(String::as_str)).collect();
    json!({"type": "local", "command": command, "enabled": true})
}

fn goose(start: &Start<'_>) -> Value {
    json!({
        "enabled": true,
        "type": "stdio",
        "name": start.name,
        "cmd": start.program,
        "args": start.args,
        "envs": {},
        "env_keys": [],
        "timeout": 300,
    })
}

/// Returns true if an entry starts `mcp serve` of a program of this name, so that it is one that was installed.
pub(super) fn is_ours(entry: &Value, program: &str) -> bool {
    let Some(entry) = entry.as_object() else { return false };
    let command = command_of(entry);
    let [started, first, second, ..] = &*command else { return false };
    let stem = |path: &str| Path::new(path).file_stem().map(|name| name.to_string_lossy().into_owned());
    let is_known = stem(started) == stem(program) || stem(started).as_deref() == Some("toolkit");
    is_known && (*first, *second) == ("mcp", "serve")
}

/// Returns the command line of an entry of any client.
fn command_of(entry: &Map<String, Value>) -> Vec<&str> {
    let of = |name: &str| -> Vec<&str> {
        match entry.get(name) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    };
    let program = if entry.contains_key("cmd") { of("cmd") } else { of("command") };
    [program, of("args")].concat()
}

fn nowhere() -> Option<PathBuf> {
    None
}

fn claude() -> Option<PathBuf> {
    Some(settings_dir()?.join("Claude/claude_desktop_config.json"))
}

fn codex() -> Option<PathBuf> {
    let directory = variable("CODEX_HOME").or_else(|| Some(home()?.join(".codex")))?;
    Some(directory.join("config.toml"))
}

fn cursor() -> Option<PathBuf> {
    Some(home()?.join(".cursor/mcp.json"))
}

fn gemini() -> Option<PathBuf> {
    Some(home()?.join(".gemini/settings.json"))
}

fn of_goose() -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(variable("APPDATA")?.join("Block/goose/config/config.yaml"));
    }
    Some(config_home()?.join("goose/config.yaml"))
}

fn of_opencode() -> Option<PathBuf> {
    Some(config_home()?.join("opencode/opencode.json"))
}

fn vscode() -> Option<PathBuf> {
    Some(settings_dir()?.join("Code/User/mcp.json"))
}

fn windsurf() -> Option<PathBuf> {
    Some(home()?.join(".codeium/windsurf/mcp_config.json"))
}

fn of_zed() -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(variable("APPDATA")?.join("Zed/settings.json"));
    }
    Some(config_home()?.join("zed/settings.json"))
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn home() -> Option<PathBuf> {
    variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
}

/// Returns the directory where command-line programs keep their settings. On macOS only some programs read `XDG_CONFIG_HOME`, but
/// it is rarely set there.
fn config_home() -> Option<PathBuf> {
    variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
}

/// Returns the directory where graphical programs keep their settings.
fn settings_dir() -> Option<PathBuf> {
    if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Application Support"))
    } else {
        config_home()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_entry_is_known_again_and_no_other_is() {
        let args = ["mcp", "serve", "--workspace", "/w"].map(str::to_owned);
        let start = Start { name: "toolkit", program: "/usr/bin/toolkit", args: &args };
        for client in CLIENTS {
            let entry = client.entry(&start);
            assert!(is_ours(&entry, "/elsewhere/toolkit"), "{}: {entry}", client.name);
            assert!(is_ours(&entry, "/usr/bin/my-agent"), "{}: {entry}", client.name);
            let other = client.entry(&Start { program: "/usr/bin/npx", ..start });
            assert!(!is_ours(&other, "/usr/bin/toolkit"), "{}: {other}", client.name);
        }
        for entry in [
            json!("text"),
            json!({}),
            json!({"command": "toolkit"}),
            json!({"command": "toolkit", "args": ["mcp", "list"]}),
            json!({"command": ["toolkit", "mcp"], "type": "local"}),
            json!({"url": "https://example.org/mcp"}),
        ] {
            assert!(!is_ours(&entry, "toolkit"), "{entry}");
        }
    }

    #[test]
    fn names_are_found_and_once_each() {
        let names: Vec<_> = Client::names().collect();
        for name in &names {
            assert_eq!(Client::of(name).map(|client| client.name), Some(*name));
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1);
        }
        assert!(Client::of("emacs").is_none());
    }
}
