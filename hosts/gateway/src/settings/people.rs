//! The section `people` of the configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolkit::config::{ConfigSection, Configuration};

/// The people of a gateway, by their names (`/people`). Those who are let in by a code, or made by a token, need not be here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct PeopleSettings(pub BTreeMap<String, PersonSettings>);

/// A person of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PersonSettings {
    /// The role: `user` uses their own sessions, `approver` also answers the questions of their agent. The owner, `people.owner`, has none.
    /// Default: `user`, or the one that they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<PersonRole>,
    /// The agent that they talk to. Default: `gateway.agent`, or the one that they talk to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who they are on platforms: `CHANNEL:SENDER` with the platform's stable id, such as `telegram:123456`, never a user name. One that is
    /// taken out here is unknown from then on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<String>,
}

/// The role of a person other than the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PersonRole {
    /// Uses their own sessions.
    User,
    /// Also answers the questions of their agent.
    Approver,
}

impl PeopleSettings {
    /// The path of the section.
    pub const SECTION: &str = "people";

    /// Returns the settings of a configuration.
    pub fn of(configuration: &Configuration) -> Self {
        // A value that does not fit is an error of loading.
        configuration.section(Self::SECTION).unwrap_or_default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<PeopleSettings>(PeopleSettings::SECTION)
        .lenient()
        .void_because("this program is no gateway")
);
