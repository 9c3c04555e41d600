//! The section `budgets` of the configuration: how much may be used in a day and in a month.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolkit::config::{ConfigError, ConfigSection, Configuration};

use crate::recurrence::Zone;

/// The most that may be used (`/budgets`). A request counts against every budget that applies to it. Without a limit, use is counted alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct BudgetSettings {
    /// The time zone in which days and months begin, such as `Europe/Berlin`. Default: `UTC`, as for schedules.
    #[schemars(with = "String")]
    pub timezone: Zone,
    /// The limits of everything together.
    #[serde(skip_serializing_if = "PeriodLimits::is_none")]
    pub everything: PeriodLimits,
    /// The limits of agents, by their id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, PeriodLimits>,
    /// The limits of each session, with those below it.
    #[serde(skip_serializing_if = "PeriodLimits::is_none")]
    pub each_session: PeriodLimits,
    /// The limits of each job.
    #[serde(skip_serializing_if = "PeriodLimits::is_none")]
    pub each_job: PeriodLimits,
    /// The limits of people, by their name. The owner's is `owner`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub people: BTreeMap<String, PeriodLimits>,
    /// The limits of each person who has none in `people`, other than the owner.
    #[serde(skip_serializing_if = "PeriodLimits::is_none")]
    pub each_other_person: PeriodLimits,
}

/// Limits for a day and for a month of the calendar.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PeriodLimits {
    /// The limits of a day.
    #[serde(skip_serializing_if = "UsageLimits::is_none")]
    pub day: UsageLimits,
    /// The limits of a month.
    #[serde(skip_serializing_if = "UsageLimits::is_none")]
    pub month: UsageLimits,
}

/// The most that may be used in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct UsageLimits {
    /// The most tokens of requests and answers together. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The highest cost, in the currency of the configured prices. It has no effect on requests without a price. Default: no limit.
    #[schemars(range(min = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The most runs: each begins with a message, or is a tool that a job calls. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            timezone: Zone::utc(),
            everything: PeriodLimits::default(),
            agents: BTreeMap::new(),
            each_session: PeriodLimits::default(),
            each_job: PeriodLimits::default(),
            people: BTreeMap::new(),
            each_other_person: PeriodLimits::default(),
        }
    }
}

impl BudgetSettings {
    /// The path of the section.
    pub const SECTION: &str = "budgets";

    /// Returns the settings of a configuration.
    ///
    /// # Errors
    ///
    /// The section cannot be used, as when it names a variable that is not set: without it, nothing would be limited.
    pub fn of(configuration: &Configuration) -> Result<Self, ConfigError> {
        configuration.section(Self::SECTION)
    }
}

impl PeriodLimits {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl UsageLimits {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<BudgetSettings>(BudgetSettings::SECTION).void_because("this program is no gateway")
);
