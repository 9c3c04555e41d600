//! The budgets of the configuration.

use toolkit::config::Configuration;
use toolkit_models::Models;

use super::agents;
use super::error::GatewayError;
use crate::settings::{BudgetSettings, PeriodLimits};

/// Returns the budgets of a configuration. They never fall back to others: a limit that is not understood would limit nothing.
pub(super) fn of(configuration: &Configuration) -> Result<BudgetSettings, GatewayError> {
    let budgets = BudgetSettings::of(configuration).map_err(GatewayError::Configuration)?;
    let agents = agents::names(configuration);
    match budgets.agents.keys().find(|agent| !agents.contains(agent)) {
        Some(agent) => Err(GatewayError::BudgetOfUnknownAgent { agent: agent.clone(), agents }),
        None => Ok(budgets),
    }
}

/// Returns what keeps budgets from limiting anything: models without a price beside limits of cost.
pub(super) fn problems(budgets: &BudgetSettings, models: &Models) -> Vec<String> {
    let of_all = [&budgets.everything, &budgets.each_session, &budgets.each_job, &budgets.each_other_person];
    let mut limits = of_all.into_iter().chain(budgets.agents.values()).chain(budgets.people.values());
    let limits_cost = |limits: &PeriodLimits| limits.day.cost.is_some() || limits.month.cost.is_some();
    if !limits.any(limits_cost) {
        return Vec::new();
    }
    let is_without_price =
        |name: &&str| models.get(Some(name)).is_ok_and(|model| model.price_of(name).is_none());
    let names = models.names().into_iter().filter(is_without_price);
    let problem = |name: &str| {
        format!(
            "`budgets` limits the cost, but requests to the model `{name}` have none: set `models.{name}.price` (0 if it is free)"
        )
    };
    names.map(problem).collect()
}
