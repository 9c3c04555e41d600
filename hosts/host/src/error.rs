//! The reasons why a host cannot start.

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
    /// The toolkit cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is no model, or it cannot be used.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Model(#[from] ModelError),
}
