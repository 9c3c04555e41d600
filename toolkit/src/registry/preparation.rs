//! The configuration of a tool that is being prepared.

use super::Inner;
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
        let rules = self.toolkit::<Inner>().map(|toolkit| toolkit.rules.get()).unwrap_or_default();
        rules.configuration.of_tool(self.name()).map_err(|error| ToolError::unavailable(error.to_string()))
    }
}
