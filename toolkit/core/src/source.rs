//! Where a tool came from.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Where a tool came from. Cheap to clone.
///
/// The toolkit decides it, never a tool: what a linked crate brings is [`Core`](Self::Core) where the host's `link!` says
/// so, else a plugin's or a channel's.
///
/// ```
/// use toolkit::Source;
///
/// assert_eq!(Source::mcp("files").to_string(), "the MCP server `files`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Source {
    /// A crate that the host calls core.
    Core,
    /// Any other crate, the host's own binary included.
    Plugin {
        /// The plugin's id: what it says itself with `toolkit::plugin!`, else the name of its crate.
        id: Arc<str>,
    },
    /// A channel: the tool exists only in sessions of that channel.
    Channel {
        /// The channel.
        name: Arc<str>,
    },
    /// A server of the Model Context Protocol.
    Mcp {
        /// The server, as the configuration names it.
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
    /// A plugin.
    pub fn plugin(id: impl Into<Arc<str>>) -> Self {
        Self::Plugin { id: id.into() }
    }

    /// A channel.
    pub fn channel(name: impl Into<Arc<str>>) -> Self {
        Self::Channel { name: name.into() }
    }

    /// A server of the Model Context Protocol.
    pub fn mcp(server: impl Into<Arc<str>>) -> Self {
        Self::Mcp { server: server.into() }
    }

    /// A client.
    pub fn client(id: impl Into<Arc<str>>) -> Self {
        Self::Client { id: id.into() }
    }

    /// Whether the tool's code runs elsewhere: what it says of itself, `read_only` for instance, is then nothing that
    /// anybody here has chosen to believe.
    pub fn is_remote(&self) -> bool {
        self.remote_kind().is_some()
    }

    /// The kind of permission of tools whose code runs elsewhere, and the group that all of them are in.
    #[doc(hidden)]
    pub fn remote_kind(&self) -> Option<&'static str> {
        match self {
            Self::Mcp { .. } => Some("mcp"),
            Self::Client { .. } => Some("client"),
            _ => None,
        }
    }

    /// What lists name a server or a client by: `mcp:files`. What they call themselves cannot be a plugin's id then.
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
