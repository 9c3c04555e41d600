//! The reasons why a host cannot start.

use std::path::PathBuf;
use toolkit::{BuildError, config::ConfigError};
#[cfg(feature = "agent")]
use toolkit_models::ModelError;

/// The reason why a host, or an agent of it, cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The caller names an agent that the configuration does not have. The text is the message of
    /// [`Configuration::check_agent`](toolkit::config::Configuration::check_agent).
    #[error("{0}")]
    UnknownAgent(String),
    /// The configured workspace of an agent is not there.
    #[error(
        "the agent `{agent}` has the workspace `{}`, which is not a directory; create it, or change `agents.{agent}.workspace`",
        workspace.display()
    )]
    NoWorkspace {
        /// The id of the agent.
        agent: String,
        /// Its workspace.
        workspace: PathBuf,
    },
    /// The toolkit cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is no model, or it cannot be used.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Model(#[from] ModelError),
}
