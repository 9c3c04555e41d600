//! How a function of a tool or of a service gets what is configured: what the expansions of `#[tool]` and `#[service]` use.

use crate::config::{Config, ConfigSection, Configured};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::service::Making;

/// What a tool's `Config<T>` is; made where the type is checked.
pub struct ConfigOf<T> {
    /// Its section.
    pub section: ConfigSection,
    /// Gets it.
    pub get: fn(&ToolContext) -> Result<Config<T>, ToolError>,
}

/// Checks the type of a tool's `Config<T>`.
pub const fn config_of<T: Configured>() -> ConfigOf<T> {
    ConfigOf { section: ConfigSection::of_tool::<T>(""), get: |context| context.config().map(Config::new) }
}

/// What the `Config<T>` of a service or a tool factory is; made where the type is checked.
pub struct PluginConfigOf<T> {
    /// Its section.
    pub section: ConfigSection,
    /// Gets it.
    pub get: fn(&Making) -> Result<Config<T>, ToolError>,
}

/// Checks the type of the `Config<T>` of a service or a tool factory.
pub const fn plugin_config_of<T: Configured>() -> PluginConfigOf<T> {
    PluginConfigOf { section: ConfigSection::of_plugin::<T>(""), get: Making::config }
}
