//! Validates tools that a factory created for one caller, and sets their owner.

use super::Inner;
use super::change::RegisterError;
use super::faults::{faults, missing_services};
use super::origins::Placing;
use super::services::Near;
use crate::service::FactoryDef;
use crate::tool::Tool;

impl Inner {
    /// Returns the tool with the owner of its factory's crate.
    ///
    /// # Errors
    ///
    /// Returns the problem with the tool.
    pub(crate) fn product(&self, tool: &Tool, factory: &FactoryDef) -> Result<Tool, RegisterError> {
        let Placing { source, plugin, optional } =
            self.origins.placing(&factory.location, tool.stated().channel);
        let tool = tool.placed(source, plugin, optional);
        let mut problems = faults(&tool);
        problems.extend(missing_services(&tool, &self.services, &Near::default()));
        if problems.is_empty() {
            return Ok(tool.with_services(&self.services));
        }
        Err(RegisterError::Invalid { tool: tool.name().to_owned(), problems })
    }
}
