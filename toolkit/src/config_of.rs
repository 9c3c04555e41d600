//! How a function of a tool or of a service gets what is configured: what the expansions of `#[tool]` and `#[service]` use.

use crate::config::{Config, ConfigSection, Configured};
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
    ConfigOf { section: ConfigSection::of_tool::<T>(""), get: |context| context.config().map(Config::new) }
}

/// The declaration of the `Config<T>` of a service or a tool factory; made where the type is checked.
pub struct PluginConfigOf<T> {
    /// The section.
    pub section: ConfigSection,
    /// Reads the section.
    pub get: fn(&Making) -> Result<Config<T>, ToolError>,
}

/// Checks the type of the `Config<T>` of a service or a tool factory.
pub const fn plugin_config_of<T: Configured>() -> PluginConfigOf<T> {
    PluginConfigOf { section: ConfigSection::of_plugin::<T>(""), get: Making::config }
}
