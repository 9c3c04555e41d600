//! The configuration of a tool that is being prepared.

use super::Inner;
use crate::config::Configuration;
use crate::tool::prepare::Preparation;
use toolkit_core::arg::ToolArg;
use toolkit_core::error::ToolError;

impl Preparation {
    /// Returns the configuration section of the tool, as [`ToolContext::config`](crate::ToolContext::config) does.
    ///
    /// # Errors
    ///
    /// When the section does not match the type.
    pub fn config<T: ToolArg>(&self) -> Result<T, ToolError> {
        let none = Configuration::default();
        let configuration = self.toolkit::<Inner>().map_or(&none, |toolkit| &toolkit.settings.configuration);
        configuration.of_tool(self.name()).map_err(|error| ToolError::unavailable(error.to_string()))
    }
}
