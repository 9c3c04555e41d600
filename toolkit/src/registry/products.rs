//! Tools that a factory made for one caller: whose they are, and whether they are right.

use super::Inner;
use super::change::RegisterError;
use super::faults::{faults, missing_services};
use super::origins::Placing;
use crate::service::FactoryDef;
use crate::tool::Tool;

impl Inner {
    /// The tool as its factory's crate brings it.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn product(&self, tool: &Tool, factory: &FactoryDef) -> Result<Tool, RegisterError> {
        let Placing { source, plugin, optional } =
            self.origins.placing(&factory.location, tool.stated().channel);
        let tool = tool.placed(source, plugin, optional);
        let mut problems = faults(&tool);
        problems.extend(missing_services(&tool, &self.services));
        if problems.is_empty() {
            return Ok(tool.with_services(&self.services));
        }
        Err(RegisterError::Invalid { tool: tool.name().to_owned(), problems })
    }
}
