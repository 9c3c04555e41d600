//! Changes to the tools of a toolkit, their errors, and notifications about them.

use crate::tool::Tool;
use tokio::sync::watch;
use toolkit_core::source::Source;

/// A change of the tools of a toolkit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ToolChange {
    /// Adds a tool.
    Register(Tool),
    /// Replaces the tool of the same name, which must come from the same source.
    Replace(Tool),
    /// Removes the tool of this name.
    Unregister(String),
}

/// The reason why a tool was not registered, replaced or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The tool is invalid, or needs a service that is not provided.
    #[error("the tool `{tool}` cannot be registered:\n- {}", problems.join("\n- "))]
    Invalid {
        /// The tool.
        tool: String,
        /// Its problems.
        problems: Vec<String>,
    },
    /// A name or alias of it belongs to a core tool.
    #[error(
        "the tool `{tool}` cannot be registered: `{name}` is a name of the core tool `{core}`; give it another one"
    )]
    Reserved {
        /// The tool.
        tool: String,
        /// Its name or alias.
        name: String,
        /// The core tool, which may be disabled.
        core: String,
    },
    /// A name or alias of it is reserved for a planned core tool.
    #[error(
        "the tool `{tool}` cannot be registered: `{name}` is reserved for a future builtin tool; give it another one"
    )]
    Planned {
        /// The tool.
        tool: String,
        /// Its name or alias.
        name: String,
    },
    /// A name or alias of it belongs to another tool.
    #[error(
        "the tool `{tool}` cannot be registered: `{name}` already names the tool `{by}` of {owner}; give it another one"
    )]
    Taken {
        /// The tool.
        tool: String,
        /// Its name or alias.
        name: String,
        /// The other tool.
        by: String,
        /// The source of the other tool.
        owner: Source,
    },
    /// An alias of it is the name of a disabled tool.
    #[error(
        "the tool `{tool}` cannot be registered: its alias `{name}` names a tool that is switched off; give it another one"
    )]
    Withheld {
        /// The tool.
        tool: String,
        /// Its alias.
        name: String,
    },
    /// Its plugin is blocked.
    #[error(
        "the tool `{tool}` cannot be registered: the id `{id}` of its plugin is a name of the core tool `{core}`; give the plugin \
         another one"
    )]
    Blocked {
        /// The tool.
        tool: String,
        /// The plugin.
        id: String,
        /// The core tool.
        core: String,
    },
    /// There is no tool of this name. Aliases are not accepted here.
    #[error("there is no tool `{tool}`{advice}")]
    NotThere {
        /// The name.
        tool: String,
        /// The probably intended name, as the end of a sentence; or empty.
        advice: String,
    },
    /// A tool can only be replaced by one from the same source.
    #[error(
        "the tool `{tool}` of {owner} cannot be replaced by one of {other}; unregister it first, then register the other"
    )]
    NotItsOwn {
        /// The tool.
        tool: String,
        /// The source of the existing tool.
        owner: Source,
        /// The source of the new tool.
        other: Source,
    },
}

impl RegisterError {
    pub(super) fn taken(tool: &Tool, name: &str, by: &Tool) -> Self {
        Self::Taken {
            tool: tool.name().to_owned(),
            name: name.to_owned(),
            by: by.name().to_owned(),
            owner: by.source().clone(),
        }
    }

    /// Returns the name of the tool that was not registered, replaced or removed.
    pub fn tool(&self) -> &str {
        match self {
            Self::Invalid { tool, .. }
            | Self::Reserved { tool, .. }
            | Self::Planned { tool, .. }
            | Self::Taken { tool, .. }
            | Self::Withheld { tool, .. }
            | Self::Blocked { tool, .. }
            | Self::NotThere { tool, .. }
            | Self::NotItsOwn { tool, .. } => tool,
        }
    }
}

/// Notifies about changes to the tools of a toolkit: see [`Toolkit::watch_tools`](crate::Toolkit::watch_tools).
#[derive(Debug, Clone)]
pub struct ToolWatch(watch::Receiver<u64>);

impl ToolWatch {
    pub(super) fn new(receiver: watch::Receiver<u64>) -> Self {
        Self(receiver)
    }

    /// Waits until the tools have changed since this was created, or since the last wait; several changes may be
    /// reported as one. Returns false once the toolkit is dropped.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }

    /// Returns true if the tools have changed since then, without waiting.
    pub fn has_changed(&self) -> bool {
        self.0.has_changed().unwrap_or(false)
    }
}
