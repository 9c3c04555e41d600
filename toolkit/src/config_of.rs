//! How a function of a tool or of a service gets what is configured: what the expansions of `#[tool]` and `#[service]` use.

use crate::section::{Config, ConfigSection, Configured};
use crate::service::Making;
use crate::tool::context::ToolContext;
use toolkit_core::error::ToolError;

/// The declaration of a tool's `Config<T>`; made where the type is checked.
pub struct ConfigOf<T> {
    /// The section.
    pub section: ConfigSection,
    /// Reads the section.
    pub get: fn(&ToolContext) -> Result<Config<T>, ToolError>,
}

/// Checks the type of a tool's `Config<T>`.
pub const fn config_of<T: Configured>() -> ConfigOf<T> {
    ConfigOf { section: ConfigSection::of_tool::<T>(""), get: read::of_tool }
}

/// The declaration of the `Config<T>` of a service or a tool factory; made where the type is checked.
pub struct PluginConfigOf<T> {
    /// The section.
    pub section: ConfigSection,
    /// The key of the section within that of the plugin.
    part: Option<&'static str>,
    read: fn(&Making, Option<&'static str>) -> Result<Config<T>, ToolError>,
}

/// Checks the type of the `Config<T>` of a service or a tool factory.
pub const fn plugin_config_of<T: Configured>() -> PluginConfigOf<T> {
    PluginConfigOf { section: ConfigSection::of_plugin::<T>(""), part: None, read: read::of_plugin }
}

impl<T> PluginConfigOf<T> {
    /// Returns the declaration with a section of its own, at a key within the section of the plugin.
    #[must_use]
    pub const fn part(mut self, key: &'static str) -> Self {
        self.section = self.section.part(key);
        self.part = Some(key);
        self
    }

    /// Reads the section.
    ///
    /// # Errors
    ///
    /// When the section does not match the type, or names a variable or a file that is not there.
    pub fn get(&self, making: &Making) -> Result<Config<T>, ToolError> {
        (self.read)(making, self.part)
    }
}

#[cfg(feature = "runtime")]
mod read {
    use super::{Config, Configured, Making, ToolContext, ToolError};

    pub(super) fn of_tool<T: Configured>(context: &ToolContext) -> Result<Config<T>, ToolError> {
        context.config().map(Config::new)
    }

    pub(super) fn of_plugin<T: Configured>(
        making: &Making,
        part: Option<&'static str>,
    ) -> Result<Config<T>, ToolError> {
        let section = making.configuration().of_plugin(&making.plugin_id(), part);
        section.map(Config::new).map_err(|error| ToolError::unavailable(error.to_string()))
    }
}

/// Nothing is configured without the runtime, and nothing is called: these functions are there for the expansions to compile.
#[cfg(not(feature = "runtime"))]
mod read {
    use super::{Config, Configured, Making, ToolContext, ToolError};

    pub(super) fn of_tool<T: Configured>(_: &ToolContext) -> Result<Config<T>, ToolError> {
        Err(no_runtime())
    }

    pub(super) fn of_plugin<T: Configured>(
        _: &Making,
        _: Option<&'static str>,
    ) -> Result<Config<T>, ToolError> {
        Err(no_runtime())
    }

    fn no_runtime() -> ToolError {
        ToolError::unavailable("the configuration needs the feature `runtime` of `agent-toolkit`")
    }
}
