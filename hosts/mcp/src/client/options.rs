//! The options of a client.

use super::sampling::Sampling;
#[cfg(feature = "oauth")]
use super::sign_in::SignIn;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a client for all of its servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The name that servers see; `toolkit` by default.
    pub name: String,
    /// Version that servers see; the version of this crate by default.
    pub version: String,
    /// Time limit for a server to start and list its tools; 30 seconds by default. A toolbox waits for tools no longer than
    /// [`prepare_timeout`](toolkit::Builder::prepare_timeout): tools that come later are in later toolboxes.
    pub start_within: Duration,
    /// Maximum number of tools per server; 1,000 by default.
    pub most_tools: usize,
    /// The directory that servers work in which name no other, and that sandboxes let them write to; that of the process by default.
    pub workspace: PathBuf,
    /// Directory for the recorded definitions of tools, so that a later process notices changes, and for the tokens of sign-ins. By
    /// default both are kept in memory only.
    pub data_dir: Option<PathBuf>,
    /// The model that servers may use, with the user's approval each time; none by default, and servers are told that sampling is
    /// unsupported.
    pub sampling: Option<Arc<dyn Sampling>>,
    /// Lets the user sign in to a server that requires authentication. By default nothing does, and such a server is unavailable until
    /// the user signs in by other means. The time to sign in counts as part of the server's start, or of the call that needs it. After a
    /// failed sign-in the user is not asked again for five minutes.
    #[cfg(feature = "oauth")]
    pub sign_in: Option<Arc<dyn SignIn>>,
    /// Scopes to request in addition to those that the server requires; none by default.
    #[cfg(feature = "oauth")]
    pub scopes: Vec<String>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            name: "toolkit".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            start_within: Duration::from_secs(30),
            most_tools: 1_000,
            workspace: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            data_dir: None,
            sampling: None,
            #[cfg(feature = "oauth")]
            sign_in: None,
            #[cfg(feature = "oauth")]
            scopes: Vec::new(),
        }
    }
}

impl ClientOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version that servers see.
    #[must_use]
    pub fn named(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..self }
    }

    /// Sets the time limit for a server to start.
    #[must_use]
    pub fn start_within(self, start_within: Duration) -> Self {
        Self { start_within, ..self }
    }

    /// Sets the maximum number of tools per server.
    #[must_use]
    pub fn most_tools(self, most_tools: usize) -> Self {
        Self { most_tools, ..self }
    }

    /// Sets the directory that servers work in.
    #[must_use]
    pub fn workspace(self, workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: workspace.into(), ..self }
    }

    /// Sets the model that servers may use, with the user's approval each time.
    #[must_use]
    pub fn sampling(self, sampling: Arc<dyn Sampling>) -> Self {
        Self { sampling: Some(sampling), ..self }
    }

    /// Sets the implementation that lets the user sign in.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn sign_in(self, sign_in: Arc<dyn SignIn>) -> Self {
        Self { sign_in: Some(sign_in), ..self }
    }

    /// Sets the scopes to request in addition to those that the server requires.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn scopes(self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the directory for the recorded definitions of tools and the tokens of sign-ins.
    #[must_use]
    pub fn data_dir(self, data_dir: impl Into<PathBuf>) -> Self {
        Self { data_dir: Some(data_dir.into()), ..self }
    }
}
