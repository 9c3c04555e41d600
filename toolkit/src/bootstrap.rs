//! From the sources of a configuration to a toolkit: the steps that all hosts share.
//!
//! A host states which configuration it reads and what it adds, and gets its toolkit:
//!
//! ```standalone_crate
//! use toolkit::bootstrap::Bootstrap;
//! use toolkit::config::LoadOptions;
//! use toolkit::prelude::*;
//!
//! /// Where notes are kept.
//! struct Notes(String);
//!
//! # fn main() -> Result<(), toolkit::bootstrap::BootstrapError> {
//! # let load = LoadOptions::new().data_dir(std::env::temp_dir());
//! // A program of a user reads `LoadOptions::of_process(workspace)`.
//! let toolkit = Bootstrap::new(Toolkit::builder(), load)
//!     // Whatever needs the configuration: MCP servers, a model, services.
//!     .part(|toolkit, configuration| toolkit.service(Notes(configuration.document().to_string())))
//!     .start()?;
//! # drop(toolkit);
//! # Ok(()) }
//! ```

mod follow;

pub use follow::{ConfigurationFollower, FollowTask};

use crate::config::{ConfigError, Configuration, LoadOptions};
use crate::registry::{BuildError, Builder, Reloaded, Toolkit};
use std::fmt;
use std::path::Path;

type Part<'a> = Box<dyn FnOnce(Builder, &Configuration) -> Builder + 'a>;

/// Loads the configuration of a host and builds its toolkit. See the [module](self).
#[must_use = "it does nothing before `start`"]
pub struct Bootstrap<'a> {
    toolkit: Builder,
    load: LoadOptions,
    parts: Vec<Part<'a>>,
}

impl<'a> Bootstrap<'a> {
    /// Creates a bootstrap of this builder and these sources.
    pub fn new(toolkit: Builder, load: LoadOptions) -> Self {
        Self { toolkit, load, parts: Vec::new() }
    }

    /// Adds a part of the host that needs the configuration. Parts are added in their order.
    pub fn part(mut self, part: impl FnOnce(Builder, &Configuration) -> Builder + 'a) -> Self {
        self.parts.push(Box::new(part));
        self
    }

    /// Loads the configuration and returns it with the builder, to which these are applied: the data directory of the sources, unless the
    /// host set one; the directory of the user's own file as a [protected path](Builder::protect_path), since secrets stand beside it; every
    /// part; the configuration. Blocks.
    ///
    /// # Errors
    ///
    /// Returns all problems of the configuration at once.
    pub fn prepare(self) -> Result<(Builder, Configuration), ConfigError> {
        let Self { mut toolkit, load, parts } = self;
        if let Some(directory) = load.data_dir_path() {
            toolkit = toolkit.default_data_dir(directory);
        }
        if let Some(directory) = load.user_file_path().and_then(Path::parent) {
            toolkit = toolkit.protect_path(directory);
        }
        let configuration = Configuration::load(load)?;
        let toolkit = parts.into_iter().fold(toolkit, |toolkit, part| part(toolkit, &configuration));
        Ok((toolkit.configuration(configuration.clone()), configuration))
    }

    /// Loads the configuration and builds the toolkit. Blocks. What the user should know is in
    /// [`Toolkit::diagnostics`].
    ///
    /// # Errors
    ///
    /// Returns all problems of the configuration, or of building the toolkit, at once.
    pub fn start(self) -> Result<Toolkit, BootstrapError> {
        Ok(self.prepare()?.0.build()?)
    }
}

impl fmt::Debug for Bootstrap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bootstrap").field("load", &self.load).finish_non_exhaustive()
    }
}

/// The reason why a toolkit cannot start, or why a changed configuration is not used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The toolkit cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Toolkit {
    /// Looks every two seconds whether the configuration has changed, and [reloads](Self::reload) it then, until the returned value is
    /// dropped. `load` are the sources from which the toolkit's configuration was loaded. Several toolkits of the same sources share a
    /// [`ConfigurationFollower`].
    ///
    /// `report` gets each reload, and each reason why a changed configuration cannot be used, once; the toolkit keeps the configuration
    /// that it has then. It must not block.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn follow_configuration(
        &self,
        load: LoadOptions,
        report: impl Fn(Result<Reloaded, BootstrapError>) + Send + Sync + 'static,
    ) -> FollowTask {
        ConfigurationFollower::new(load).follow(self, report)
    }
}
