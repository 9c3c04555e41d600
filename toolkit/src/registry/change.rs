//! What can be changed of the tools of a toolkit, why it is not, and how one learns of it.

use crate::source::Source;
use crate::tool::Tool;
use tokio::sync::watch;

/// A change of the tools of a toolkit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ToolChange {
    /// A tool comes in.
    Register(Tool),
    /// A tool takes the place of the one of its name, which must come from the same source.
    Replace(Tool),
    /// The tool of this name goes.
    Unregister(String),
}

/// Why a tool was not registered, replaced or taken out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The tool itself is wrong, or needs a service that nobody provides.
    #[error("the tool `{tool}` cannot be registered:\n- {}", problems.join("\n- "))]
    Invalid {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        problems: Vec<String>,
    },
    /// A name or alias of it is core's.
    #[error(
        "the tool `{tool}` cannot be registered: `{name}` is a name of the core tool `{core}`; give it another one"
    )]
    Reserved {
        /// The tool.
        tool: String,
        /// Its name or alias.
        name: String,
        /// The core tool, which may be switched off.
        core: String,
    },
    /// A name or alias of it is kept for a core tool to come.
    #[error(
        "the tool `{tool}` cannot be registered: `{name}` is reserved for a builtin tool to come; give it another one"
    )]
    Planned {
        /// The tool.
        tool: String,
        /// Its name or alias.
        name: String,
    },
    /// A name or alias of it is another tool's.
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
        /// Where that came from.
        owner: Source,
    },
    /// An alias of it is the name of a tool that is switched off.
    #[error(
        "the tool `{tool}` cannot be registered: its alias `{name}` names a tool that is switched off; give it another one"
    )]
    Withheld {
        /// The tool.
        tool: String,
        /// Its alias.
        name: String,
    },
    /// Its plugin is blocked whole.
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
    /// There is no tool of this name. An alias names none here.
    #[error("there is no tool `{tool}`{advice}")]
    NotThere {
        /// The name.
        tool: String,
        /// What was probably meant, as the end of a sentence; or nothing.
        advice: String,
    },
    /// A tool can only be replaced by one from where it came.
    #[error(
        "the tool `{tool}` of {owner} cannot be replaced by one of {other}; take it out first, then register the other"
    )]
    NotItsOwn {
        /// The tool.
        tool: String,
        /// Where it came from.
        owner: Source,
        /// Where the other one comes from.
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

    /// The tool that was not registered, replaced or taken out.
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

/// Tells when the tools of a toolkit change: see [`Toolkit::watch_tools`](crate::Toolkit::watch_tools).
#[derive(Debug, Clone)]
pub struct ToolWatch(watch::Receiver<u64>);

impl ToolWatch {
    pub(super) fn new(receiver: watch::Receiver<u64>) -> Self {
        Self(receiver)
    }

    /// Waits until the tools have changed since this was made, or last waited for; several changes may be told as one.
    /// False once the toolkit is gone.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }

    /// Whether the tools have changed since then, without waiting.
    pub fn has_changed(&self) -> bool {
        self.0.has_changed().unwrap_or(false)
    }
}
