//! The source of a tool.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The source of a tool. Cheap to clone.
///
/// The toolkit decides it, never the tool: a tool of a linked crate is [`Core`](Self::Core) if the host's `link!` says
/// so, and otherwise a plugin's or a channel's.
///
/// ```
/// use toolkit::descriptor::Source;
///
/// assert_eq!(Source::mcp("files").to_string(), "the MCP server `files`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Source {
    /// A core crate, declared by the host.
    Core,
    /// Any other crate, the host's own binary included.
    Plugin {
        /// The plugin's id: the one in its `toolkit::plugin!`, or else the name of its crate.
        id: Arc<str>,
    },
    /// A channel: the tool exists only in sessions of that channel.
    Channel {
        /// The channel.
        name: Arc<str>,
    },
    /// A server of the Model Context Protocol.
    Mcp {
        /// The server's name in the configuration.
        server: Arc<str>,
    },
    /// A client that runs the tool itself.
    Client {
        /// The client.
        id: Arc<str>,
    },
    /// The host's own code, while the process runs.
    #[default]
    Runtime,
}

impl Source {
    /// Creates the source for a plugin.
    pub fn plugin(id: impl Into<Arc<str>>) -> Self {
        Self::Plugin { id: id.into() }
    }

    /// Creates the source for a channel.
    pub fn channel(name: impl Into<Arc<str>>) -> Self {
        Self::Channel { name: name.into() }
    }

    /// Creates the source for a server of the Model Context Protocol.
    pub fn mcp(server: impl Into<Arc<str>>) -> Self {
        Self::Mcp { server: server.into() }
    }

    /// Creates the source for a client.
    pub fn client(id: impl Into<Arc<str>>) -> Self {
        Self::Client { id: id.into() }
    }

    /// Returns true if the tool's code runs elsewhere: its own statements, `read_only` for example, are then not
    /// trusted.
    pub fn is_remote(&self) -> bool {
        self.remote_kind().is_some()
    }

    /// Returns the kind of permission of tools whose code runs elsewhere, which is also the group of all of them.
    #[doc(hidden)]
    pub fn remote_kind(&self) -> Option<&'static str> {
        match self {
            Self::Mcp { .. } => Some("mcp"),
            Self::Client { .. } => Some("client"),
            _ => None,
        }
    }

    /// Returns the id of a server or a client in lists: `mcp:files`. With the prefix, its name cannot be a plugin's id.
    #[doc(hidden)]
    pub fn remote_id(&self) -> Option<String> {
        match self {
            Self::Mcp { server: name } | Self::Client { id: name } => {
                Some(format!("{}:{name}", self.remote_kind()?))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core => f.write_str("the core"),
            Self::Plugin { id } => write!(f, "the plugin `{id}`"),
            Self::Channel { name } => write!(f, "the channel `{name}`"),
            Self::Mcp { server } => write!(f, "the MCP server `{server}`"),
            Self::Client { id } => write!(f, "the client `{id}`"),
            Self::Runtime => f.write_str("the host"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_source_is_written_and_read() {
        for (source, written, shown) in [
            (Source::Core, json!({"kind": "core"}), "the core"),
            (Source::plugin("acme"), json!({"kind": "plugin", "id": "acme"}), "the plugin `acme`"),
            (Source::channel("mail"), json!({"kind": "channel", "name": "mail"}), "the channel `mail`"),
            (Source::mcp("files"), json!({"kind": "mcp", "server": "files"}), "the MCP server `files`"),
            (Source::client("tab"), json!({"kind": "client", "id": "tab"}), "the client `tab`"),
            (Source::Runtime, json!({"kind": "runtime"}), "the host"),
        ] {
            assert_eq!(serde_json::to_value(&source).unwrap(), written);
            assert_eq!(serde_json::from_value::<Source>(written).unwrap(), source);
            assert_eq!(source.to_string(), shown);
        }
        assert!(Source::mcp("files").is_remote() && !Source::plugin("files").is_remote());
    }
}
