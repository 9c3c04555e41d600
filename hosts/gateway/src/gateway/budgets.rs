//! The budgets of the configuration.

use toolkit::config::Configuration;

use super::agents;
use super::error::GatewayError;
use crate::settings::BudgetSettings;

/// Returns the budgets of a configuration. They never fall back to others: a limit that is not understood would limit nothing.
pub(super) fn of(configuration: &Configuration) -> Result<BudgetSettings, GatewayError> {
    let budgets = BudgetSettings::of(configuration).map_err(GatewayError::Configuration)?;
    let agents = agents::names(configuration);
    match budgets.agents.keys().find(|agent| !agents.contains(agent)) {
        Some(agent) => Err(GatewayError::BudgetOfUnknownAgent { agent: agent.clone(), agents }),
        None => Ok(budgets),
    }
}
